/** A row: one comparison of the gateway with those beside it. */
import type { Bench } from './bench.ts';
import { type Measured, measure, type Target, type Work } from './measure.ts';
import { median } from './percentile.ts';
import { count, type Line, yesOrNo } from './table.ts';

export interface Row {
  /** For `--only`. */
  readonly name: string;
  run(bench: Bench): Promise<Line[]>;
}

export interface Beside {
  readonly who: string;
  /** Undefined: it cannot be had. */
  readonly target: Target | undefined;
  /** It sells nothing: no candidate for the best peer. */
  readonly isNoGateway?: true;
  /** The gateway is at least this many times as good, or its median call takes at most so many milliseconds longer. */
  readonly goal?: { readonly times: number } | { readonly addedMs: number };
}

export interface Comparison {
  readonly ours: Target;
  readonly beside: readonly Beside[];
}

export const CALLERS = 64;

/** A round ends before that many calls a second are answered. */
const MOST_A_SECOND = 20_000;
const MOST_PAID_A_SECOND = 5_000;
/** A signature takes the callers' process a millisecond. */
const MOST_SIGNED_A_SECOND = 2_500;

const most = ({ payment, replays }: Pick<Work, 'payment' | 'replays'>): number => {
  if (payment === undefined || replays) return MOST_A_SECOND;
  return payment === 'mpp' || payment === 'channel' ? MOST_SIGNED_A_SECOND : MOST_PAID_A_SECOND;
};

/** More is better: the rate of many callers, or how fast a lone caller is answered. */
const scores = ({ callers }: Work, { rates, p50s }: Measured): readonly number[] =>
  callers === 1 ? p50s.map((milliseconds) => 1000 / milliseconds) : rates;

/** Everybody under the same load. `compare` starts the servers. */
export function loadRow(
  name: string,
  work: Omit<Work, 'callers' | 'requests'> & { readonly callers?: number },
  compare: (bench: Bench) => Promise<Comparison>,
): Row {
  return {
    name,
    async run(bench) {
      const { ours, beside } = await compare(bench);
      const present = beside.flatMap(({ target, ...other }) => (target ? [{ ...other, target }] : []));
      const requests = Math.ceil((most(work) * bench.milliseconds) / 1000);
      const whole: Work = { callers: CALLERS, ...work, requests };
      const [first, ...others] = await measure(
        bench.load,
        [ours, ...present.map(({ target }) => target)],
        whole,
        bench,
      );
      if (!first) throw new Error('the gateway is measured');
      const compared = present.map((other, index) => comparison(whole, other, first, others[index] as Measured));
      const [best] = compared.filter(({ isNoGateway }) => !isNoGateway).sort((left, right) => left.times - right.times);
      return [
        { row: name, who: 'turnpike', ...cells(whole, first), ratio: best && `${best.times.toFixed(2)} (${best.who})` },
        ...compared.map(({ line }) => line),
        ...beside.filter(({ target }) => !target).map(({ who }) => ({ who, measured: 'not available' })),
      ];
    },
  };
}

function cells(work: Work, measured: Measured): Omit<Line, 'who'> {
  const { rates, p50s, p99s, processorTime } = measured;
  return {
    measured: `${count(median(rates))}/s`,
    processor: processorTime === undefined ? '' : `${count(processorTime)} µs`,
    p50: `${median(p50s).toFixed(2)} ms`,
    p99: `${median(p99s).toFixed(2)} ms`,
    spread: spread(scores(work, measured)),
  };
}

/** From the least to the most, of the median. */
const spread = (values: readonly number[]): string =>
  `${count(((Math.max(...values) - Math.min(...values)) / median(values)) * 100)} %`;

/** Round with round. */
function comparison(work: Work, { who, goal, isNoGateway }: Omit<Beside, 'target'>, ours: Measured, theirs: Measured) {
  const theirScores = scores(work, theirs);
  const ratios = scores(work, ours).map((score, round) => score / (theirScores[round] ?? Number.NaN));
  const times = median(ratios);
  const added = median(ours.p50s) - median(theirs.p50s);
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  const ratio = `${times.toFixed(2)} (${range})`;
  return { who, times, isNoGateway, line: { who, ...cells(work, theirs), ratio, ...judged(goal, times, added) } };
}

function judged(goal: Beside['goal'], times: number, added: number): Pick<Line, 'goal' | 'met'> {
  if (goal === undefined) return {};
  if ('times' in goal) return { goal: `>= ${goal.times}`, met: yesOrNo(times >= goal.times) };
  return { goal: `p50 < +${goal.addedMs} ms`, met: `${yesOrNo(added < goal.addedMs)} (${added.toFixed(2)} ms)` };
}

/** What one of the compared has: less is better. */
export interface Has {
  readonly who: string;
  readonly values: readonly number[];
  readonly isNoGateway?: true;
}

/** The gateway's come first. `limit`: what they have to stay below. */
export function smallerIsBetter(
  row: string,
  [ours, ...others]: readonly Has[],
  { unit, limit }: { readonly unit: string; readonly limit?: number },
): Line[] {
  if (!ours) throw new Error('the gateway is measured');
  const value = median(ours.values);
  const shown = (values: readonly number[]) => ({
    measured: `${count(median(values))} ${unit}`,
    spread: spread(values),
  });
  const times = ({ values }: Has) => median(values) / value;
  const peers = others.filter(({ isNoGateway }) => !isNoGateway).sort((left, right) => times(left) - times(right));
  const [best] = peers;
  return [
    {
      row,
      who: ours.who,
      ...shown(ours.values),
      ...(best && { ratio: `${times(best).toFixed(2)} (${best.who})` }),
      ...(limit !== undefined && { goal: `< ${count(limit)} ${unit}`, met: yesOrNo(value < limit) }),
    },
    ...others.map((other) => ({ who: other.who, ...shown(other.values), ratio: times(other).toFixed(2) })),
  ];
}
