/** The fields of what strangers send. Each throws Refusal `malformed-credential` with the field's name. */
import { isJsonObject, type JsonObject } from '../../json.ts';
import { Refusal } from '../refusal.ts';

export const malformed = (field: string, expected: string): Refusal =>
  new Refusal('malformed-credential', `${field} must be ${expected}`);

export function readObject(value: unknown, field: string): JsonObject {
  if (!isJsonObject(value)) throw malformed(field, 'an object');
  return value;
}

export function readText(value: unknown, field: string, pattern: RegExp, expected: string): string {
  if (typeof value !== 'string' || !pattern.test(value)) throw malformed(field, expected);
  return value;
}

/** The most that a word of the EVM holds. */
const MOST = 2n ** 256n - 1n;

/** A whole number of at most 256 bits, in a string or not. */
export function readUint(value: unknown, field: string): bigint {
  const text = typeof value === 'number' ? String(value) : value;
  const number = BigInt(readText(text, field, /^[0-9]{1,78}$/, 'a whole number in a string'));
  if (number > MOST) throw malformed(field, 'a number of at most 256 bits');
  return number;
}

/** In lower case. */
export const readAddress = (value: unknown, field: string): string =>
  readText(value, field, /^0x[0-9a-fA-F]{40}$/, 'an address').toLowerCase();

/** 32 bytes, in lower case. */
export const readWord = (value: unknown, field: string): string =>
  readText(value, field, /^0x[0-9a-fA-F]{64}$/, '32 bytes of hex').toLowerCase();

export const readSignature = (value: unknown, field: string): string =>
  readText(value, field, /^0x(?:[0-9a-fA-F]{2})+$/, 'hex');
