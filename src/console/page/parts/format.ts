/** Figures as people read them. Times are UTC, as in the books and on the command line. */
type Decimal = `${number}`;

const exact = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});
const cents = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const small = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 4,
});
const short = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  minimumFractionDigits: 0,
  maximumSignificantDigits: 3,
});
const coins = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 6 });
const whole = new Intl.NumberFormat('en-US');
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 });
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** A decimal string, to the millionth. */
export const dollars = (amount: string): string => exact.format(amount as Decimal);

/** A decimal string to the cent, for figures that are glanced at; less than a dollar to a hundredth of one. */
export const roughly = (amount: string): string =>
  (Math.abs(Number(amount)) < 1 ? small : cents).format(amount as Decimal);

/** Coins of a chain, which have up to eighteen decimals, to six digits. */
export const coinsOf = (balance: string, coin: string): string => `${coins.format(balance as Decimal)} ${coin}`;

/** For a chart's axis. */
export const shortDollars = (amount: number): string =>
  (Number.isInteger(amount) || Math.abs(amount) > 100 ? short : small).format(amount);
export const shortCount = (value: number): string => compact.format(value);

export const count = (value: number): string => whole.format(value);

/** `part` of `of`; nothing where there is no whole. */
export const share = (part: number, of: number): string => (of === 0 ? '' : percent.format(part / of));

/** Milliseconds, or seconds where that reads better. */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return '–';
  if (ms < 1_000) return `${whole.format(Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dayAndYear = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });

const isThisYear = (at: number): boolean => new Date(at).getUTCFullYear() === new Date().getUTCFullYear();

export const dayOf = (at: number): string => (isThisYear(at) ? day : dayAndYear).format(at);
export const timeOf = (at: number): string => clock.format(at);
export const hourOf = (at: number): string => hour.format(at);
export const momentOf = (at: number): string => `${dayOf(at)}, ${timeOf(at)}`;
export const isoOf = (at: number | undefined): string => (at === undefined ? '' : new Date(at).toISOString());

/** The middle of what is long and told by its ends: an address, a transaction. */
export const abridged = (text: string): string => (text.length <= 16 ? text : `${text.slice(0, 8)}…${text.slice(-6)}`);
