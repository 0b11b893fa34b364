/** What a JSON Schema takes, for people. */
import type { JsonSchema } from '../catalogue/types.ts';
import { asJsonObject } from '../json.ts';

export const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** Without null. */
export const typesOf = ({ type }: JsonSchema): readonly unknown[] => [type].flat().filter((each) => each !== 'null');

export const isWhole = (schema: JsonSchema): boolean => typesOf(schema)[0] === 'integer' || schema['x-whole'] === true;

const range = (least: number | undefined, most: number | undefined, unit = ''): string => {
  if (least === undefined && most === undefined) return '';
  if (least === undefined) return `at most ${most}${unit}`;
  return most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`;
};

/** Its bounds: `4 to 30, whole`. Empty where everything of its type. */
export function takesInWords(schema: JsonSchema): string {
  const [type] = typesOf(schema);
  const words: string[] = [];
  if (type === 'integer' || type === 'number') {
    words.push(range(numberIn(schema.minimum), numberIn(schema.maximum)), isWhole(schema) ? 'whole' : '');
  }
  if (type === 'string') {
    const least = Number(schema.minLength ?? 0) > 1 ? numberIn(schema.minLength) : undefined;
    words.push(range(least, numberIn(schema.maxLength), ' characters'));
    if (schema.format === 'uri') words.push('a web address');
    if (typeof schema['x-minimum'] === 'string') words.push(`${schema['x-minimum']} to ${schema['x-maximum']} USD`);
  }
  if (type === 'array') words.push(range(numberIn(schema.minItems), numberIn(schema.maxItems), ' of them'));
  return words.filter((word) => word !== '').join(', ');
}

/** `text`, `list of numbers`, `one of a, b`. */
export function typeInWords(schema: JsonSchema): string {
  const { enum: values, const: constant, anyOf, oneOf } = schema;
  if (constant !== undefined) return `always ${JSON.stringify(constant)}`;
  if (Array.isArray(values)) return `one of ${values.map(String).join(', ')}`;
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices) && schema.type === undefined) {
    return choices.map((choice) => typeInWords(asJsonObject(choice))).join(' or ');
  }
  const types = [schema.type].flat().map((type) => {
    if (type !== 'array') return type === 'string' ? 'text' : String(type ?? 'anything');
    return `list of ${typeInWords(asJsonObject(schema.items))}`;
  });
  return [types.join(' or '), takesInWords(schema)].filter((text) => text !== '').join(', ');
}
