/** What paying in a browser asks of the gateway, besides what is sold: which networks there are, and a Solana node. */
import express, { type Router } from 'express';
import type { Network } from '../../catalogue/types.ts';
import { Problem, takesOnly } from '../../errors.ts';
import { unreadableBody } from '../../request/unreadable-body.ts';
import { shownNetwork } from './networks.ts';
import { createSolanaNode, type SolanaNode } from './solana-node.ts';

export interface WalletParts {
  /** Those that can be paid on. */
  readonly networks: readonly Network[];
  readonly mode: 'live' | 'sandbox';
  rpcUrl(network: Network): string | undefined;
}

const NETWORKS_PATH = '/storefront/networks';
const SOLANA_PATH = '/storefront/solana/:network';

/** More than its requests ever need. */
const LARGEST_REQUEST = '1kb';

/** By network id: the Solana networks whose node is known. */
function solanaNodes({ networks, mode, rpcUrl }: WalletParts): ReadonlyMap<string, SolanaNode> {
  return new Map(
    networks.flatMap((network) => {
      const url = network.family === 'solana' ? (rpcUrl(network) ?? network[mode].rpcUrl) : undefined;
      return url === undefined ? [] : [[network.id, createSolanaNode(url, network[mode].asset.address)] as const];
    }),
  );
}

/** Problems are passed on. */
export function createWalletRouter(parts: WalletParts): Router {
  const router = express.Router();
  const networks = { networks: parts.networks.map((network) => shownNetwork(network, parts.mode)) };
  const nodes = solanaNodes(parts);
  const only = (allow: 'GET' | 'POST') => () => {
    throw takesOnly(allow);
  };
  router.get(NETWORKS_PATH, (_request, response) => {
    response.set('cache-control', 'public, max-age=60').json(networks);
  });
  router.all(NETWORKS_PATH, only('GET'));
  router.post(SOLANA_PATH, express.json({ limit: LARGEST_REQUEST, type: () => true }), async (request, response) => {
    const node = nodes.get(String(request.params.network));
    if (!node) throw new Problem('unknown_path', 'No Solana network of that name is paid on here');
    response.set('cache-control', 'no-store').json(await node(request.body));
  });
  router.all(SOLANA_PATH, only('POST'));
  router.use(SOLANA_PATH, unreadableBody);
  return router;
}
