/** The one table that the benchmark prints. */

/** A cell that is left out is empty. */
export interface Line {
  /** Name of the row, on its first line. */
  readonly row?: string;
  readonly who: string;
  /** What was measured: a rate, bytes, megabytes, milliseconds. */
  readonly measured?: string;
  readonly processor?: string;
  readonly p50?: string;
  readonly p99?: string;
  readonly spread?: string;
  /** How many times as good the gateway is, and between which values in single rounds; on its own line: beside the best peer. */
  readonly ratio?: string;
  readonly goal?: string;
  readonly met?: string;
}

const HEADINGS = {
  row: 'row',
  who: 'who',
  measured: 'measured',
  processor: 'CPU per call',
  p50: 'p50',
  p99: 'p99',
  spread: 'spread',
  ratio: 'times as good',
  goal: 'goal',
  met: 'met?',
} satisfies Required<Line>;
const COLUMNS = Object.keys(HEADINGS) as (keyof Line)[];

export const yesOrNo = (met: boolean): string => (met ? 'yes' : 'no');
export const count = (value: number): string => Math.round(value).toLocaleString('en');

export function printed(lines: readonly Line[]): string {
  const all = [HEADINGS, ...lines];
  const widths = COLUMNS.map((column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  return all
    .map((line) =>
      COLUMNS.map((column, index) => (line[column] ?? '').padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
