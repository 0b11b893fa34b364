/** Bodies that are forms. */
import { isList, nestedIn, typesOf } from '../../catalogue/endpoints/request-reads.ts';
import { asJsonObject, asJsonObjects, type JsonObject } from '../../json.ts';
import { resolved } from './document.ts';
import { exampleIn } from './examples.ts';
import { isFlat, tidied } from './keywords.ts';
import { type ListStyle, listStyle } from './parameters.ts';
import { convertSchema, type SchemaContext } from './schema.ts';
import { Unsupported } from './unsupported.ts';

/** How a body is written that is a form. */
export interface Form {
  readonly encoding: 'form' | 'multipart';
  /** Fields that are files: callers give their addresses. */
  readonly files: readonly string[];
  /** Lists that are not sent by repeating their name. */
  readonly lists: ReadonlyMap<string, ListStyle>;
}

interface FormBody {
  readonly schema: JsonObject;
  readonly isFlat: boolean;
  readonly example: unknown;
  readonly form: Form;
  readonly notes: readonly string[];
}

const FORMS: readonly (readonly [type: RegExp, encoding: Form['encoding']])[] = [
  [/^application\/x-www-form-urlencoded(?:;|$)/i, 'form'],
  [/^multipart\/form-data(?:;|$)/i, 'multipart'],
];

/** The forms that a body may be. */
const formsIn = (content: unknown): { readonly encoding: Form['encoding']; readonly media: JsonObject }[] => {
  const types = Object.entries(asJsonObject(content));
  return FORMS.flatMap(([type, encoding]) =>
    types.filter(([name]) => type.test(name)).map(([, media]) => ({ encoding, media: asJsonObject(media) })),
  );
};

/** Whether a body of another type would hold files, which the parts of a form alone can be, and the document offers that. */
export const isBetterInParts = (media: JsonObject, content: unknown, { root }: SchemaContext): boolean =>
  filesIn(media, root).length > 0 && formsIn(content).some(({ encoding }) => encoding === 'multipart');

/** The form that a body may be; undefined where it may be none. Throws Unsupported. */
export function formIn(content: unknown, context: SchemaContext): FormBody | undefined {
  const { root } = context;
  const found = formsIn(content).find(
    ({ encoding, media }) => encoding === 'multipart' || !isBetterInParts(media, content, context),
  );
  if (!found) return undefined;
  const { encoding, media } = found;
  const files = encoding === 'multipart' ? filesIn(media, root) : [];
  const { schema: given, notes } = convertSchema(media.schema, 'request', 'body', context);
  const { schema, left } = withAddresses(given, files, encoding);
  return {
    schema,
    isFlat: isFlat(schema),
    example: files.length > 0 ? undefined : exampleIn(media, root),
    form: { encoding, files, lists: listsIn(schema, asJsonObject(media.encoding)) },
    notes: [...notes, ...left.map((name) => `body.${name} is a part with members: left out`)],
  };
}

/** The fields that are files, or lists of them: by their schemas, or by how their parts are written. */
function filesIn({ schema, encoding }: JsonObject, root: JsonObject): string[] {
  const written = Object.entries(asJsonObject(encoding)).filter(([, how]) =>
    FILES.test(String(asJsonObject(how).contentType)),
  );
  return [...new Set([...filesOf(schema, root), ...written.map(([name]) => name)])];
}

const FILES = /\b(?:image|audio|video)\/|\boctet-stream\b/i;

/** The fields of a schema that are files, or lists of them. */
function filesOf(source: unknown, root: JsonObject, within: readonly JsonObject[] = []): string[] {
  const schema = resolved(root, source);
  if (within.includes(schema)) return [];
  const { properties, allOf } = schema;
  const own = Object.entries(asJsonObject(properties)).filter(([, property]) => {
    const { items, ...itself } = resolved(root, property);
    return isFile(itself) || isFile(resolved(root, items));
  });
  return [
    ...own.map(([name]) => name),
    ...[allOf ?? []].flat().flatMap((part) => filesOf(part, root, [...within, schema])),
  ];
}

/** OpenAPI 3.0 says `format: binary`, 3.1 the type of what is in the file. */
const isFile = ({ format, contentMediaType, contentEncoding, anyOf, oneOf }: JsonObject): boolean =>
  format === 'binary' ||
  (contentMediaType !== undefined && contentEncoding === undefined) ||
  [...asJsonObjects(anyOf), ...asJsonObjects(oneOf)].some(isFile);

/** In a list of which the document does not say how many it takes: each file that a caller names is read. */
const USUAL_FILES = 10;

const ADDRESS = { type: 'string', format: 'uri', pattern: '^https://', maxLength: 2048 };

/** The schema with addresses of files in their place, and without the parts of a form that no form has. Throws Unsupported. */
function withAddresses(schema: JsonObject, files: readonly string[], encoding: Form['encoding']) {
  const left: string[] = [];
  const fields = Object.entries(asJsonObject(schema.properties)).flatMap(([name, property]) => {
    if (files.includes(name)) return [[name, addressIn(asJsonObject(property))]];
    const isNested = encoding === 'multipart' && nestedIn(property) !== undefined;
    if (!isNested) return [[name, property]];
    if ([schema.required].flat().includes(name)) {
      throw new Unsupported(`needs what cannot be carried over: body.${name} is a part with members`);
    }
    left.push(name);
    return [];
  });
  return { schema: fields.length === 0 ? schema : { ...schema, properties: Object.fromEntries(fields) }, left };
}

function addressIn(property: JsonObject): JsonObject {
  const words = typeof property.description === 'string' ? ` ${property.description}` : '';
  const description = `The https address of a file.${words}`;
  if (!typesOf(property)?.some(isList)) return { ...ADDRESS, description };
  const { minItems } = property;
  const maxItems = property.maxItems ?? Math.max(USUAL_FILES, Number(minItems ?? 0));
  return tidied({ type: 'array', items: ADDRESS, minItems, maxItems, description });
}

function listsIn(schema: JsonObject, encoding: JsonObject): Map<string, ListStyle> {
  const lists = Object.entries(asJsonObject(schema.properties)).flatMap(([name, property]) => {
    const said = asJsonObject(encoding[name]);
    const isOfTexts = typesOf(property)?.some(isList) && nestedIn(property) === undefined;
    return isOfTexts && said.style !== undefined ? [[name, listStyle({ ...said, name })] as const] : [];
  });
  return new Map(lists);
}
