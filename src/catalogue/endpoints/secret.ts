/** Which answers of an endpoint hold a secret: all, or those to requests that leave a field out. */
import { isJsonObject } from '../../json.ts';
import type { CheckContext } from '../check-context.ts';
import type { Endpoint, Input, JsonSchema } from '../types.ts';
import { choices } from '../yaml/suggest.ts';
import { below } from '../yaml/yaml-document.ts';
import type { RoutePlan } from './route-plan.ts';

/** `input` undefined: of a request that is not valid, of which nothing but its listed price is told. */
export function holdsSecret({ secret }: Pick<Endpoint, 'secret'>, input: Input | undefined): boolean {
  return typeof secret === 'boolean' ? secret : input?.[secret.unless] === undefined;
}

/** Reports a field that no request has, and one that every request has. */
export function checkSecret(
  { kind, location: { document } }: RoutePlan,
  schema: JsonSchema,
  { checker }: CheckContext,
): void {
  const secret = isJsonObject(document.value) ? document.value.secret : undefined;
  if (kind !== 'base' || !isJsonObject(secret)) return;
  const unless = String(secret.unless);
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.keys(isJsonObject(schema.properties) ? schema.properties : {});
  const optional = fields.filter((field) => !required.includes(field));
  if (optional.includes(unless)) return;
  const what = required.includes(unless) ? 'every request has' : 'is no field of the request';
  checker.diagnostics.add(
    below({ document, path: [] }, 'secret', 'unless'),
    `secret.unless names ${unless}, which ${what}`,
    choices(unless, optional),
  );
}
