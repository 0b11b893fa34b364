import { asJsonObject } from '../../json.ts';
import type { Atomic } from '../../money.ts';

/** A string that says something, or undefined. */
export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Atomic units that requirements of either version ask for, or that a settlement names. */
export function amountOf(object: object): Atomic | undefined {
  const { amount, maxAmountRequired } = asJsonObject(object);
  const text = asText(amount) ?? asText(maxAmountRequired);
  return text !== undefined && /^[0-9]{1,78}$/.test(text) ? BigInt(text) : undefined;
}
