/** A JSON Schema for people: each field with what it holds. */
import type { JsonSchema } from '../../catalogue/types.ts';
import { takesInWords } from '../form-fields.ts';

/** Deeper ones are said to be objects. */
const DEEPEST = 4;

const asSchema = (value: unknown): JsonSchema =>
  typeof value === 'object' && value !== null ? (value as JsonSchema) : {};

const entries = (schema: JsonSchema): [string, JsonSchema][] =>
  Object.entries(asSchema(schema.properties)).map(([name, value]) => [name, asSchema(value)]);

/** `text`, `list of numbers`, `one of a, b`. */
function typeInWords(schema: JsonSchema): string {
  const { enum: values, const: constant, anyOf, oneOf } = schema;
  if (constant !== undefined) return `always ${JSON.stringify(constant)}`;
  if (Array.isArray(values)) return `one of ${values.map(String).join(', ')}`;
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices) && schema.type === undefined) {
    return choices.map((choice) => typeInWords(asSchema(choice))).join(' or ');
  }
  const types = [schema.type].flat().map((type) => {
    if (type !== 'array') return type === 'string' ? 'text' : String(type ?? 'anything');
    return `list of ${typeInWords(asSchema(schema.items))}`;
  });
  const takes = takesInWords(schema);
  return [types.join(' or '), takes].filter((text) => text !== '').join(', ');
}

const inside = (schema: JsonSchema): JsonSchema => (schema.type === 'array' ? asSchema(schema.items) : schema);

export function Fields({ schema, depth = 0 }: { schema: JsonSchema; depth?: number }) {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return (
    <dl class="schema">
      {entries(schema).map(([name, field]) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
            {!required.includes(name) && <span class="quiet"> optional</span>}
          </dt>
          <dd>
            <span class="type">{typeInWords(field)}</span>
            {field.default !== undefined && <span class="quiet"> default {JSON.stringify(field.default)}</span>}
            {typeof field.description === 'string' && <p>{field.description}</p>}
            {depth < DEEPEST && entries(inside(field)).length > 0 && (
              <Fields schema={inside(field)} depth={depth + 1} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
