import { isJsonObject, type JsonObject } from '../../json.ts';
import type { CheckContext } from '../check-context.ts';
import { checkCondition, checkConditions } from '../schemas/request-conditions.ts';
import { checkRequestKeywords } from '../schemas/request-keywords.ts';
import { closedRequest, isWellWritten, openResult, refusals } from '../schemas/schemas.ts';
import type { JsonSchema } from '../types.ts';
import { inlineFragments } from '../yaml/fragments.ts';
import { choices } from '../yaml/suggest.ts';
import { below, type Diagnostics, keyOf, pathName } from '../yaml/yaml-document.ts';
import { nestedIn, typesOf } from './request-reads.ts';
import type { RoutePlan, Sourced } from './route-plan.ts';

/** A mirror without a path of its own has that of its network, which must give one. */
export function checkMirror(
  { kind, location, path, networks: [id] }: RoutePlan,
  { networks, checker }: CheckContext,
): void {
  if (kind !== 'mirror' || path.value !== undefined || !networks?.has(String(id))) return;
  checker.diagnostics.add(
    below(location, 'network'),
    `the network ${String(id)} has no prefix`,
    'give it a prefix in networks.yaml, or the mirror a path',
  );
}

export function checkOperation({ path, operation }: RoutePlan, { checker }: CheckContext): void {
  const prefix = operation && `${operation.declaration.pathPrefix}/`;
  if (!prefix || typeof path.value !== 'string' || path.value.startsWith(prefix)) return;
  checker.diagnostics.add(
    path.location,
    `${path.value} does not begin with ${prefix}`,
    `begin the path with ${prefix}`,
  );
}

export function checkRequest({ location, request, example, methods }: RoutePlan, context: CheckContext): void {
  const { diagnostics } = context.checker;
  if (!isJsonObject(request.value)) return;
  if (request.value.additionalProperties !== undefined || request.value.type !== undefined) {
    const keyword = request.value.type === undefined ? 'additionalProperties' : 'type';
    diagnostics.add(
      keyOf(below(request.location, keyword)),
      'a request is always an object without further fields',
      `leave ${keyword} out`,
    );
  }
  if (!isWellWritten(request.location, request.value, context.fragments, context.compiler)) return;
  const schema = closedRequest(inlineFragments(request.value, context.soundFragments));
  const properties = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const isProperty = (field: unknown) => properties.includes(String(field));
  for (const [index, field] of required.entries()) {
    if (isProperty(field)) continue;
    diagnostics.add(
      below(request.location, 'required', index),
      `required names ${String(field)}, which is no property`,
      choices(String(field), properties),
    );
  }
  if (!methods.includes('POST') && !request.inherited)
    checkQuery(request, schema.properties as JsonObject, diagnostics);
  if (context.checked.has(schema, example.value)) return;
  const before = diagnostics.count;
  for (const field of properties) {
    if (typesOf((schema.properties as JsonObject)[field]) !== undefined || isMistaken(request, field, context))
      continue;
    const at = below(request.location, 'properties', field);
    diagnostics.add(at, `the field ${field} takes anything`, 'say its type, or name a fragment that does');
  }
  checkRequestKeywords(schema, request.location, diagnostics);
  checkConditions(schema, request.location, diagnostics);
  const validate = context.compiler.compile(schema, request.location);
  if (!validate || !isJsonObject(example.value) || !required.every(isProperty)) return;
  const inherited = example.inherited && !request.inherited;
  for (const { path, part, message, expected } of refusals(validate, example.value)) {
    const name = pathName(path);
    const wrong = `the example does not fit ${pathName(request.location.path)}${name === '' ? '' : `, ${name}`}: ${message}`;
    const where = below(example.location, ...path);
    if (inherited) diagnostics.add(keyOf(request.location), wrong, `give ${pathName(location.path)} its own example`);
    else diagnostics.add(part === 'key' ? keyOf(where) : where, wrong, expected);
  }
  if (diagnostics.count === before) context.checked.add(schema, example.value);
}

/** Fields that a GET cannot be asked with. */
function checkQuery({ location }: Sourced, properties: JsonObject | undefined, diagnostics: Diagnostics): void {
  for (const [field, schema] of Object.entries(properties ?? {})) {
    const nested = nestedIn(schema);
    if (nested === undefined) continue;
    const wrong = `a query takes texts, numbers, booleans and lists of them, and ${field} may ${nested}`;
    diagnostics.add(below(location, 'properties', field), wrong, 'leave method: GET out, or give it another type');
  }
}

/** Whether a field names a fragment that is wrong in itself, or none that there is: that is reported where it stands. */
function isMistaken({ value }: Sourced, field: string, { fragments, soundFragments }: CheckContext): boolean {
  const properties = isJsonObject(value) && isJsonObject(value.properties) ? value.properties : {};
  const written = properties[field];
  if (!isJsonObject(written) || written.$ref === undefined) return false;
  const name = String(written.$ref);
  return !fragments.has(name) || fragments.get(name) !== soundFragments.get(name);
}

/** What single networks take. A request need not fit the schema of one. */
export function checkRequestOn({ kind, request, requestOn, networks }: RoutePlan, context: CheckContext): void {
  if (kind !== 'base' || !isJsonObject(requestOn.value)) return;
  for (const [network, schema] of Object.entries(requestOn.value)) {
    const location = below(requestOn.location, network);
    if (!networks.includes(network)) {
      const wrong = `requestOn names ${network}, where this is not paid`;
      context.checker.diagnostics.add(keyOf(location), wrong, choices(network, networks.map(String)));
    }
    if (!isJsonObject(schema) || !isWellWritten(location, schema, context.fragments, context.compiler)) continue;
    const resolved = { ...inlineFragments(schema, context.soundFragments), type: 'object' };
    const base = inlineFragments(request.value, context.soundFragments);
    checkCondition(resolved, base, location, context.checker.diagnostics);
    // Known apart from requests, which have an example.
    const own = { requestOn: resolved };
    if (context.checked.has(own, undefined)) continue;
    if (context.compiler.compile(resolved, location)) context.checked.add(own, undefined);
  }
}

export function checkResult(
  { value, location }: Sourced,
  { fragments, soundFragments, compiler, checker, checked }: CheckContext,
): void {
  if (!isJsonObject(value) || !isWellWritten(location, value, fragments, compiler)) return;
  const schema = openResult(inlineFragments(value, soundFragments));
  const examples = openResult(inlineFragments(value, fragments)).examples;
  if (!Array.isArray(examples) || examples.length === 0) {
    checker.diagnostics.add(
      keyOf(location),
      `${pathName(location.path)} has no example`,
      'add examples: [...] to it or to its fragment',
    );
    return;
  }
  const [first] = examples;
  if (checked.has(schema, first)) return;
  const before = checker.diagnostics.count;
  const validate = compiler.compile(schema, location, 'result');
  for (const { path, part, message, expected } of validate ? refusals(validate, first) : []) {
    const name = pathName(path);
    const where = below(location, 'examples', 0, ...path);
    const wrong = `the example of ${pathName(location.path)} does not fit its schema${name === '' ? '' : `, ${name}`}: ${message}`;
    checker.diagnostics.add(part === 'key' ? keyOf(where) : where, wrong, expected);
  }
  if (checker.diagnostics.count === before) checked.add(schema, first);
}

/** A result without members would be lost beside a flag. */
export function checkEnvelope({ envelope, result }: RoutePlan, schema: JsonSchema, { checker }: CheckContext): void {
  if (envelope.value !== 'flag' || schema.type === 'object' || (envelope.inherited && result.inherited)) return;
  const wrong = `a flag stands beside the members of a result, and ${pathName(result.location.path)} is no object`;
  const at = envelope.inherited ? keyOf(result.location) : envelope.location;
  checker.diagnostics.add(at, wrong, 'write data, or type: object');
}
