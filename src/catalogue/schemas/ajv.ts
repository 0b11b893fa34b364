import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { formatNames } from 'ajv-formats/dist/formats.js';
import { rate, usd } from '../../money.ts';
import type { JsonSchema } from '../types.ts';
import { addRequestKeywords, requestKeywords } from './request-keywords.ts';
import { addTextLength } from './text-length.ts';
import { addUniqueItems } from './unique-items.ts';

const addFormats = addFormatsModule.default;

const parses = (parse: (decimal: string) => bigint) => (decimal: string) => {
  try {
    parse(decimal);
    return true;
  } catch {
    return false;
  }
};

const ownFormats: Readonly<Record<string, (text: string) => boolean>> = {
  amount: parses(usd),
  'path-segment': (text) => !/^\.{0,2}$|[/\\]|\p{Surrogate}/u.test(text),
  rate: parses(rate),
};

/** What `format` may say. */
export const formats: readonly string[] = [...formatNames, ...Object.keys(ownFormats)];

function withFormats(options: Options): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    // What every object inherits, such as `constructor`, is no field that somebody sent.
    ownProperties: true,
    // 19.99 is a multiple of 0.01, although binary fractions say 1998.9999999999998 of them.
    multipleOfPrecision: 6,
    // That is for `schemaFaults` to say.
    validateSchema: false,
    ...options,
  });
  addFormats(ajv);
  for (const [name, validate] of Object.entries(ownFormats)) ajv.addFormat(name, { type: 'string', validate });
  addRequestKeywords(ajv);
  addTextLength(ajv);
  addUniqueItems(ajv);
  return ajv;
}

/** Validators that run once or twice: the time that ajv takes to optimize them would be lost. */
const RUN_ONCE: Options = { verbose: true, code: { optimize: false } };

/** Checks the catalogue's files, and options against the schemas of rules, adapters and recipes. Changes nothing. */
export function openFileChecker(): Ajv2020 {
  const ajv = withFormats(RUN_ONCE);
  ajv.addVocabulary(['x-request-fields', 'x-names', 'x-unique', 'x-upstream-setting', 'x-provider-fields']);
  ajv.addVocabulary(['x-expected', 'x-part']);
  return ajv;
}

const JSON_SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

/** What a schema of the catalogue has to fit: JSON Schema, at every depth with the keywords of our own. */
const metaSchema = {
  $schema: JSON_SCHEMA,
  $id: 'turnpike:schema',
  $dynamicAnchor: 'meta',
  allOf: [{ $ref: JSON_SCHEMA }],
  properties: requestKeywords,
};

/** Made once: the meta-schema takes Ajv longer to compile than most of what it is asked about. */
let fitsMetaSchema: ValidateFunction | undefined;

/** Why something is no JSON Schema; none where it is. */
export function schemaFaults(schema: unknown): readonly ErrorObject[] {
  fitsMetaSchema ??= new Ajv2020({ strict: false, allErrors: true, ...RUN_ONCE }).compile(metaSchema);
  return fitsMetaSchema(schema) ? [] : (fitsMetaSchema.errors ?? []);
}

/** Compiles schemas to try them on their examples. Validating a request fills defaults in. */
export const openSchemaTrial = (of: 'request' | 'result' = 'request'): Ajv2020 =>
  withFormats({ ...RUN_ONCE, useDefaults: of === 'request' });

/** The validator of a schema that nobody has checked; undefined where it is none. */
export function triedValidator(schema: JsonSchema, ajv: Ajv2020 = openSchemaTrial()): ValidateFunction | undefined {
  if (schemaFaults(schema).length > 0) return undefined;
  try {
    return ajv.compile(schema);
  } catch {
    return undefined;
  }
}

/** Compiles requests' and results' schemas for use. Validating a request fills defaults in. */
export const openSchemaCompiler = (
  options: Pick<Options, 'allErrors' | 'strict' | 'strictNumbers' | 'useDefaults' | 'verbose'> = {},
): Ajv2020 => withFormats({ useDefaults: true, ...options });
