/** The request that callers send for an operation, and how the provider's is made from it. */
import { typesOf } from '../../catalogue/endpoints/request-reads.ts';
import { asJsonObject, type JsonObject } from '../../json.ts';
import { methods } from '../../upstream/providers/http/options.ts';
import { type Body, bodyOf, notesOnUnsent } from './body.ts';
import { exampleIn } from './examples.ts';
import { ANY_TYPE } from './keywords.ts';
import type { Operation } from './operations.ts';
import { parametersFor, readParameter } from './parameters.ts';
import type { SchemaContext } from './schema.ts';
import type { Scheme } from './security.ts';
import { fieldName, untaken } from './text.ts';
import { Unsupported } from './unsupported.ts';

export interface RequestPlan {
  readonly request: JsonObject;
  /** Keys of the endpoint's `upstream`: method, path, query, headers, body. */
  readonly upstream: JsonObject;
  /** Fields for which the document has an example. */
  readonly documented: JsonObject;
  /** Of the body, where it is said. */
  readonly contentType: string | undefined;
  readonly notes: readonly string[];
}

/** The fields of a request. */
class Fields {
  readonly properties: Record<string, JsonObject> = {};
  readonly required: string[] = [];
  readonly documented: Record<string, unknown> = {};
  readonly #taken = new Set<string>();

  /** The field's name: its own, or with its place before it where another place has that name. */
  add(place: string, name: string, schema: JsonObject, isRequired: boolean, example: unknown): string {
    const field = untaken(this.#taken.has(name) ? `${place}_${name}` : name, this.#taken, '_');
    // A field that takes anything has to say so.
    this.properties[field] = typesOf(schema) === undefined ? { ...schema, type: ANY_TYPE } : schema;
    if (isRequired) this.required.push(field);
    if (example !== undefined) this.documented[field] = example;
    return field;
  }
}

/** Throws Unsupported. */
export function planRequest(operation: Operation, scheme: Scheme | undefined, context: SchemaContext): RequestPlan {
  const { method } = operation;
  if (!methods.some((one) => one === method)) {
    throw new Unsupported(`is a ${method} request: only ${methods.join(', ')} are sold`);
  }
  const fields = new Fields();
  const { sent, notes } = addParameters(fields, operation, scheme, context);
  const body = bodyOf(operation, context);
  const upstream = { method, ...sent, ...(body && addBody(fields, body)) };
  const { required, properties, documented } = fields;
  const request = { ...(required.length > 0 && { required }), properties };
  return {
    request,
    upstream,
    documented,
    contentType: body?.contentType,
    notes: [...notes, ...(body?.notes ?? notesOnUnsent(operation, context))],
  };
}

function addParameters(fields: Fields, operation: Operation, scheme: Scheme | undefined, context: SchemaContext) {
  const notes: string[] = [];
  const query: Record<string, unknown> = {};
  const headers: Record<string, unknown> = {};
  const places = new Map<string, string>();
  for (const parameter of parametersFor(operation, scheme)) {
    const [place, name] = [String(parameter.in), String(parameter.name)];
    const { schema, join, sentAs = name, refusal, notes: found } = readParameter(parameter, context);
    const isRequired = place === 'path' || parameter.required === true;
    if (refusal !== undefined && isRequired) throw new Unsupported(`needs what cannot be carried over: ${refusal}`);
    notes.push(...(refusal === undefined ? found : [`${refusal}: left out`]));
    if (refusal !== undefined) continue;
    const field = fields.add(place, fieldName(name), schema, isRequired, exampleIn(parameter, context.root));
    if (place === 'path') places.set(name, field);
    else if (place === 'header') headers[name] = field;
    else query[sentAs] = join === undefined ? field : { from: field, join };
  }
  const path = pathWith(places, operation.path);
  const hasEntries = (map: object) => Object.keys(map).length > 0;
  return { sent: { path, ...(hasEntries(query) && { query }), ...(hasEntries(headers) && { headers }) }, notes };
}

const PLACE = /\{([^}]*)\}|(?<=\/):(\w+)(?=\/|$)/g;

/** The path with the fields of its places. Some documents write one as `/:id`. Throws Unsupported. */
function pathWith(places: ReadonlyMap<string, string>, template: string): string {
  const left = new Set(places.keys());
  const path = template.replaceAll(PLACE, (whole, braced?: string, colon?: string) => {
    const name = braced ?? colon ?? '';
    const field = places.get(name);
    left.delete(name);
    if (field !== undefined) return `{${field}}`;
    if (colon !== undefined) return whole;
    throw new Unsupported(`its path has {${name}}, and no parameter of that name`);
  });
  for (const name of left) throw new Unsupported(`has a parameter ${name} in its path, which has no {${name}}`);
  return path;
}

/** Adds the body's fields, or the body as one, and gives the keys of `upstream` that send it. */
function addBody(fields: Fields, { schema, isRequired, isFlat, example, form }: Body): JsonObject {
  const properties = Object.entries(asJsonObject(schema.properties));
  const isAlone = Object.keys(fields.properties).length === 0;
  if (!isFlat || (!isAlone && isMappingItself(properties.map(([name]) => name)))) {
    const isForm = [schema.type].flat().every((type) => type === 'object');
    if (form && (form.encoding === 'multipart' || !isForm))
      throw new Unsupported('takes a form without fields of its own');
    const body = { from: fields.add('the', 'body', schema, isRequired, example) };
    return { body, ...(form && { encoding: form.encoding }) };
  }
  // Without what objects inherit: a field may be called `constructor`.
  const examples = new Map(
    [[schema.examples].flat()[0], example].flatMap((given) => Object.entries(asJsonObject(given))),
  );
  const names = properties.map(([name, property]) => {
    const isNeeded = [schema.required].flat().includes(name);
    return [name, fields.add('body', name, asJsonObject(property), isNeeded, examples.get(name))] as const;
  });
  if (!form) return { body: isAlone ? 'input' : Object.fromEntries(names) };
  const { encoding, files, lists } = form;
  const sentAs = (name: string): string => lists.get(name)?.sentAs ?? name;
  const upload = Object.fromEntries(names.filter(([name]) => files.includes(name)));
  const others = names.filter(([name]) => !files.includes(name));
  const body = others.map(([name, field]) => {
    const join = lists.get(name)?.join;
    return [sentAs(name), join === undefined ? field : { from: field, join }];
  });
  const isItself = isAlone && others.every(([name]) => !lists.has(name));
  return {
    ...(others.length > 0 && { body: isItself ? 'input' : Object.fromEntries(body) }),
    encoding,
    ...(files.length > 0 && { upload }),
  };
}

/** `{ from: ... }` and `{ value: ... }` would be read as the mapping of one field. */
const isMappingItself = (names: readonly string[]): boolean =>
  names.every((name) => ['from', 'values', 'first', 'scale', 'join'].includes(name)) ||
  names.every((name) => name === 'value');
