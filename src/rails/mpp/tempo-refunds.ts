/**
 * Refunds on Tempo: transfers with a memo of their own, that the chain takes within half a minute or never, so that it can
 * say of each for good what became of it. The memo is the same whatever database a refund is sent from: what another one
 * has sent is found by it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { refused, type Settlement, unknown } from '../../on-chain/settlement.ts';
import {
  type ExpectedTransfer,
  openTempoSearch,
  openTempoTransfers,
  searchedFrom,
} from '../../payment/authorizations/tempo.ts';
import { ChainProblem, createRpc } from '../../payment/chains/rpc.ts';
import { refundIdentity } from '../../payment/refunds/identity.ts';
import type { RefundOrder, RefundSender } from '../../payment/refunds/sender.ts';

interface TempoRefundOptions {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Whose tokens are given back. Into no log or error. */
  readonly privateKey: string;
  now(): number;
}

/** The chain takes no expiring transaction that ends later than in thirty seconds. */
const LASTS_SECONDS = 25;
const RPC_TIMEOUT_MS = 20_000;
/** Blocks come twice a second. */
const FIRST_LOOK_MS = 500;
const LOOKS_FOR_MS = 10_000;
/** Clocks of chain and gateway differ. */
const CLOCK_SKEW_SECONDS = 120;

export function openTempoRefunds({ rpcUrl, chainId, privateKey, now }: TempoRefundOptions): RefundSender {
  const rpc = createRpc(rpcUrl, RPC_TIMEOUT_MS);
  const find = openTempoTransfers(rpcUrl);
  const search = openTempoSearch(rpcUrl);

  // Its imports take a second: they are loaded with the first refund.
  async function transferOf(order: RefundOrder) {
    const { addressOf } = await import('./tempo-transfer.ts');
    return {
      currency: order.asset,
      payer: addressOf(privateKey),
      recipient: order.payee,
      amount: order.amount.toString(),
      memo: refundIdentity(`eip155:${chainId}`, order),
    };
  }

  async function send(signed: string, expected: ExpectedTransfer): Promise<Settlement> {
    try {
      await rpc('eth_sendRawTransaction', [signed]);
    } catch (error) {
      if (error instanceof ChainProblem && !/already|known/i.test(error.message)) {
        return refused('the chain refuses the transfer: see that the key has the tokens and what fees cost');
      }
    }
    let seen: Settlement = unknown('the transfer was sent, but the chain has not confirmed it');
    for (let waited = 0; waited < LOOKS_FOR_MS && seen.state === 'unknown'; waited += FIRST_LOOK_MS) {
      await delay(FIRST_LOOK_MS);
      seen = await find(expected);
    }
    return seen;
  }

  return {
    serves: (network) => network === `eip155:${chainId}`,

    async find(order) {
      const found = await search(await transferOf(order), Math.floor(order.paidAt / 1000) - CLOCK_SKEW_SECONDS);
      if (found.state !== 'refused') return found;
      return refused(`it was sent otherwise before (${found.reason}): give back by hand what is missing`);
    },

    async prepare(order) {
      const { signTransfer } = await import('./tempo-transfer.ts');
      const { asset, payee, amount } = order;
      const validBefore = Math.floor(now() / 1000) + LASTS_SECONDS;
      const sent = await transferOf(order);
      const expected: ExpectedTransfer = { ...sent, validBefore, fromBlock: await searchedFrom(rpc) };
      const transfer = { chainId, privateKey, currency: asset, to: payee, amount, memo: sent.memo, validBefore };
      const signed = await signTransfer(rpc, transfer).catch(() => {
        // What is said there repeats the transaction.
        throw new Error('the transfer could not be prepared: see that the key has the tokens and what fees cost');
      });
      return { recoveryQuery: JSON.stringify(expected), send: () => send(signed, expected) };
    },

    recover: (text) => find(JSON.parse(text) as ExpectedTransfer),
  };
}
