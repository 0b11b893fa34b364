/** A payer whose money is locked for each call by `auth-capture`, as the published client signs it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SandboxState } from '../../src/rails/paying-client.ts';
import { openWallet } from '../../src/rails/x402/payer.ts';
import { type PaidCall, sendProof } from '../clients.ts';

/** Everything that was signed for a call, and what came of it last. */
export interface Held {
  readonly call: PaidCall;
  readonly proof: Record<string, string>;
  answer: string | undefined;
}

export interface HoldingPayer {
  readonly held: readonly Held[];
  /** Until it is answered: what is lost is asked again, what was given back or refused is signed anew. */
  buy(call: PaidCall): Promise<void>;
}

/** What is to be asked again with the same payment, as far as anybody knows. */
const mayStillBuy = async (answer: Response | undefined): Promise<boolean> =>
  answer?.status !== 402 || /at the moment|in a moment|cannot be checked now/.test(await answer.text());

export async function openHoldingPayer(state: SandboxState, caip2: string): Promise<HoldingPayer> {
  const client = await openWallet(state, caip2, 'auth-capture');
  const held: Held[] = [];

  async function sign(call: PaidCall): Promise<Held | undefined> {
    const unpaid = await fetch(call.url, call.init);
    if (unpaid.status !== 402) return undefined;
    const challenge = client.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
    const proof = client.encodePaymentSignatureHeader(await client.createPaymentPayload(challenge));
    const one: Held = { call, proof, answer: undefined };
    held.push(one);
    return one;
  }

  /** False where the payment buys nothing any more. */
  async function persist(one: Held): Promise<boolean> {
    for (;;) {
      const answer = await sendProof(one.call, one.proof).catch(() => undefined);
      if (answer?.status === 200) one.answer = await answer.text().catch(() => undefined);
      if (one.answer !== undefined) return true;
      if (!(await mayStillBuy(answer).catch(() => true))) return false;
      await delay(50);
    }
  }

  return {
    held,
    async buy(call) {
      for (;;) {
        const one = await sign(call).catch(() => undefined);
        if (one && (await persist(one))) return;
        await delay(50);
      }
    },
  };
}

/** What the same payment gets at the end: undefined where it was given back. */
export async function askAgain({ call, proof }: Held): Promise<string | undefined> {
  const again = await sendProof(call, proof);
  return again.status === 200 ? again.text() : undefined;
}
