/** A request's fields as a form has them. */
import type { JsonSchema, Route } from '../catalogue/types.ts';
import { requestFields, requiredFields } from '../discovery/schemas.ts';
import { isWhole, numberIn, takesInWords, typeInWords, typesOf } from './in-words.ts';

/** `lines`: a list of texts, one a line; `json`: whatever has no simpler form. */
export type FieldKind = 'text' | 'long' | 'boolean' | 'integer' | 'number' | 'lines' | 'json';

export interface FormField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  readonly description: string;
  /** What it takes, in words: `4 to 30, whole`. Empty where everything of its kind. */
  readonly takes: string;
  /** All that it takes, where that is a list. */
  readonly choices: readonly string[];
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  /** What is meant where it is left out, as the form would have it; empty: nothing is. */
  readonly default: string;
  /** What the form begins with. */
  readonly initial: string;
}

const LONG_TEXT = 200;

/** Of a list of texts or of numbers. What is left out stands for null. */
function choicesOf(schema: JsonSchema): readonly string[] {
  const [type, ...others] = typesOf(schema);
  if (type === 'boolean' && others.length === 0) return ['true', 'false'];
  const values = (Array.isArray(schema.enum) ? schema.enum : []).filter((value) => value !== null && value !== '');
  const isAlike = ['string', 'number'].some((kind) => values.every((value) => typeof value === kind));
  return isAlike ? values.map(String) : [];
}

function kindOf(name: string, schema: JsonSchema): FieldKind {
  const [type, ...others] = typesOf(schema);
  if (others.length > 0) return 'json';
  switch (type) {
    case 'string': {
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
      const [itemType, ...otherTypes] = typesOf(items);
      return itemType === 'string' && otherTypes.length === 0 ? 'lines' : 'json';
    }
    default:
      return 'json';
  }
}

/** A value as the form's field holds it. */
function asText(kind: FieldKind, value: unknown): string {
  if (value === undefined || (value === null && kind !== 'json')) return '';
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
      takes: kind === 'lines' || kind === 'json' ? typeInWords(schema) : takesInWords(schema),
      choices: kind === 'json' ? [] : choicesOf(schema),
      minimum: numberIn(schema.minimum),
      maximum: numberIn(schema.maximum),
      default: asText(kind, schema.default),
      initial: asText(kind, route.example[name]),
    };
  });
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
}
