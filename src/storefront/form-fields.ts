/** A request's fields as a form has them. */
import type { JsonSchema, Route } from '../catalogue/types.ts';
import { requestFields, requiredFields } from '../discovery/schemas.ts';

/** `lines`: a list of texts, one a line; `json`: whatever has no simpler form. */
export type FieldKind = 'text' | 'long' | 'choice' | 'boolean' | 'integer' | 'number' | 'lines' | 'json';

export interface FormField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  readonly description: string;
  /** What it takes, in words: `4 to 30, whole`. Empty where everything of its kind. */
  readonly takes: string;
  readonly choices: readonly string[];
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  /** What is meant where it is left out, as the form would have it; empty: nothing is. */
  readonly default: string;
  /** What the form begins with. */
  readonly initial: string;
}

const LONG_TEXT = 200;

const typesOf = ({ type }: JsonSchema): readonly unknown[] => [type].flat().filter((each) => each !== 'null');

const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

const isWhole = (schema: JsonSchema): boolean => typesOf(schema)[0] === 'integer' || schema['x-whole'] === true;

function choicesOf(schema: JsonSchema): readonly string[] {
  const { enum: values } = schema;
  return Array.isArray(values) && values.every((value) => typeof value === 'string') ? values : [];
}

function kindOf(name: string, schema: JsonSchema): FieldKind {
  const [type, ...others] = typesOf(schema);
  if (others.length > 0) return 'json';
  switch (type) {
    case 'string': {
      if (choicesOf(schema).length > 0) return 'choice';
      const isShort =
        schema.format !== undefined || schema.pattern !== undefined || Number(schema.maxLength) <= LONG_TEXT;
      return isShort && name !== 'prompt' ? 'text' : 'long';
    }
    case 'boolean':
      return 'boolean';
    case 'integer':
    case 'number':
      return isWhole(schema) ? 'integer' : 'number';
    case 'array': {
      const items = (schema.items ?? {}) as JsonSchema;
      return typesOf(items)[0] === 'string' && choicesOf(items).length === 0 ? 'lines' : 'json';
    }
    default:
      return 'json';
  }
}

const range = (least: number | undefined, most: number | undefined, unit = ''): string => {
  if (least === undefined && most === undefined) return '';
  if (least === undefined) return `at most ${most}${unit}`;
  return most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`;
};

/** The bounds of a schema in words. */
export function takesInWords(schema: JsonSchema): string {
  const [type] = typesOf(schema);
  const words: string[] = [];
  if (type === 'integer' || type === 'number') {
    words.push(range(number(schema.minimum), number(schema.maximum)), isWhole(schema) ? 'whole' : '');
  }
  if (type === 'string') {
    const least = Number(schema.minLength ?? 0) > 1 ? number(schema.minLength) : undefined;
    words.push(range(least, number(schema.maxLength), ' characters'));
    if (schema.format === 'uri') words.push('a web address');
    if (typeof schema['x-minimum'] === 'string') words.push(`${schema['x-minimum']} to ${schema['x-maximum']} USD`);
  }
  if (type === 'array') words.push(range(number(schema.minItems), number(schema.maxItems), ' of them'));
  return words.filter((word) => word !== '').join(', ');
}

/** A value as the form's field holds it. */
function asText(kind: FieldKind, value: unknown): string {
  if (value === undefined) return '';
  if (kind === 'lines' && Array.isArray(value)) return value.join('\n');
  return kind === 'json' ? JSON.stringify(value, undefined, 1) : String(value);
}

/** In the order of the schema, the required ones first. The form begins with the example. */
export function formFields(route: Route): FormField[] {
  const required = requiredFields(route);
  const fields = requestFields(route).map(([name, schema]): FormField => {
    const kind = kindOf(name, schema);
    return {
      name,
      kind,
      isRequired: required.includes(name),
      description: typeof schema.description === 'string' ? schema.description : '',
      takes: takesInWords(schema),
      choices: kind === 'boolean' ? ['true', 'false'] : choicesOf(schema),
      minimum: number(schema.minimum),
      maximum: number(schema.maximum),
      default: asText(kind, schema.default),
      initial: asText(kind, route.example[name]),
    };
  });
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
}
