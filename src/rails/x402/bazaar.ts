/**
 * The Bazaar extension of a challenge: what to send and what comes back, for agents that index paid endpoints.
 * Source: x402 specifications, extension `bazaar`.
 */
import type { JsonSchema, Route } from '../../catalogue/types.ts';
import { answerSchema, requestSchema } from '../../discovery/schemas.ts';

/**
 * Clients echo the extension inside their proof, so it must leave room for the rest of an 8 KB header. What does not
 * fit is left out in this order: the schema of the output below its members, the output's example beyond its shape,
 * descriptions of the input, its details.
 */
const LIMIT_BYTES = 3000;

const WORDS = new Set(['description', 'title', 'examples', '$comment']);

/** Keywords of schemas by name: names are no keywords. */
const NAMED = new Set(['properties', 'patternProperties', 'dependentSchemas']);

function mapSchema(value: unknown, keep: (key: string, isName: boolean) => boolean, isName = false): unknown {
  if (Array.isArray(value)) return value.map((item) => mapSchema(item, keep));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => keep(key, isName))
      .map(([key, item]) => [key, mapSchema(item, keep, !isName && NAMED.has(key))]),
  );
}

const withoutWords = (schema: JsonSchema) =>
  mapSchema(schema, (key, isName) => isName || !WORDS.has(key)) as JsonSchema;

/** Without keywords of our own: other documents have room for them. */
const standard = (schema: JsonSchema) =>
  mapSchema(schema, (key, isName) => isName || !key.startsWith('x-')) as JsonSchema;

/** Types, names and closed lists only. What is closed names all that it takes. */
function outline(schema: JsonSchema): JsonSchema {
  const shape = ['type', 'properties', 'patternProperties', 'required', 'prefixItems', 'items', 'additionalProperties'];
  const kept = new Set([...shape, 'enum']);
  return mapSchema(schema, (key, isName) => isName || kept.has(key)) as JsonSchema;
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > 60 ? `${value.slice(0, 57)}...` : value;
  if (Array.isArray(value)) return value.slice(0, 1).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item)]));
}

/** What the result is made of, without what its members are made of. */
function shallow({ type, properties }: JsonSchema): JsonSchema {
  if (typeof properties !== 'object' || properties === null) return type === undefined ? {} : { type };
  const members = Object.entries(properties as Record<string, JsonSchema>);
  const types = members.map(([name, member]) => [name, member.type === undefined ? {} : { type: member.type }]);
  return { type, properties: Object.fromEntries(types) };
}

interface Described {
  readonly request: JsonSchema;
  readonly result: JsonSchema;
  readonly example: unknown;
}

function extension(route: Route, { request, result, example }: Described): object {
  const method = route.methods[0];
  const get = method === 'GET';
  const input = get
    ? { type: 'http', method, queryParams: route.example }
    : { type: 'http', method, bodyType: 'json', body: route.example };
  const inputSchema = {
    type: 'object',
    properties: {
      type: { type: 'string', const: 'http' },
      method: { type: 'string', enum: [method] },
      ...(get ? { queryParams: request } : { bodyType: { type: 'string', enum: ['json'] }, body: request }),
    },
    required: get ? ['type', 'method'] : ['type', 'method', 'bodyType', 'body'],
    additionalProperties: false,
  };
  return {
    bazaar: {
      info: { input, output: { type: 'json', example } },
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          input: inputSchema,
          output: { type: 'object', properties: { type: { type: 'string' }, example: result }, required: ['type'] },
        },
        required: ['input'],
      },
    },
  };
}

/** `extensions` of the route's challenge. */
export function discoveryExtension(route: Route): object {
  const { resultExample } = route;
  const request = standard(requestSchema(route));
  const answer = outline(answerSchema(route));
  const short = shortened(resultExample);
  const attempts: Described[] = [
    { request, result: answer, example: resultExample },
    { request, result: shallow(answer), example: resultExample },
    { request, result: shallow(answer), example: short },
    { request: withoutWords(request), result: shallow(answer), example: short },
    { request: withoutWords(request), result: { type: answer.type }, example: short },
    { request: outline(request), result: shallow(answer), example: short },
  ];
  for (const attempt of attempts) {
    const candidate = extension(route, attempt);
    if (Buffer.byteLength(JSON.stringify(candidate)) <= LIMIT_BYTES) return candidate;
  }
  return extension(route, {
    request: { type: 'object', required: request.required ?? [] },
    result: { type: answer.type },
    example: answer.type === 'array' ? [] : {},
  });
}
