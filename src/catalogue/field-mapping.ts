/** How the options of an `upstream:` block make a provider's fields out of the request's. */
import { isJsonObject, type JsonObject } from '../json.ts';
import type { AdapterDeclaration } from './contracts.ts';
import { demandAlways, fieldsOf, type RequestUse } from './request-reads.ts';
import { choices } from './suggest.ts';
import { below, type Diagnostics, keyOf, type SourceLocation } from './yaml-document.ts';

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
  for (const { option, target, field, values } of mappedBy(use)) {
    read.add(field);
    const at = below(location, option, target);
    if (fieldsOf(request)[field] !== undefined) {
      checkValues(values, field, below(at, 'values'), request, diagnostics);
      continue;
    }
    const wrong = `${option}.${target} takes the field ${field}, which ${request.name} does not have`;
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

interface Mapped {
  readonly option: string;
  readonly target: string;
  readonly field: string;
  /** What a nested mapping renames; undefined where the field is named by itself. */
  readonly values: JsonObject | undefined;
}

/** Everything that properties marked `x-request-fields` take from the request. */
function mappedBy({ options, adapter }: AdapterUse): Mapped[] {
  const marked = Object.entries(isJsonObject(adapter.options.properties) ? adapter.options.properties : {});
  return marked.flatMap(([option, schema]) => {
    const mapping = options[option];
    if (!isJsonObject(schema) || schema['x-request-fields'] !== true || !isJsonObject(mapping)) return [];
    return Object.entries(mapping).flatMap(([target, source]): Mapped[] => {
      const field = isJsonObject(source) ? source.from : source;
      if (typeof field !== 'string') return [];
      const values = isJsonObject(source) ? (isJsonObject(source.values) ? source.values : {}) : undefined;
      return [{ option, target, field, values }];
    });
  });
}

/** What a mapping renames is a value that the field takes. */
function checkValues(
  values: JsonObject | undefined,
  field: string,
  at: SourceLocation,
  request: RequestUse,
  diagnostics: Diagnostics,
): void {
  const property = fieldsOf(request)[field];
  if (!isJsonObject(property) || !Array.isArray(property.enum)) return;
  const taken = property.enum.map(String);
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
  const source = isJsonObject(given) ? given.from : given;
  if (source === undefined) {
    const wrong = `${adapter.name} has to send ${field}, and input does not say where it comes from`;
    diagnostics.add(keyOf(below(location, 'input')), wrong, `add ${field}: <a field of the request>`);
  } else if (typeof source === 'string' && fieldsOf(request)[source] !== undefined) {
    const at = request.blame ?? below(location, 'input', field);
    demandAlways(adapter.name, source, at, request, diagnostics);
  }
}
