/** Queries and headers are lines of text: they hold single values and lists of them. */
import type { OptionFault } from '../../../catalogue/contracts.ts';
import { nestedIn } from '../../../catalogue/endpoints/request-reads.ts';
import type { JsonSchema } from '../../../catalogue/types.ts';
import { fieldsTaken, type MappedField } from '../../../catalogue/upstreams/mapped-field.ts';
import { isJsonObject } from '../../../json.ts';
import type { InputMapping } from '../../input-mapping.ts';

/** What is sent whatever a request holds, or in place of one of its values. */
export const constantsOf = (source: MappedField): unknown[] => {
  if (typeof source === 'string') return [];
  return 'value' in source ? [source.value] : Object.values(source.values ?? {});
};

const isUnwritable = (value: unknown): boolean =>
  isJsonObject(value) || (Array.isArray(value) && value.some((item) => isJsonObject(item) || Array.isArray(item)));

/** Fields that `query` or `headers` takes and that a line of text cannot hold: the provider would be asked for something else. */
export function flatFaults(
  option: 'query' | 'headers',
  mapping: InputMapping | undefined,
  request: JsonSchema,
): OptionFault[] {
  const properties = isJsonObject(request.properties) ? request.properties : {};
  return Object.entries(mapping ?? {}).flatMap(([name, source]): OptionFault[] => {
    const place = option === 'query' ? 'a query' : 'a header';
    const wrong = constantsOf(source).find(isUnwritable);
    if (wrong !== undefined) {
      const message = `${place} takes texts, numbers, booleans and lists of them, and not ${JSON.stringify(wrong)}`;
      return [{ path: [option, name], message, expected: 'write it as a text, as the provider wants it' }];
    }
    const field = fieldsTaken(source)[0]?.field;
    const nested = field === undefined ? undefined : nestedIn(properties[field]);
    if (nested === undefined) return [];
    const message = `${place} takes texts, numbers, booleans and lists of them, and ${field} may ${nested}`;
    return [{ path: [option, name], message, expected: 'name its members in a body, or give it another type' }];
  });
}
