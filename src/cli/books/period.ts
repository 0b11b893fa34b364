/** `--from` and `--to` of the commands that keep the books. */
import type { Period } from '../../store/period.ts';
import { UsageProblem } from '../command-line.ts';

export const PERIOD_OPTIONS = { from: { type: 'string' }, to: { type: 'string' } } as const;

export const PERIOD_USAGE = `  --from <time>  the first day of UTC, such as 2026-11-01, or a time of RFC 3339, such as 2026-11-01T09:30:00Z
  --to <time>    the same; what happens then and later is not part of it`;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]\d{2}:\d{2})$/i;

/** JavaScript takes a 30th of February for a day in March. */
const isDay = (day: string): boolean => {
  const read = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day);
};

function readTime(option: string, text: string | undefined): number {
  if (text === undefined) throw new UsageProblem(`${option} is missing: give a day of UTC such as 2026-11-01`);
  const [, day = DAY.test(text) ? text : ''] = TIME.exec(text) ?? [];
  const time = isDay(day) ? Date.parse(day === text ? `${day}T00:00:00Z` : text.toUpperCase()) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new UsageProblem(
    `${option} is a day of UTC such as 2026-11-01, or a time such as 2026-11-01T09:30:00Z: got ${text}`,
  );
}

/** Throws UsageProblem that names the option. */
export function readPeriod(values: { readonly from?: string | undefined; readonly to?: string | undefined }): Period {
  const from = readTime('--from', values.from);
  const to = readTime('--to', values.to);
  if (from < to) return { from, to };
  throw new UsageProblem(
    `--to is not part of the period, so that it comes after --from: ${values.from} to ${values.to} is none`,
  );
}
