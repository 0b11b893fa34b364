import { finalCodes, Problem, type ProblemCode } from '../errors.ts';
import type { CallEnd, Gate } from '../limits/limits.ts';
import type { Metrics, PaymentOutcome } from '../metrics/metrics.ts';
import type { ClaimedPayment } from '../payment/claim.ts';
import type { Hold } from '../payment/hold.ts';
import { Refusal } from '../payment/refusal.ts';
import { UpstreamProblem } from '../upstream/problem.ts';
import { upstreamCodes } from './upstream-codes.ts';

/** Whoever tries the payment again, or takes it over, finds out what became of it. */
const brokenOff: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'internal_error',
  'store_unavailable',
  'payment_in_progress',
]);

/** What became of a payment whose work ended with an error. */
function outcomeOf(error: unknown): PaymentOutcome {
  if (error instanceof Refusal) return error.settlement ? 'unsettled' : 'released';
  if (!(error instanceof Problem) || brokenOff.has(error.code)) return 'failed';
  if (error.code === 'settlement_pending') return 'unknown';
  return error.code === 'result_owed' ? 'owed' : 'released';
}

/** Whether a provider refused the call for good, so that no repetition of it comes to anything. */
function isFinal(error: unknown): boolean {
  if (error instanceof UpstreamProblem) return finalCodes.has(upstreamCodes[error.failure]);
  return error instanceof Problem && finalCodes.has(error.code);
}

/** Whether the gateway itself is why, and neither its payer nor a provider. */
const isOurs = (error: unknown): boolean =>
  error instanceof Problem && (error.code === 'draining' || brokenOff.has(error.code) || isOurs(error.cause));

/** What its payer had a hand in, or what was held for it: that was locked and given back at our cost, whoever failed. */
export function endOf(error: unknown, hold?: Pick<Hold, 'deposited'>): CallEnd {
  const held = hold !== undefined && (hold.deposited?.() ?? true);
  // What was claimed and then not locked has cost two writes of the store.
  if (error instanceof Refusal) return error.settlement || held ? 'wasted' : 'failed';
  if (error instanceof Problem && error.code === 'result_owed') return isFinal(error.cause) ? 'wasted' : 'other';
  if (held && outcomeOf(error) === 'released' && !isOurs(error)) return 'wasted';
  return isFinal(error) ? 'failed' : 'other';
}

interface CountParts {
  readonly metrics: Pick<Metrics, 'payment' | 'settledFirst'>;
  readonly gate: Pick<Gate, 'ended'>;
}

/** Does the work and counts what becomes of the payment, unless an earlier attempt settled it and was counted. */
export async function counted<Result>(
  { metrics, gate }: CountParts,
  rail: string,
  claimed: ClaimedPayment,
  work: () => Promise<Result>,
): Promise<Result> {
  if ('receipt' in claimed) return work();
  const { verified } = claimed;
  const { network, scheme, upfront, hold } = verified;
  const count = (outcome: PaymentOutcome) => metrics.payment({ rail, scheme, network, outcome });
  // What is locked or deposited is taken after the work.
  if (upfront && !hold) metrics.settledFirst(upfront);
  try {
    const result = await work();
    count('settled');
    const isPaidFor = !hold?.deposited?.() && (verified.isPaidFor?.() ?? true);
    gate.ended(isPaidFor ? 'paid' : 'wasted');
    return result;
  } catch (error) {
    count(outcomeOf(error));
    gate.ended(endOf(error, hold));
    throw error;
  }
}
