/** What a pricing rule needs to know of one field of the request. */

import { PricingProblem } from '../catalogue/contracts.ts';
import type { Input, JsonSchema } from '../catalogue/types.ts';

export interface Field {
  readonly name: string;
  readonly schema: JsonSchema;
  /** True where a valid input, defaults filled in, always has the field. */
  readonly present: boolean;
}

type Properties = Readonly<Record<string, JsonSchema>>;

const propertiesOf = (request: JsonSchema): Properties => (request.properties ?? {}) as Properties;

/** The field, or undefined when the request has none of this name. */
export function findField(request: JsonSchema, name: string): Field | undefined {
  const properties = propertiesOf(request);
  const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (schema === undefined) return undefined;
  const required = Array.isArray(request.required) && request.required.includes(name);
  return { name, schema, present: required || schema.default !== undefined };
}

/** The field that the option at `path` names. Throws PricingProblem when the request has none of this name. */
export function namedField(request: JsonSchema, name: string, path: readonly string[]): Field {
  const field = findField(request, name);
  if (field) return field;
  throw new PricingProblem(
    path,
    `price.${path.join('.')} names ${name}, which request.properties does not have`,
    `one of: ${Object.keys(propertiesOf(request)).join(', ')}`,
  );
}

/** Throws PricingProblem when a valid input can be without the field: the price would be unknown. */
export function demandPresent(field: Field, path: readonly string[]): void {
  if (field.present) return;
  throw new PricingProblem(
    path,
    `price.${path.join('.')} names ${field.name}, which is neither required nor has a default`,
    `${field.name} in request.required, or request.properties.${field.name}.default`,
  );
}

/** The strings that a schema allows through `enum` or `const`, or undefined when it does not list them. */
export function allowedStrings(schema: JsonSchema | undefined): readonly string[] | undefined {
  const values: unknown = schema?.enum ?? (schema?.const === undefined ? undefined : [schema.const]);
  return Array.isArray(values) && values.every((value) => typeof value === 'string') ? values : undefined;
}

/** The values that the field allows. Throws PricingProblem when it has no enum of strings. */
export function choicesOf(field: Field, path: readonly string[]): readonly string[] {
  const values = allowedStrings(field.schema);
  if (values) return values;
  throw new PricingProblem(
    path,
    `price.${path.join('.')} names ${field.name}, which has no enum of strings`,
    `request.properties.${field.name}.enum`,
  );
}

/** What an input holds before its sender says anything: every property's default. */
export function defaultsOf(request: JsonSchema): Input {
  const defaults = Object.entries(propertiesOf(request)).filter(([, schema]) => schema.default !== undefined);
  return Object.fromEntries(defaults.map(([name, schema]) => [name, schema.default]));
}
