/** How the options of an `upstream:` block make a provider's fields out of the request's. */
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { AdapterDeclaration } from '../contracts.ts';
import { demandAlways, fieldsOf, isList, type RequestUse, typesOf } from '../endpoints/request-reads.ts';
import { choices, nearest } from '../yaml/suggest.ts';
import { below, type Diagnostics, keyOf, pathName, type SourceLocation } from '../yaml/yaml-document.ts';
import { type FieldTaken, fieldsTaken, isConstant, type TakenField } from './mapped-field.ts';

/** An `upstream:` block, or a role of a recipe, with the adapter that it names and its model's entry. */
export interface AdapterUse {
  readonly location: SourceLocation;
  readonly options: JsonObject;
  readonly adapter: AdapterDeclaration;
  readonly model: JsonObject;
}

interface MappedFields {
  /** Fields of the request that are read. */
  readonly read: ReadonlySet<string>;
  /** The provider's fields that some call sends. */
  readonly sent: ReadonlySet<string>;
}

const keysOf = (value: unknown): string[] => (isJsonObject(value) ? Object.keys(value) : []);

/** Reports mappings of what the request does not have, and provider fields that are missing. */
export function checkMapping(use: AdapterUse, request: RequestUse, diagnostics: Diagnostics): MappedFields {
  const { location, options, adapter, model } = use;
  const read = new Set<string>();
  for (const { option, path, field, taken } of mappedBy(use)) {
    read.add(field);
    const at = below(location, option, ...path);
    const property = fieldsOf(request)[field];
    if (property !== undefined) {
      if (taken && isJsonObject(property)) checkTaken(taken, property, at, request, diagnostics);
      continue;
    }
    const wrong = `${pathName([option, ...path])} takes the field ${field}, which ${request.name} does not have`;
    const known = keysOf(request.schema.properties);
    const isConstantMeant = request.name === 'request' && taken === undefined && nearest(field, known) === undefined;
    const constant = `; what is the same in every call is written { value: ${JSON.stringify(field)} }`;
    diagnostics.add(
      request.blame ?? (taken === undefined ? at : below(at, 'from')),
      wrong,
      choices(field, known) + (isConstantMeant ? constant : ''),
    );
  }
  const always = [...keysOf(options.fixed), ...keysOf(model.defaults)];
  for (const field of adapter.sends?.(options.result, model) ?? []) {
    if (!always.includes(field)) checkSent(field, use, request, diagnostics);
  }
  return { read, sent: new Set([...keysOf(options.input), ...always]) };
}

interface Mapped extends FieldTaken {
  readonly option: string;
}

/** Everything that properties marked `x-request-fields` take from the request. */
function mappedBy({ options, adapter }: AdapterUse): Mapped[] {
  const marked = Object.entries(isJsonObject(adapter.options.properties) ? adapter.options.properties : {});
  return marked.flatMap(([option, schema]) => {
    if (!isJsonObject(schema) || schema['x-request-fields'] !== true || !isObjectOrList(options[option])) return [];
    return fieldsTaken(options[option]).map((found) => ({ ...found, option }));
  });
}

const isObjectOrList = (value: unknown): boolean => typeof value === 'object' && value !== null;

const LEAVE_OUT = 'leave it out, or name another field';

/** Reports what a mapping would do with values that the field never has: they would be sent as they came. */
function checkTaken(
  taken: TakenField,
  property: JsonObject,
  at: SourceLocation,
  request: RequestUse,
  diagnostics: Diagnostics,
): void {
  const add = (path: readonly string[], wrong: string, expected: string) =>
    diagnostics.add(request.blame ?? keyOf(below(at, ...path)), wrong, expected);
  const { from, values, first, scale, join } = taken;
  const listed = isJsonObject(property.items) ? property.items.enum : property.enum;
  const known = Array.isArray(listed) ? listed.map(String) : keysOf(values);
  for (const value of keysOf(values).filter((each) => !known.includes(each))) {
    add(['values', value], `${request.name} takes no ${value} for ${from}`, choices(value, known));
  }
  const types = typesOf(property);
  if (types === undefined) return;
  const hasLists = types.some(isList);
  const noList = `${from} is no list in ${request.name}`;
  if (first === true && !hasLists) add(['first'], `first takes the first of a list, and ${noList}`, LEAVE_OUT);
  if (join !== undefined && !hasLists) add(['join'], `join makes one text of a list, and ${noList}`, LEAVE_OUT);
  const units = [
    ...types.filter((type) => !isList(type)),
    ...(hasLists ? (typesOf(property.items) ?? ['number']) : []),
  ];
  if (scale === undefined || units.includes('number')) return;
  add(['scale'], `scale multiplies numbers, and ${from} is ${units.join(' or ')} in ${request.name}`, LEAVE_OUT);
}

/** A provider field without which every call is refused is made from a field that every request has. */
function checkSent(
  field: string,
  { location, options, adapter }: AdapterUse,
  request: RequestUse,
  diagnostics: Diagnostics,
): void {
  const given = isJsonObject(options.input) ? options.input[field] : undefined;
  if (isConstant(given)) return;
  const source = isJsonObject(given) ? given.from : given;
  if (source === undefined) {
    const wrong = `${adapter.name} has to send ${field}, and input does not say where it comes from`;
    diagnostics.add(keyOf(below(location, 'input')), wrong, `add ${field}: <a field of the request>`);
  } else if (typeof source === 'string' && fieldsOf(request)[source] !== undefined) {
    const at = request.blame ?? below(location, 'input', field);
    demandAlways(adapter.name, source, at, request, diagnostics);
  }
}
