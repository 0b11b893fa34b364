import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../types.ts';
import { openSchemaCompiler } from './ajv.ts';

/**
 * An Ajv keeps whatever it has compiled for as long as one of its validators is used. One for everything would keep the schemas
 * of each catalogue that was ever sold; to open one for these many costs none of them a tenth of a millisecond.
 */
const TOGETHER = 20;

type Options = Parameters<typeof openSchemaCompiler>[0];

/** Validators of schemas, each compiled when it is first asked for and kept as long as its schema is. */
export class Validators {
  readonly #options: Options;
  readonly #compiled = new WeakMap<JsonSchema, ValidateFunction>();
  #ajv: Ajv2020 | undefined;
  #count = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  of(schema: JsonSchema): ValidateFunction {
    const known = this.#compiled.get(schema);
    if (known) return known;
    if (this.#ajv === undefined || this.#count % TOGETHER === 0) this.#ajv = openSchemaCompiler(this.#options);
    this.#count += 1;
    const validate = this.#ajv.compile(schema);
    this.#compiled.set(schema, validate);
    return validate;
  }
}
