import { Problem, type ProblemCode } from '../errors.ts';
import type { Metrics, PaymentOutcome } from '../metrics/metrics.ts';
import type { Work } from '../payment/claim.ts';
import { Refusal } from '../payment/refusal.ts';

/** Whoever tries the payment again, or takes it over, finds out what became of it. */
const brokenOff: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'internal_error',
  'store_unavailable',
  'payment_in_progress',
]);

/** What became of a payment whose work ended with an error. */
function outcomeOf(error: unknown): PaymentOutcome {
  if (error instanceof Refusal) return 'unsettled';
  if (!(error instanceof Problem) || brokenOff.has(error.code)) return 'failed';
  if (error.code === 'settlement_pending') return 'unknown';
  return error.code === 'result_owed' ? 'owed' : 'released';
}

/** Does the work and counts what becomes of the payment, unless an earlier attempt settled it and was counted. */
export async function counted<Result>(
  metrics: Pick<Metrics, 'payment' | 'settledFirst'>,
  rail: string,
  claimed: Work,
  work: () => Promise<Result>,
): Promise<Result> {
  if ('receipt' in claimed) return work();
  const { network, scheme, upfront } = claimed.verified;
  const count = (outcome: PaymentOutcome) => metrics.payment({ rail, scheme, network, outcome });
  if (upfront) metrics.settledFirst(upfront);
  try {
    const result = await work();
    count('settled');
    return result;
  } catch (error) {
    count(outcomeOf(error));
    throw error;
  }
}
