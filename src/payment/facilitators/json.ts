import type { Atomic } from '../../money.ts';

type Json = Readonly<Record<string, unknown>>;

/** A JSON object, or an empty one for anything else. */
export const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

/** A string that says something, or undefined. */
export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Atomic units that requirements of either version ask for, or that a settlement names. */
export function amountOf(object: object): Atomic | undefined {
  const { amount, maxAmountRequired } = asObject(object);
  const text = asText(amount) ?? asText(maxAmountRequired);
  return text !== undefined && /^[0-9]{1,78}$/.test(text) ? BigInt(text) : undefined;
}
