/** Reads what the page sends. Every fault is a ConsoleProblem that names the field and says what it takes. */
import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../json.ts';
import { AmountProblem, type Money } from '../money.ts';
import { type Asset, usdIn } from '../payment/assets.ts';
import { isReference, REFERENCE_TAKES } from '../store/reference.ts';
import { ConsoleProblem, wrongField } from './problem.ts';

export type Query = Readonly<Record<string, unknown>>;

const LONGEST_TEXT = 500;

/** Undefined where it is left out or empty. */
export function text(given: Query, field: string, longest = LONGEST_TEXT): string | undefined {
  const value = given[field];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw wrongField(field, 'must be given once, as text');
  if (value.length > longest) throw wrongField(field, `takes ${longest} characters at most`);
  return value;
}

export function requiredText(given: Query, field: string, what: string): string {
  const value = text(given, field)?.trim();
  if (value) return value;
  throw wrongField(field, `is missing: give ${what}`);
}

export function oneOf<Value extends string>(given: Query, field: string, known: readonly Value[]): Value | undefined {
  const value = text(given, field);
  if (value === undefined) return undefined;
  const found = known.find((each) => each === value);
  if (found) return found;
  throw wrongField(field, `takes one of ${known.join(', ')}`);
}

/** What makes the same form, sent again, be done once; a new one where it is left out. */
export function reference(given: Query): string {
  const value = text(given, 'reference') ?? randomUUID();
  if (isReference(value)) return value;
  throw wrongField('reference', REFERENCE_TAKES);
}

/** Dollars, more than none; of the asset where it is given. */
export function dollars(given: Query, field: string, asset?: Pick<Asset, 'decimals'>): Money | undefined {
  const value = text(given, field);
  if (value === undefined) return undefined;
  try {
    const money = usdIn(value, asset);
    if (money > 0n) return money;
  } catch (error) {
    if (!(error instanceof AmountProblem)) throw error;
    throw wrongField(field, `takes ${error.expected}`);
  }
  throw wrongField(field, 'takes more than 0');
}

/** Milliseconds since the epoch. */
export function time(given: Query, field: string): number | undefined {
  const value = text(given, field);
  if (value === undefined) return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw wrongField(field, 'takes a time in milliseconds since the epoch');
}

/** The JSON object that was sent, of which no other fields are known. */
export function form<Form>(body: unknown, fields: readonly (keyof Form & string)[]): JsonObject {
  if (!isJsonObject(body)) throw new ConsoleProblem(400, 'send a JSON object');
  const stray = Object.keys(body).find((field) => !fields.some((known) => known === field));
  if (stray === undefined) return body;
  throw wrongField(stray.slice(0, 100), `is not known here: there are ${fields.join(', ')}`);
}
