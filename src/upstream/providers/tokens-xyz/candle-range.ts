/**
 * Which candles the provider is asked for. It fills in the last week before now, whatever end it is given, and refuses
 * more than 10,000 candles and times before 2010: `validateOhlcvRange` in its apps/api/src/lib/ohlcv-bounds.ts.
 */
import type { Input } from '../../../catalogue/types.ts';

/** Request fields that say which candles. */
export interface CandleFields {
  readonly interval: string;
  readonly from: string;
  readonly to: string;
}

const SECONDS: Readonly<Record<string, number>> = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1H': 3600,
  '4H': 14_400,
  '1D': 86_400,
  '1W': 604_800,
};
const DEFAULT_INTERVAL = '1H';
const WEEK_SECONDS = 604_800;
const MOST_CANDLES = 10_000;
const EARLIEST = 1_262_304_000;

/** Interval, start and end, all of them given: the week before the end, or the latest of what would be too many. */
export function candleRange(input: Input, fields: CandleFields, now: number): Record<string, string | number> {
  const interval = String(input[fields.interval] ?? DEFAULT_INTERVAL);
  const to = Number(input[fields.to] ?? Math.floor(now / 1000));
  const longest = (MOST_CANDLES - 1) * (SECONDS[interval] ?? WEEK_SECONDS);
  const from = Math.max(Number(input[fields.from] ?? to - WEEK_SECONDS), to - longest, EARLIEST);
  return { [fields.interval]: interval, [fields.from]: from, [fields.to]: to };
}
