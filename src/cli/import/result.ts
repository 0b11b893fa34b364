/** What an operation answers. */
import { isDeepStrictEqual } from 'node:util';
import { mapSubschemas } from '../../catalogue/schemas/schema-walk.ts';
import { openResult } from '../../catalogue/schemas/schemas.ts';
import { asJsonObject, isJsonObject, type JsonObject } from '../../json.ts';
import type { MediaKind } from '../../upstream/media/type.ts';
import { isPlainJson, jsonIn, typesIn } from './body.ts';
import { withNull } from './dialect.ts';
import { resolved } from './document.ts';
import { exampleIn, resultExample } from './examples.ts';
import { ANY_TYPE, BOUNDS } from './keywords.ts';
import type { Operation } from './operations.ts';
import { type Converted, convertSchema, type SchemaContext } from './schema.ts';
import { shortened } from './text.ts';
import { Unsupported } from './unsupported.ts';

export interface ImportedResult extends Converted {
  /** Where the answer is a file. */
  readonly file?: MediaKind;
  /** The type to ask for, where the provider may answer with another. */
  readonly accept?: string | undefined;
}

/**
 * The schema of the good answers in JSON, with an example of the first; else of a picture, a sound, a film, a text or a PDF. Throws
 * Unsupported where there is none of these.
 */
export function resultOf({ source }: Operation, context: SchemaContext): ImportedResult {
  const responses = Object.entries(asJsonObject(source.responses))
    .filter(([status]) => /^2/.test(status))
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, given]) => resolved(context.root, given));
  const ofJson = responses.filter(({ content }) => jsonIn(content) !== undefined);
  // One that does not say what it holds may hold anything.
  const response = ofJson.find(({ content }) => jsonIn(content)?.media.schema !== undefined) ?? ofJson[0];
  const json = jsonIn(response?.content);
  if (!response || !json) {
    return (
      fileResult(responses, MEDIA) ??
      textResult(responses, context.root) ??
      fileResult(responses, ['document']) ??
      refuse(whyNone(responses))
    );
  }
  const { mediaType, media } = json;
  const schemaOf = (each: unknown) => convertSchema(each, 'result', 'result', context);
  const first = schemaOf(media.schema);
  const { schema: strict } = first;
  if (asJsonObject(strict).format === 'binary') throw new Unsupported('answers with a file of any sort');
  const [, ...others] = responses.flatMap(({ content: each }) => jsonIn(each)?.media.schema ?? []);
  const converted = [first, ...others.map(schemaOf)];
  const notes = converted.flatMap((each) => each.notes);
  const either = anyOf(converted.map((each) => asAnything(each.schema)));
  const isEmpty = responses.some(({ content }) => typesIn(content) === '');
  const schema = isEmpty ? withNull(either) : either;
  const example = resultExample(openResult(schema), strict, [exampleIn(media, context.root)]);
  const description = shortened(String(response.description ?? ''), 300);
  return {
    schema: {
      ...(strict.description === undefined && description !== '' && { description }),
      ...schema,
      ...(example !== undefined && { examples: [example] }),
    },
    notes: isEmpty ? [...notes, 'an answer that is empty is sold as null'] : notes,
    accept: acceptFor(mediaType, response.content),
  };
}

/** Whatever fits a schema, with an example. */
export function valueResult(source: unknown, context: SchemaContext): ImportedResult {
  const { schema: strict, notes } = convertSchema(source, 'result', 'result', context);
  const schema = asAnything(strict);
  const example = resultExample(openResult(schema), strict, []);
  return { schema: { ...schema, ...(example !== undefined && { examples: [example] }) }, notes };
}

const asAnything = (schema: JsonObject): JsonObject => ({ type: ANY_TYPE, ...(loosened(schema) as JsonObject) });

/** The schema of what fits one of them: of several good answers a provider may give any. */
function anyOf(schemas: readonly JsonObject[]): JsonObject {
  const isFirst = (schema: JsonObject, index: number) =>
    schemas.findIndex((one) => isDeepStrictEqual(one, schema)) === index;
  const [first = {}, ...others] = schemas.filter(isFirst);
  return others.length === 0 ? first : { type: ANY_TYPE, anyOf: [first, ...others] };
}

/** Whether an object that tells of an error, and holds nothing else, fits the schema of a result. */
export function asksForNothing(result: unknown): boolean {
  const { type = 'object', required = [], ...others } = asJsonObject(result);
  const isObject = [type].flat().includes('object');
  if (isObject && Array.isArray(others.anyOf) && others.anyOf.some(asksForNothing)) return true;
  return isObject && [required].flat().length === 0 && !['anyOf', 'oneOf', 'allOf'].some((each) => each in others);
}

/** Providers answer with what they like best where nobody says what he takes. */
const acceptFor = (mediaType: string, content: unknown): string | undefined => {
  const isOnly = Object.keys(asJsonObject(content)).length === 1;
  return isOnly && isPlainJson(mediaType) ? undefined : mediaType;
};

/** What the adapter http answers where its answer is a file. */
function fileResult(responses: readonly JsonObject[], kinds: readonly MediaKind[]): ImportedResult | undefined {
  const types = responses.flatMap(({ content }) => Object.keys(asJsonObject(content)));
  const found = types.find((type) => kinds.some((kind) => kind === kindOf(type)));
  const file = found && kindOf(found);
  if (!found || !file) return undefined;
  const url = `${file}_url`;
  const properties = { [url]: { type: 'string' }, type: { type: 'string' }, bytes: { type: 'integer' } };
  const example = { [url]: `https://files.example.com/1`, type: found, bytes: 20_480 };
  return {
    schema: { type: 'object', required: [url, 'type', 'bytes'], properties, examples: [example] },
    notes: [],
    file,
    accept: types.length > 1 ? found : undefined,
  };
}

const TEXT = /^text\/(?:plain|csv|tab-separated-values|markdown|vtt)(?:;|$)/i;

function textResult(responses: readonly JsonObject[], root: JsonObject): ImportedResult | undefined {
  const [found] = responses.flatMap(({ content }) =>
    Object.entries(asJsonObject(content)).filter(([type]) => TEXT.test(type)),
  );
  if (!found) return undefined;
  const [type, media] = found;
  const given = exampleIn(asJsonObject(media), root);
  const example = typeof given === 'string' && given !== '' ? given : 'a text';
  return { schema: { type: 'string', minLength: 1, examples: [example] }, notes: [], accept: type };
}

function refuse(reason: string): never {
  throw new Unsupported(reason);
}

function whyNone(responses: readonly JsonObject[]): string {
  const types = responses.map(({ content }) => typesIn(content)).filter((names) => names !== '');
  return types.length === 0 ? 'has no answer to sell' : `answers ${types.join(', ')}, which is not sold`;
}

const MEDIA = ['image', 'audio', 'video'] as const satisfies readonly MediaKind[];

function kindOf(type: string): MediaKind | undefined {
  if (/^application\/pdf(?:;|$)/i.test(type)) return 'document';
  return MEDIA.find((kind) => type.startsWith(`${kind}/`) && !type.includes('svg'));
}

const LET_GO: readonly string[] = [...BOUNDS, 'format', 'uniqueItems', 'examples'];

/**
 * The schema by types, required members and enums alone: a provider that is sloppy about a format or a bound still answers
 * what was paid for.
 */
function loosened(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => !LET_GO.includes(keyword));
  return mapSubschemas(Object.fromEntries(kept), loosened);
}
