/** What the node of a network says of it: whether it can be paid as it is configured. */
import type { Network, NetworkId } from '../catalogue/types.ts';
import { chainOfNode } from './chains/chain-of-node.ts';
import { decimalsOfToken } from './chains/decimals-of-token.ts';
import { isTokenAccount } from './chains/is-token-account.ts';

/** What the configuration says of one network. */
export interface NetworkConfiguration {
  readonly network: Network;
  readonly mode: 'live' | 'sandbox';
  readonly payTo: string | undefined;
  readonly rpcUrl: string | undefined;
}

export const rpcUrlOf = ({ network, mode, rpcUrl }: NetworkConfiguration): string | undefined =>
  rpcUrl ?? network[mode].rpcUrl;

/** Undefined: it has not told yet. */
interface Told {
  /** As CAIP-2. */
  chain: string | undefined;
  /** Of the asset. */
  decimals: number | undefined;
  /** Whether the address that is paid is that of a token account, on Solana. */
  paysTokenAccount: boolean | undefined;
}

interface NetworkNodes {
  /** Asks for what is wrong, or not known yet. Never throws. */
  ask(configuration: NetworkConfiguration): Promise<void>;
  /** Another chain than the network's, of which its node is: as CAIP-2. */
  strangerOf(configuration: NetworkConfiguration): string | undefined;
  /** Why nothing may be paid there, as far as its node has told. */
  faultOf(configuration: NetworkConfiguration): string | undefined;
}

export function openNetworkNodes(): NetworkNodes {
  const known = new Map<NetworkId, Told>();

  const toldOf = ({ network: { id } }: NetworkConfiguration): Told => {
    const before = known.get(id);
    if (before) return before;
    const told: Told = { chain: undefined, decimals: undefined, paysTokenAccount: undefined };
    known.set(id, told);
    return told;
  };

  const strangerOf = (configuration: NetworkConfiguration): string | undefined => {
    const { chain } = toldOf(configuration);
    return chain === configuration.network[configuration.mode].caip2 ? undefined : chain;
  };

  return {
    /**
     * Until it is right: on another chain no payment is found, and each would count as not made; with other decimals each
     * would be of another value than its price; and nobody has what is paid to where a wallet has its tokens.
     */
    async ask(configuration) {
      const { network, mode, payTo } = configuration;
      const { family } = network;
      const { caip2, asset } = network[mode];
      const rpcUrl = rpcUrlOf(configuration);
      if (payTo === undefined || rpcUrl === undefined) return;
      const told = toldOf(configuration);
      if (told.chain !== caip2) told.chain = (await chainOfNode(family, rpcUrl)) ?? told.chain;
      if (told.chain !== caip2) return;
      if (told.decimals !== asset.decimals) {
        told.decimals = (await decimalsOfToken(family, rpcUrl, asset.address)) ?? told.decimals;
      }
      if (family === 'solana' && told.paysTokenAccount !== false) {
        told.paysTokenAccount = (await isTokenAccount(rpcUrl, payTo)) ?? told.paysTokenAccount;
      }
    },

    strangerOf,

    faultOf(configuration) {
      const { caip2, asset } = configuration.network[configuration.mode];
      const { decimals, paysTokenAccount } = toldOf(configuration);
      const stranger = strangerOf(configuration);
      if (stranger !== undefined) {
        return `its RPC address leads to a node of ${stranger}, not of ${caip2}: correct TURNPIKE_RPC_URL_<network>, or rpcUrl in networks.yaml`;
      }
      if (decimals !== undefined && decimals !== asset.decimals) {
        return `its token ${asset.address} has ${decimals} decimals on its chain, not ${asset.decimals}: correct decimals in networks.yaml`;
      }
      if (paysTokenAccount) {
        return `${configuration.payTo} is a token account, and what is paid to one is lost: give the wallet that owns it, in TURNPIKE_PAY_TO_<network> or TURNPIKE_PAY_TO_SOLANA`;
      }
      return undefined;
    },
  };
}
