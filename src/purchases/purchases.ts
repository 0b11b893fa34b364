/** What a payer bought, for who proves to be that payer: without an account, on whatever transport. */
import type { Catalogue, Network, Route } from '../catalogue/types.ts';
import { finalCodes } from '../errors.ts';
import { atomicToDecimal } from '../money.ts';
import { assetsOf } from '../payment/assets.ts';
import type { PayableNetworks } from '../payment/networks.ts';
import type { Payment, PaymentState, Store } from '../store/store.ts';
import { createChallenge } from './challenge.ts';
import { type PageRequest, pageAfter, readPage } from './page.ts';
import { verifyProof } from './proof.ts';

export interface PurchasesParts {
  readonly store: Pick<Store, 'list'>;
  /** Origin, without a trailing slash. */
  readonly publicUrl: string;
  readonly catalogue: {
    readonly networks: Catalogue['networks'];
    readonly routes: readonly Pick<Route, 'id' | 'path'>[];
  };
  readonly mode: 'live' | 'sandbox';
  readonly networks: Pick<PayableNetworks, 'find'>;
  now(): number;
}

/** `pending`: under way. `unknown`: the chain has not told yet. `owed`: send the call again with the same payment. */
export type PurchaseState = 'settled' | 'owed' | 'refund_due' | 'refunded' | 'unknown' | 'pending';

export interface Purchase {
  /** ISO 8601. */
  readonly boughtAt: string;
  /** The route's id. */
  readonly endpoint: string;
  /** Where it is sold; left out once it is not sold any more. */
  readonly path?: string;
  /** CAIP-2. */
  readonly network: string;
  /** A decimal string in units of the asset: what moved, or what was signed where nothing is known to have moved. */
  readonly amount: string;
  /** Its symbol. */
  readonly asset: string;
  /** Left out where none is known. */
  readonly transaction?: string;
  readonly state: PurchaseState;
}

export interface Purchased {
  /** The address that was proved. */
  readonly payer: string;
  /** Newest first. */
  readonly purchases: readonly Purchase[];
  /** For `before` of the next page; left out on the last one. */
  readonly next?: string;
}

export interface Purchases {
  /** What to sign: the extension `sign-in-with-x` as x402 declares it, good for five minutes. */
  challenge(): ReturnType<typeof createChallenge>;
  /**
   * `proof`: the header's base64, or the decoded object. Throws Problem `invalid_request`, and `store_unavailable`. A
   * proof can be shown again until it is five minutes old: it reads and changes nothing.
   */
  list(proof: unknown, page?: PageRequest): Promise<Purchased>;
}

/** Without those that moved no money and never will (`released`, `unsettled`). */
const STATES: readonly PaymentState[] = ['claimed', 'fulfilled', 'settled', 'unknown', 'owed', 'refunded'];

function stateOf({ state, reason = '' }: Payment): PurchaseState {
  if (state === 'owed') return finalCodes.has(reason) ? 'refund_due' : 'owed';
  return state === 'settled' || state === 'refunded' || state === 'unknown' ? state : 'pending';
}

/** Opened for each catalogue that is on sale. */
export function openPurchases({ store, publicUrl, catalogue, mode, networks, now }: PurchasesParts): Purchases {
  const uri = `${publicUrl}/v1/purchases`;
  const configured = [...catalogue.networks.values()];
  const caip2 = (network: Network): string => network[mode].caip2;
  const names = new Map<string, string>(configured.map((network) => [network.id, caip2(network)]));
  const paths = new Map(catalogue.routes.map(({ id, path }) => [id, path]));
  const assetOf = assetsOf(configured);

  function shown(payment: Payment): Purchase {
    const { createdAt, route, network, asset: address, amount, receipt } = payment;
    const asset = assetOf(address);
    const path = paths.get(route);
    return {
      boughtAt: new Date(createdAt).toISOString(),
      endpoint: route,
      ...(path !== undefined && { path }),
      network: names.get(network) ?? network,
      amount: atomicToDecimal(BigInt(receipt?.amount ?? amount), asset.decimals),
      asset: asset.symbol,
      ...(receipt && { transaction: receipt.transaction }),
      state: stateOf(payment),
    };
  }

  return {
    challenge: () => createChallenge(uri, configured.filter(({ id }) => networks.find(id)).map(caip2), now()),
    async list(proof, page = {}) {
      const { limit, before } = readPage(page);
      // What was bought stays bought where a network cannot be paid at the moment.
      const payer = await verifyProof(proof, { uri, chains: configured.map(caip2), now: now() });
      const filter = { payer, states: STATES, withoutAnswers: true, limit: limit + 1, ...(before && { before }) };
      const found = await store.list(filter);
      const payments = found.slice(0, limit);
      const last = payments.at(-1);
      return {
        payer,
        purchases: payments.map(shown),
        ...(last && found.length > limit && { next: pageAfter(last) }),
      };
    },
  };
}
