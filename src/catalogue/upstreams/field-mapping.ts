/** How the options of an `upstream:` block make a provider's fields out of the request's. */
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { AdapterDeclaration } from '../contracts.ts';
import { demandAlways, fieldsOf, type RequestUse } from '../endpoints/request-reads.ts';
import { choices } from '../yaml/suggest.ts';
import { below, type Diagnostics, keyOf, pathName, type SourceLocation } from '../yaml/yaml-document.ts';
import { type FieldTaken, fieldsTaken, isConstant } from './mapped-field.ts';

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
  for (const { option, path, field, values } of mappedBy(use)) {
    read.add(field);
    const at = below(location, option, ...path);
    if (fieldsOf(request)[field] !== undefined) {
      checkValues(values, field, below(at, 'values'), request, diagnostics);
      continue;
    }
    const wrong = `${pathName([option, ...path])} takes the field ${field}, which ${request.name} does not have`;
    diagnostics.add(
      request.blame ?? (values === undefined ? at : below(at, 'from')),
      wrong,
      choices(field, keysOf(request.schema.properties)),
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

/** What a mapping renames is a value that the field takes, or an item of it. */
function checkValues(
  values: FieldTaken['values'],
  field: string,
  at: SourceLocation,
  request: RequestUse,
  diagnostics: Diagnostics,
): void {
  const property = fieldsOf(request)[field];
  if (!isJsonObject(property)) return;
  const listed = isJsonObject(property.items) ? property.items.enum : property.enum;
  if (!Array.isArray(listed)) return;
  const taken = listed.map(String);
  for (const value of keysOf(values)) {
    if (taken.includes(value)) continue;
    const wrong = `${request.name} takes no ${value} for ${field}`;
    diagnostics.add(request.blame ?? keyOf(below(at, value)), wrong, choices(value, taken));
  }
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
