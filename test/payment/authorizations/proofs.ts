/** Signed x402 proofs as their JSON, for tests that change one thing about them. */
import type { Test } from 'tap';
import { type PaidCall, sendProof } from '../../clients.ts';
import type { Gateway } from '../../gateway.ts';

type Proof = Record<string, string>;

/** A version 2 payment payload. */
interface SignedPayment {
  accepted: Record<string, unknown>;
  payload: {
    signature?: string;
    authorization?: Record<string, string>;
    permit2Authorization?: Record<string, string>;
    transaction?: string;
  };
  extensions: Record<string, { info: Record<string, string> }>;
}

export function decoded(proof: Proof): SignedPayment {
  return JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
}

/** The same proof with something changed, under its old signature. */
export function changed(proof: Proof, change: (payment: SignedPayment) => void): Proof {
  const payment = decoded(proof);
  change(payment);
  return { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') };
}

/** Every entry of `accepts` in the challenge of an unpaid call. */
export async function offersOf({ url, init }: PaidCall): Promise<SignedPayment['accepted'][]> {
  const { headers } = await fetch(url, init);
  return JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()).accepts;
}

/** The proof is a 402 with this problem, nothing is asked of an upstream and no money moves. */
export async function refusesBeforeWork(
  t: Test,
  gateway: Gateway,
  network: string,
  { call, proof, ...problem }: { call: PaidCall; proof: Proof; type: RegExp; detail: RegExp },
): Promise<void> {
  const [calls, earned] = [await gateway.calls(), await gateway.earned(network)];
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 402);
  t.match(await answer.json(), problem);
  t.same(await gateway.calls(), calls, 'no upstream is asked and nothing is settled');
  t.equal(await gateway.earned(network), earned);
}
