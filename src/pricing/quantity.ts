/** Numbers of a request as exact fractions, so that no price depends on floating point. */
import { divideUp, type Money } from '../money.ts';

interface Quantity {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/** `exactly(4.5)` is 45/10: the decimal that JSON writes. Throws RangeError for negative numbers and non-numbers. */
export function exactly(value: number): Quantity {
  const match = DECIMAL.exec(String(value));
  if (!match) throw new RangeError(`${value} is not a quantity`);
  const fraction = match[2] ?? '';
  const exponent = Number(match[3] ?? 0) - fraction.length;
  const digits = BigInt(match[1] + fraction);
  return exponent < 0
    ? { numerator: digits, denominator: 10n ** BigInt(-exponent) }
    : { numerator: digits * 10n ** BigInt(exponent), denominator: 1n };
}

/** What `quantity` costs at `amount` for every `per`, rounded up to a millionth of a dollar. `per` is above zero. */
export const costOf = (quantity: Quantity, amount: Money, per: Quantity): Money =>
  divideUp(amount * quantity.numerator * per.denominator, quantity.denominator * per.numerator);
