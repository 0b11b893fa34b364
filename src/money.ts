/**
 * Amounts of money. Inside the gateway an amount is a whole number of millionths of a dollar, which is
 * the atomic unit of every stablecoin with six decimals; at the edges it is a decimal string.
 */

declare const unit: unique symbol;

/** A bigint that is not taken where another unit is wanted. Literals and the results of arithmetic have no unit yet. */
type In<Unit extends string> = bigint & { readonly [unit]?: Unit };

/** Millionths of a US dollar. */
export type Money = In<'millionth of a dollar'>;

/** Trillionths of a US dollar: fine enough for the price of one token. */
export type Rate = In<'trillionth of a dollar'>;

/** The smallest units of an asset, as its contract counts them. */
export type Atomic = In<'atomic unit'>;

const MONEY_DECIMALS = 6;
const RATE_DECIMALS = 12;
const DECIMAL = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]+))?$/;

/** A decimal string that is not an amount; `expected` says what would be one. */
export class AmountProblem extends Error {
  readonly expected: string;
  constructor(message: string, expected: string) {
    super(message);
    this.name = 'AmountProblem';
    this.expected = expected;
  }
}

const expectedWith = (decimals: number): string => `a decimal string such as "0.05", with at most ${decimals} decimals`;

/** What would be an amount of money. */
export const AMOUNT_EXPECTED = expectedWith(MONEY_DECIMALS);

function parse(decimal: string, decimals: number): bigint {
  const expected = expectedWith(decimals);
  const match = DECIMAL.exec(decimal);
  if (!match) throw new AmountProblem(`${JSON.stringify(decimal)} is not an amount`, expected);
  const fraction = match[2] ?? '';
  if (fraction.length > decimals) {
    throw new AmountProblem(`${JSON.stringify(decimal)} has ${fraction.length} decimals`, expected);
  }
  return BigInt(match[1] + fraction.padEnd(decimals, '0'));
}

/** `usd("0.05")` is 50000n. Throws AmountProblem for signs, exponents and more than six decimals. */
export const usd = (decimal: string): Money => parse(decimal, MONEY_DECIMALS);

/** `rate("0.00175")` is 1750000000n. Throws AmountProblem for more than twelve decimals. */
export const rate = (decimal: string): Rate => parse(decimal, RATE_DECIMALS);

/** `toDecimal(50000n)` is "0.05". */
export const toDecimal = (money: Money): string => decimalOf(money, MONEY_DECIMALS);

/** `rateToDecimal(1750000000n)` is "0.00175". */
export const rateToDecimal = (amount: Rate): string => decimalOf(amount, RATE_DECIMALS);

/** An asset's atomic units as units of the asset: `atomicToDecimal(50000n, 6)` is "0.05". */
export const atomicToDecimal = (amount: Atomic, decimals: number): string => decimalOf(amount, decimals);

function decimalOf(amount: bigint, decimals: number): string {
  if (decimals === 0) return amount.toString();
  const digits = amount.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  const whole = digits.slice(0, -decimals);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Division that rounds up, for non-negative numbers: what is sold is never sold below its price. */
export const divideUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;

/** A sum of rates as money, rounded up to one millionth of a dollar. */
export const rateToMoney = (sum: Rate): Money => divideUp(sum, 10n ** BigInt(RATE_DECIMALS - MONEY_DECIMALS));

/** Money in an asset's atomic units, rounded up where the asset is coarser than a millionth. */
export function toAtomic(money: Money, decimals: number): Atomic {
  return decimals >= MONEY_DECIMALS
    ? money * 10n ** BigInt(decimals - MONEY_DECIMALS)
    : divideUp(money, 10n ** BigInt(MONEY_DECIMALS - decimals));
}
