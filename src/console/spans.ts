/** A period of the page as whole hours, or whole days of UTC where it is long. */
import { SPANS, type Span, type SpansOf } from '../store/figures/figures-store.ts';
import { type Query, time } from './input.ts';
import { wrongField } from './problem.ts';

/** Sums by the hour are kept so long. */
export const HOURS_KEPT_MS = 60 * SPANS.day;

const USUAL_MS = SPANS.day;
/** Beyond it, a day is a step. */
const MOST_HOURLY_MS = 7 * SPANS.day;
const MOST_STEPS = 2_000;

/** The last 24 hours where nothing is asked for. Throws ConsoleProblem. */
export function readSpans(query: Query, now: number): SpansOf & { readonly stepMs: number } {
  const to = time(query, 'to') ?? now;
  const from = time(query, 'from') ?? to - USUAL_MS;
  if (from >= to) throw wrongField('to', 'comes after from');
  const span: Span = to - from > MOST_HOURLY_MS || from < now - HOURS_KEPT_MS ? 'day' : 'hour';
  const stepMs = SPANS[span];
  const whole = { span, stepMs, from: Math.floor(from / stepMs) * stepMs, to: Math.ceil(to / stepMs) * stepMs };
  if ((whole.to - whole.from) / stepMs > MOST_STEPS)
    throw wrongField('from', `takes ${MOST_STEPS} days before to at most`);
  return whole;
}
