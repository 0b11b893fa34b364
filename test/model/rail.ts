/** A rail that pays on the model's chain. A proof names its payment, and whose it is. */
import { createHash } from 'node:crypto';
import type { Credential, Rail } from '../../src/payment/rail.ts';
import { Refusal } from '../../src/payment/refusal.ts';
import type { Chain } from './chain.ts';
import type { Await } from './operation.ts';

export const PROOF = 'x-proof';

/** Whose proofs are good. */
export const OWN = 'the payer';
const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** What a payer shows. */
export interface Proof {
  readonly payment: string;
  /** Who shows it: the payer, or who read it somewhere. */
  readonly by: string;
  /** What the payer calls its purchase. */
  readonly identifier?: string;
}

export interface RailParts {
  readonly chain: Chain;
  readonly waits: Await;
  readonly amount: bigint;
  readonly payer: string;
  readonly isUpfront: boolean;
}

export const openModelRail = ({ chain, waits, amount, payer, isUpfront }: RailParts): Rail => ({
  name: 'model',
  http: {
    read({ headers }): Credential | undefined {
      const proof = headers[PROOF];
      if (typeof proof !== 'string') return undefined;
      const { payment, by, identifier }: Proof = JSON.parse(proof);
      return { id: payment, fingerprint: hash(by), isPrivate: true, identifier };
    },
    challenge: () => ({ status: 402, headers: {}, body: '' }),
    receipt: () => ({}),
  },
  mcp: {
    carries: () => false,
    read: () => undefined,
    challenge: () => ({ meta: {} }),
    offers: () => [],
    receipt: () => ({}),
  },
  challenge: (quote, refusal, invalidParams) => ({ id: 'challenge', quote, refusal, invalidParams }),
  async verify({ id, fingerprint }) {
    if (fingerprint !== hash(OWN)) throw new Refusal('verification-failed', 'signed by somebody else');
    const isGood = await waits(`asks whether ${id} is good`, () => [
      { label: chain.isGood(id) ? 'yes' : 'no', happen: () => chain.isGood(id) },
    ]);
    if (!isGood) throw new Refusal('verification-failed', 'used or expired');
    return {
      network: 'model-chain',
      asset: 'asset',
      payer,
      payTo: 'merchant',
      amount,
      decimals: 6,
      scheme: 'exact',
      upfront: isUpfront ? 'offered' : undefined,
      offeredAt: 0,
      canSettleUpfront: true,
      holder: { isContract: false, balance: async () => amount * 1000n },
      payerIsProven: true,
      recoveryQuery: id,
      settle: () => waits(`settles ${id}`, () => chain.settle(id)),
    };
  },
  recover: (id) => waits(`looks for ${id} on the chain`, () => chain.look(id)),
  confirmations: async () => 1,
  receipt: (id, { transaction, amount: moved }, settledAt) => ({
    transaction,
    amount: moved.toString(),
    settledAt,
    details: { payment: id },
  }),
});
