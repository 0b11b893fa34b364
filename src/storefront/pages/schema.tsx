/** A JSON Schema for people: each field with what it holds. */
import type { JsonSchema } from '../../catalogue/types.ts';
import { asJsonObject } from '../../json.ts';
import { typeInWords } from '../in-words.ts';

/** Deeper ones are said to be objects. */
const DEEPEST = 4;

const entries = (schema: JsonSchema): [string, JsonSchema][] =>
  Object.entries(asJsonObject(schema.properties)).map(([name, value]) => [name, asJsonObject(value)]);

const inside = (schema: JsonSchema): JsonSchema => (schema.type === 'array' ? asJsonObject(schema.items) : schema);

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
