/**
 * `uniqueItems`: Ajv compares every item with every other where they may be objects or lists, and the fifty thousand that a
 * body may have take it a minute. Equal values have one canonical text, so each item is looked at once.
 */
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import { canonicalJson } from '../../canonical-json.ts';

/** The places of the first two that are equal. */
function equalsIn(items: readonly unknown[]): readonly [first: number, second: number] | undefined {
  const places = new Map<string, number>();
  for (const [place, item] of items.entries()) {
    const text = canonicalJson(item);
    const first = places.get(text);
    if (first !== undefined) return [first, place];
    places.set(text, place);
  }
  return undefined;
}

interface Check {
  (isWanted: boolean, items: readonly unknown[]): boolean;
  errors?: Partial<ErrorObject>[];
}

/** Takes the place of Ajv's own keyword, with the same message, and in the same order. */
export function addUniqueItems(ajv: Ajv2020): void {
  const validate: Check = (isWanted, items) => {
    const equals = isWanted ? equalsIn(items) : undefined;
    if (!equals) return true;
    const [j, i] = equals;
    const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`;
    validate.errors = [{ keyword: 'uniqueItems', message, params: { i, j } }];
    return false;
  };
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', before: 'prefixItems', validate });
}
