/** The one table that the benchmark prints. */
import type { Measured } from './measure.ts';
import { median } from './median.ts';

export interface Row {
  readonly what: string;
  readonly ours: string;
  readonly peer: string;
  readonly ratio: string;
  readonly goal: string;
  readonly met: string;
}

const HEADINGS: Row = { what: 'what', ours: 'ours', peer: 'peer', ratio: 'ratio', goal: 'goal', met: 'met?' };
const COLUMNS = Object.keys(HEADINGS) as (keyof Row)[];

const yesOrNo = (met: boolean): string => (met ? 'yes' : 'no');
const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString('en')}/s`;

/** Compares round with round; the spread tells how much the machine was disturbed. */
export function rateRow(what: string, ours: Measured, peer: Measured, goal: number): Row {
  const ratios = ours.rates.map((rate, round) => rate / (peer.rates[round] ?? Number.NaN));
  const ratio = median(ratios);
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  return {
    what,
    ours: perSecond(median(ours.rates)),
    peer: perSecond(median(peer.rates)),
    ratio: `${ratio.toFixed(2)} (${spread})`,
    goal: `>= ${goal}`,
    met: yesOrNo(ratio >= goal),
  };
}

/** Processor time per request, peer's over ours: what a machine that is busy with other things disturbs least. */
export function processorRow(what: string, ours: Measured, peer: Measured): Row[] {
  if (ours.processorTime === undefined || peer.processorTime === undefined) return [];
  return [
    {
      what,
      ours: `${Math.round(ours.processorTime)} µs`,
      peer: `${Math.round(peer.processorTime)} µs`,
      ratio: (peer.processorTime / ours.processorTime).toFixed(2),
      goal: '',
      met: '',
    },
  ];
}

/** A value that has to stay below a limit; the peer's stands beside it for comparison. */
export function limitRow(
  what: string,
  ours: readonly number[],
  peer: readonly number[],
  limit: number,
  unit: string,
): Row {
  const shown = (value: number) => `${Math.round(value).toLocaleString('en')} ${unit}`;
  return {
    what,
    ours: shown(median(ours)),
    peer: shown(median(peer)),
    ratio: `${(median(ours) / median(peer)).toFixed(2)}`,
    goal: `< ${limit.toLocaleString('en')} ${unit}`,
    met: yesOrNo(median(ours) < limit),
  };
}

/** What the gateway adds to its upstream's own time, in milliseconds. */
export function addedRow(what: string, ours: number, upstream: number, limit: number): Row {
  const shown = (value: number) => `${value.toFixed(2)} ms`;
  return {
    what,
    ours: shown(ours),
    peer: shown(upstream),
    ratio: `+${shown(ours - upstream)}`,
    goal: `< +${limit} ms`,
    met: yesOrNo(ours - upstream < limit),
  };
}

export const missingRow = (what: string, goal: number): Row => ({
  what,
  ours: '',
  peer: 'peer not available',
  ratio: '',
  goal: `>= ${goal}`,
  met: '',
});

export function printed(rows: readonly Row[]): string {
  const all = [HEADINGS, ...rows];
  const widths = COLUMNS.map((column) => Math.max(...all.map((row) => row[column].length)));
  return all
    .map((row) =>
      COLUMNS.map((column, index) => row[column].padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
