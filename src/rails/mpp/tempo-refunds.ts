/**
 * Refunds on Tempo: transfers with a memo of their own, that the chain takes within half a minute or never, so that it can
 * say of each for good what became of it.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ExpectedTransfer, openTempoTransfers, searchedFrom } from '../../payment/authorizations/tempo.ts';
import { ChainProblem, createRpc } from '../../payment/chains/rpc.ts';
import type { RefundSender } from '../../payment/refunds/sender.ts';
import { refused, type Settlement, unknown } from '../../settlement.ts';

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

export function openTempoRefunds({ rpcUrl, chainId, privateKey, now }: TempoRefundOptions): RefundSender {
  const rpc = createRpc(rpcUrl, RPC_TIMEOUT_MS);
  const find = openTempoTransfers(rpcUrl, rpc);

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

    async prepare({ asset, payee, amount }) {
      const { addressOf, signTransfer } = await import('./tempo-transfer.ts');
      const memo = `0x${randomBytes(32).toString('hex')}`;
      const validBefore = Math.floor(now() / 1000) + LASTS_SECONDS;
      const expected: ExpectedTransfer = {
        currency: asset,
        payer: addressOf(privateKey),
        recipient: payee,
        amount: amount.toString(),
        memo,
        validBefore,
        fromBlock: await searchedFrom(rpc),
      };
      const transfer = { chainId, privateKey, currency: asset, to: payee, amount, memo, validBefore };
      const signed = await signTransfer(rpc, transfer).catch(() => {
        // What is said there repeats the transaction.
        throw new Error('the transfer could not be prepared: see that the key has the tokens and what fees cost');
      });
      return { recoveryQuery: JSON.stringify(expected), send: () => send(signed, expected) };
    },

    recover: (text) => find(JSON.parse(text) as ExpectedTransfer),
  };
}
