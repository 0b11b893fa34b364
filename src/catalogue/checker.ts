import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonObject } from '../json.ts';
import { type CheckedCatalogue, digest } from './checked.ts';
import { openFileChecker } from './schemas/ajv.ts';
import { needCompiling } from './schemas/compiling.ts';
import { describe } from './schemas/describe.ts';
import { below, type Diagnostics, keyOf, type SourceLocation } from './yaml/yaml-document.ts';

/** Checks pieces of files against schemas and reports what does not fit at its place. */
export class Checker {
  readonly diagnostics: Diagnostics;
  readonly #checked: Pick<CheckedCatalogue, 'has' | 'add'> | undefined;
  #ajv: Ajv2020 | undefined;
  readonly #validators = new Map<object, ValidateFunction>();
  readonly #names = new Map<object, string>();

  /**
   * What `checked` knows to fit is taken to, and what is found to is added. Throws ConfigProblem where Node compiles no
   * validators.
   */
  constructor(diagnostics: Diagnostics, checked?: Pick<CheckedCatalogue, 'has' | 'add'>) {
    needCompiling();
    this.diagnostics = diagnostics;
    this.#checked = checked;
  }

  /** True when the value fits. A schema is compiled once, so hand in the same object again. */
  fits(location: SourceLocation, value: unknown, schema: JsonObject): boolean {
    const name = this.#names.get(schema) ?? digest(schema);
    this.#names.set(schema, name);
    if (this.#checked?.has(name, value)) return true;
    const validate = this.#validatorOf(schema);
    if (validate(value)) {
      this.#checked?.add(name, value);
      return true;
    }
    const source = (path: SourceLocation['path']) => location.document.source([...location.path, ...path]);
    for (const { path, part, message, expected } of describe(validate.errors ?? [], source)) {
      const where = below(location, ...path);
      this.diagnostics.add(part === 'key' ? keyOf(where) : where, message, expected);
    }
    return false;
  }

  #validatorOf(schema: JsonObject): ValidateFunction {
    this.#ajv ??= openFileChecker();
    const validate = this.#validators.get(schema) ?? this.#ajv.compile(schema);
    this.#validators.set(schema, validate);
    return validate;
  }
}

const closed = new WeakMap<JsonObject, Map<string, JsonObject>>();

/** A schema of options with further properties beside its own, and no others. The same object for the same arguments. */
export function closedOptions(schema: JsonObject, more: JsonObject = {}, required: readonly string[] = []): JsonObject {
  const variants = closed.get(schema) ?? new Map<string, JsonObject>();
  closed.set(schema, variants);
  const key = `${Object.keys(more)}|${required}`;
  const known = variants.get(key);
  if (known) return known;
  const result = {
    ...schema,
    type: 'object',
    properties: { ...more, ...(schema.properties as JsonObject | undefined) },
    required: [...required, ...((schema.required as string[] | undefined) ?? [])],
    additionalProperties: schema.additionalProperties ?? false,
  };
  variants.set(key, result);
  return result;
}
