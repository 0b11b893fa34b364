/** JSON Schema of the option values that rules share. The catalogue loader knows the formats. */
import type { JsonSchema } from '../catalogue/types.ts';

/** Dollars with at most six decimals: "0.05". */
export const amountSchema = (description: string): JsonSchema => ({
  type: 'string',
  format: 'amount',
  description,
  examples: ['0.05'],
});

/** Dollars, or a share, with at most twelve decimals: "0.00175". */
export const rateSchema = (description: string): JsonSchema => ({
  type: 'string',
  format: 'rate',
  description,
  examples: ['0.00175'],
});

/** The name of a request field. */
export const fieldSchema = (description: string): JsonSchema => ({ type: 'string', minLength: 1, description });

/** An amount for each value of a request field. */
export const amountsSchema = (description: string): JsonSchema => ({
  type: 'object',
  minProperties: 1,
  additionalProperties: amountSchema('Dollars, e.g. "0.05"'),
  description,
});

/** An options object: no other keys than these. */
export const optionsSchema = (required: readonly string[], properties: { [name: string]: JsonSchema }): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
