import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { CheckedCatalogue } from '../checked.ts';
import { isOfType } from '../endpoints/request-reads.ts';
import type { JsonSchema } from '../types.ts';
import type { Fragments } from '../yaml/fragments.ts';
import { choices } from '../yaml/suggest.ts';
import { below, type Diagnostics, keyOf, type SourceLocation, type Step } from '../yaml/yaml-document.ts';
import { formats, openSchemaTrial, schemaFaults, triedValidator } from './ajv.ts';
import { type Described, describe } from './describe.ts';
import { patternFault } from './patterns.ts';
import { KEYWORDS, subschemas } from './schema-walk.ts';

/** A request schema as the gateway uses it: closed, an object, without `$ref`. */
export const closedRequest = (resolved: JsonObject): JsonSchema => ({
  ...resolved,
  type: 'object',
  additionalProperties: false,
});

/** A result schema as the gateway uses it: objects may hold more than is documented. */
export function openResult(resolved: JsonObject): JsonSchema {
  const type = resolved.type ?? 'object';
  return type === 'object' ? { ...resolved, type, additionalProperties: true } : { ...resolved, type };
}

/**
 * Reports what is wrong with a schema as it is written: keywords, fragments and formats that do not exist. True when
 * there is nothing to report.
 */
export function isWellWritten(
  location: SourceLocation,
  schema: unknown,
  fragments: Fragments,
  compiler: SchemaCompiler,
): boolean {
  const before = compiler.diagnostics.count;
  checkWritten(location, schema, fragments, compiler);
  return compiler.diagnostics.count === before;
}

const RANGES = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
  ['minContains', 'maxContains'],
] as const;

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

function checkWritten(location: SourceLocation, schema: unknown, fragments: Fragments, compiler: SchemaCompiler): void {
  const { diagnostics } = compiler;
  if (typeof schema === 'boolean') return;
  if (!isJsonObject(schema)) {
    diagnostics.add(location, 'a schema must be a map', 'write keywords such as type and properties');
    return;
  }
  for (const keyword of Object.keys(schema)) {
    if (!KEYWORDS.includes(keyword)) {
      diagnostics.add(keyOf(below(location, keyword)), `${keyword} is no JSON Schema keyword`, nearKeyword(keyword));
    }
  }
  const { $ref: reference, format } = schema;
  if (reference !== undefined && (typeof reference !== 'string' || !fragments.has(reference))) {
    diagnostics.add(
      below(location, '$ref'),
      `no fragment ${String(reference)}`,
      choices(String(reference), fragments.keys()),
    );
  }
  for (const [least, most] of RANGES) {
    const [low, high] = [schema[least], schema[most]];
    if (typeof low !== 'number' || typeof high !== 'number' || low <= high) continue;
    diagnostics.add(below(location, most), `${most} is below ${least}: nothing fits`, `write at least ${low}`);
  }
  const types = [schema.type].flat();
  const isUnknown = (type: unknown) => typeof type === 'string' && !TYPES.includes(type);
  for (const [index, type] of types.entries()) {
    if (!isUnknown(type)) continue;
    const at = below(location, 'type', ...(Array.isArray(schema.type) ? [index] : []));
    diagnostics.add(at, `not JSON Schema: ${JSON.stringify(type)} is not allowed`, choices(String(type), TYPES));
  }
  for (const { value, at } of types.some(isUnknown) ? [] : valuesOf(schema, location)) {
    if (schema.type === undefined || isOfType(value, types)) continue;
    const isText = types.includes('string') && ['number', 'boolean'].includes(typeof value);
    const expected = isText ? `write "${value}"` : `write ${types.join(' or ')}`;
    diagnostics.add(at, `${JSON.stringify(value)} is of another type than its schema: nothing fits`, expected);
  }
  for (const { pattern, at } of patternsOf(schema, location)) {
    const fault = patternFault(pattern, compiler.checked);
    if (fault) diagnostics.add(at, fault.message, fault.expected);
  }
  if (typeof format === 'string' && !formats.includes(format)) {
    diagnostics.add(below(location, 'format'), `no format ${format}`, choices(format, formats));
  }
  for (const inner of subschemas(schema))
    checkWritten(below(location, ...inner.steps), inner.schema, fragments, compiler);
}

/** Every value that a schema takes by name. */
function valuesOf(schema: JsonObject, location: SourceLocation): { value: unknown; at: SourceLocation }[] {
  const options = Array.isArray(schema.enum) ? schema.enum : [];
  return [
    ...('const' in schema ? [{ value: schema.const, at: below(location, 'const') }] : []),
    ...options.map((value, index) => ({ value, at: below(location, 'enum', index) })),
  ];
}

/** Every regular expression directly in a schema. */
function patternsOf(schema: JsonObject, location: SourceLocation): { pattern: string; at: SourceLocation }[] {
  const { pattern, patternProperties } = schema;
  const own = typeof pattern === 'string' ? [{ pattern, at: below(location, 'pattern') }] : [];
  const names = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  return [...own, ...names.map((name) => ({ pattern: name, at: keyOf(below(location, 'patternProperties', name)) }))];
}

function nearKeyword(keyword: string): string | undefined {
  const [first] = choices(keyword, KEYWORDS).split('?');
  return first?.startsWith('did you mean') ? `${first}?` : 'JSON Schema 2020-12 names the keywords';
}

interface Mistake {
  readonly path: readonly Step[];
  readonly message: string;
  readonly expected?: string | undefined;
}

interface Compiled {
  readonly validate: ValidateFunction | undefined;
  readonly mistakes: readonly Mistake[];
}

/** Compiles the schemas of requests and results, equal ones once, and reports those that are not JSON Schema. */
export class SchemaCompiler {
  readonly diagnostics: Diagnostics;
  /** What need not be checked again. */
  readonly checked: CheckedCatalogue;
  readonly #ajvs: Partial<Record<'request' | 'result', Ajv2020>> = {};
  readonly #compiled = new Map<string, Compiled>();

  constructor(diagnostics: Diagnostics, checked: CheckedCatalogue) {
    this.diagnostics = diagnostics;
    this.checked = checked;
  }

  /**
   * The validator of a resolved schema, or undefined when the schema has mistakes, which are reported at `location`.
   * Validating a request fills defaults in.
   */
  compile(
    schema: JsonSchema,
    location: SourceLocation,
    of: 'request' | 'result' = 'request',
  ): ValidateFunction | undefined {
    // Many results are one fragment with examples of their own.
    const { examples: _, ...rules } = schema;
    const key = of + JSON.stringify(rules);
    const compiled = this.#compiled.get(key) ?? this.#compile(rules, of);
    this.#compiled.set(key, compiled);
    for (const { path, message, expected } of compiled.mistakes) {
      this.diagnostics.add(below(location, ...path), message, expected);
    }
    return compiled.mistakes.length === 0 ? compiled.validate : undefined;
  }

  #compile(schema: JsonSchema, of: 'request' | 'result'): Compiled {
    const faults = schemaFaults(schema);
    if (faults.length > 0) return { validate: undefined, mistakes: notJsonSchema(faults) };
    try {
      this.#ajvs[of] ??= openSchemaTrial(of);
      const validate = this.#ajvs[of].compile(schema);
      const isFilled = of === 'request' && isJsonObject(schema.properties);
      return {
        validate,
        mistakes: [...(isFilled ? refusedDefaults(validate) : []), ...this.#refusedInside(schema, [], of)],
      };
    } catch (problem) {
      return { validate: undefined, mistakes: [refusedByAjv(problem)] };
    }
  }

  /** Defaults further in are filled in where a caller gives what they stand in; those of a result, nowhere. */
  #refusedInside(schema: JsonObject, path: readonly Step[], of: 'request' | 'result'): Mistake[] {
    return subschemas(schema).flatMap(({ steps, schema: inner }): Mistake[] => {
      if (!isJsonObject(inner)) return [];
      const place = [...path, ...steps];
      const { default: given, ...rules } = inner;
      const isOwn = given !== undefined && (path.length > 0 || of === 'result');
      const validate = isOwn ? triedValidator(rules, this.#ajvs[of]) : undefined;
      const refused = validate ? refusals(validate, given) : [];
      const name = steps.at(-1);
      const own = refused.map(({ message, expected }) => ({
        path: [...place, 'default'],
        message: `the default of ${name} is refused by its own schema: ${message}`,
        expected,
      }));
      return [...own, ...this.#refusedInside(inner, place, of)];
    });
  }
}

/** ajv says where in brackets of its own: `strict mode: ... at "#/properties/prompt" (strictTypes)`. */
function refusedByAjv(problem: unknown): Mistake {
  const text = problem instanceof Error ? problem.message : String(problem);
  const location = / (?:at|in schema at path) "#\/?([^"]*)"(?: \(\w+\))?/.exec(text);
  const path = (location?.[1] ?? '').split('/').filter((step) => step !== '');
  const message = text.replace(location?.[0] ?? '', '').replace('strict mode: ', '');
  return { path, message: `not JSON Schema: ${message}` };
}

/** The meta-schema refuses through several layers of vocabularies: what it says of the innermost value is the mistake. */
function notJsonSchema(errors: readonly ErrorObject[]): Mistake[] {
  const deepest = Math.max(...errors.map((error) => error.instancePath.length));
  const innermost = errors.filter((error) => error.instancePath.length === deepest);
  // `type` takes one of the types or a list: who wrote a word meant a type.
  const names = innermost.filter((error) => error.keyword === 'enum');
  return describe(names.length > 0 ? names : innermost).map((described) => ({
    ...described,
    message: `not JSON Schema: ${described.message}`,
  }));
}

/** Defaults are filled into an empty object: what is then wrong with a property is wrong with its default. */
function refusedDefaults(validate: ValidateFunction): Mistake[] {
  return refusals(validate, {}).flatMap(({ path, message, expected }) => {
    const [property] = path;
    if (property === undefined) return [];
    const wrong = `the default of ${property} is refused by its own schema: ${message}`;
    return [{ path: ['properties', property, 'default'], message: wrong, expected }];
  });
}

/** Why a schema refuses a value; the value is copied, since validating fills defaults in. */
export function refusals(validate: ValidateFunction, value: unknown): Described[] {
  return validate(structuredClone(value)) ? [] : describe(validate.errors ?? []);
}
