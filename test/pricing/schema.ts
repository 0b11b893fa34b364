/** JSON Schema as the gateway reads it: draft 2020-12, with the formats of money. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import type { Input, JsonSchema } from '../../src/catalogue/types.ts';
import { AmountProblem, rate, toDecimal, usd } from '../../src/money.ts';

const parses = (parse: (decimal: string) => bigint) => (decimal: string) => {
  try {
    parse(decimal);
    return true;
  } catch (problem) {
    if (problem instanceof AmountProblem) return false;
    throw problem;
  }
};

const ajv = new Ajv2020({ strict: true, allErrors: true, useDefaults: true });
ajv.addFormat('amount', parses(usd));
ajv.addFormat('rate', parses(rate));
const validators = new Map<string, ValidateFunction>();

/** Compiled once for all schemas that say the same: that takes far longer than to use it. */
export function validatorOf(schema: JsonSchema): ValidateFunction {
  const said = JSON.stringify(schema);
  const validate = validators.get(said) ?? ajv.compile(schema);
  validators.set(said, validate);
  return validate;
}

/** The schema as the catalogue closes it. */
export const closed = (request: JsonSchema): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  ...request,
});

/** The input with defaults filled in; throws when the schema refuses it. */
export function filledIn(request: JsonSchema, input: Input): Input {
  const filled = structuredClone(input);
  const validate = validatorOf(request);
  if (!validate(filled)) throw new Error(`not a valid input: ${JSON.stringify(validate.errors)}`);
  return filled;
}

/** Valid inputs of a request schema, defaults filled in. */
export function validInputs(request: JsonSchema): fc.Arbitrary<Input> {
  const validate = validatorOf(request);
  return valuesOf(request)
    .map((value) => structuredClone(value))
    .filter((value): value is Input => validate(value));
}

const text = (minLength: number, maxLength: number) =>
  fc.string({
    unit: fc.oneof(fc.constantFrom('a', ' ', 'é', '漢', '🚢'), fc.string({ minLength: 1, maxLength: 1 })),
    minLength,
    maxLength,
  });

function valuesOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.oneOf)) return fc.oneof(...schema.oneOf.map(valuesOf));
  const bound = (keyword: string, otherwise: number): number => Number(schema[keyword] ?? otherwise);
  switch (schema.type) {
    case 'string':
      if (schema.format === 'amount') return fc.bigInt(0n, 200_000_000n).map(toDecimal);
      return text(bound('minLength', 0), bound('maxLength', 400));
    case 'integer':
      return fc.integer({ min: bound('minimum', 0), max: bound('maximum', 1_000_000) });
    case 'number':
      return fc.oneof(
        fc.double({ min: bound('minimum', 0), max: bound('maximum', 1e6), noNaN: true }),
        fc.integer({ min: Math.ceil(bound('minimum', 0)), max: Math.floor(bound('maximum', 1e6)) }),
      );
    case 'array':
      return fc.array(valuesOf(schema.items as JsonSchema), {
        minLength: bound('minItems', 0),
        maxLength: bound('maxItems', 6),
      });
    case 'object': {
      const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
      const values = Object.fromEntries(properties.map(([name, property]) => [name, valuesOf(property)]));
      return fc.record(values, { requiredKeys: (schema.required ?? []) as string[], noNullPrototype: true });
    }
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`);
  }
}
