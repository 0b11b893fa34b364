/** What a payer bought, for who proves to be that payer: without an account, on whatever transport. */
import type { Catalogue, Network, Route } from '../catalogue/types.ts';
import { finalCodes, Problem } from '../errors.ts';
import { atomicToDecimal } from '../money.ts';
import { sameAddress } from '../on-chain/address.ts';
import { PURCHASES_PATH } from '../paths.ts';
import { assetsOf } from '../payment/assets.ts';
import type { PayableNetworks } from '../payment/networks.ts';
import { refuseOwedForGood } from '../payment/spent.ts';
import type { PaymentState } from '../store/payments/states.ts';
import type { Payment, Receipt, Store } from '../store/store.ts';
import type { StoredAnswer } from '../store/stored-answer.ts';
import { createChallenge } from './challenge.ts';
import { type PageRequest, pageAfter, readPage } from './page.ts';
import { verifyProof } from './proof.ts';

export interface PurchasesParts {
  readonly store: Pick<Store, 'list' | 'find'>;
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
  /** Where its answer can be had again, by the same wallet's proof; left out where there is none. */
  readonly answer?: string;
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

/** What stands before a proof is looked at: `arrives` may throw Problem. */
interface ProofGate {
  arrives(): void;
  refused(): void;
}

export interface Purchases {
  /** What to sign: the extension `sign-in-with-x` as x402 declares it, good for five minutes; `id`: for one purchase. */
  challenge(id?: string): ReturnType<typeof createChallenge>;
  /**
   * `proof`: the header's base64, or the decoded object. Throws Problem `invalid_request`, and `store_unavailable`. A
   * proof can be shown again until it is five minutes old: it reads and changes nothing. One that is not good counts
   * against its address as a payment that is not.
   */
  list(proof: unknown, page?: PageRequest, gate?: ProofGate): Promise<Purchased>;
  /**
   * What was bought, for who proves to have paid for it. Throws Problem `invalid_request`; `unknown_path` for a purchase that is
   * not this wallet's; and what the payment itself would be told where there is no answer.
   */
  answer(proof: unknown, id: string, gate?: ProofGate): Promise<BoughtAnswer>;
}

/** `FORGOTTEN` where it is not kept any more. */
export interface BoughtAnswer {
  readonly rail: string;
  readonly answer: StoredAnswer;
  readonly receipt: Receipt;
}

/** Without those that moved no money and never will (`released`, `unsettled`). */
const STATES: readonly PaymentState[] = ['claimed', 'fulfilled', 'settled', 'unknown', 'owed', 'refunded'];

function stateOf({ state, reason = '' }: Payment): PurchaseState {
  if (state === 'owed') return finalCodes.has(reason) ? 'refund_due' : 'owed';
  return state === 'settled' || state === 'refunded' || state === 'unknown' ? state : 'pending';
}

/** In the words in which the payment itself would be told. */
function withoutAnswer(state: PaymentState, reason: string | undefined): Problem {
  switch (state) {
    case 'settled':
    case 'owed':
      return new Problem('result_owed');
    case 'refunded':
      return new Problem('refunded', reason && `There was no result, and it was given back: transaction ${reason}`);
    case 'unknown':
      return new Problem('settlement_pending');
    case 'claimed':
    case 'fulfilled':
      return new Problem('payment_in_progress', undefined, { headers: { 'retry-after': '1' } });
    case 'released':
    case 'unsettled':
      return new Problem('unknown_path', 'Nothing was charged for this payment, and nothing was bought with it');
  }
}

/** Opened for each catalogue that is on sale. */
export function openPurchases({ store, publicUrl, catalogue, mode, networks, now }: PurchasesParts): Purchases {
  const list = `${publicUrl}${PURCHASES_PATH}`;
  const uriOf = (id?: string) => (id === undefined ? list : `${list}/${encodeURIComponent(id)}`);
  const configured = [...catalogue.networks.values()];
  const caip2 = (network: Network): string => network[mode].caip2;
  const names = new Map<string, string>(configured.map((network) => [network.id, caip2(network)]));
  const paths = new Map(catalogue.routes.map(({ id, path }) => [id, path]));
  const assetOf = assetsOf(configured);

  function shown(payment: Payment): Purchase {
    const { id, createdAt, route, network, asset: address, amount, receipt, state } = payment;
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
      ...(state === 'settled' && { answer: uriOf(id) }),
    };
  }

  // What was bought stays bought where a network cannot be paid at the moment.
  async function verify(proof: unknown, uri: string, gate: ProofGate | undefined): Promise<string> {
    gate?.arrives();
    try {
      return await verifyProof(proof, { uri, chains: configured.map(caip2), now: now() });
    } catch (error) {
      gate?.refused();
      throw error;
    }
  }

  return {
    challenge: (id) =>
      createChallenge(uriOf(id), configured.filter((each) => networks.find(each.id)).map(caip2), now()),
    async list(proof, page = {}, gate) {
      const { limit, before } = readPage(page);
      const payer = await verify(proof, list, gate);
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

    async answer(proof, id, gate) {
      const payer = await verify(proof, uriOf(id), gate);
      const payment = await store.find(id);
      if (!payment || !sameAddress(payment.payer, payer)) {
        throw new Problem('unknown_path', 'This wallet bought nothing of that name here: see /v1/purchases');
      }
      const { answer, receipt, rail, state, reason } = payment;
      if (state === 'settled' && answer && receipt) return { rail, answer, receipt };
      refuseOwedForGood(payment);
      throw withoutAnswer(state, reason);
    },
  };
}
