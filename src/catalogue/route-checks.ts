import { below, keyOf, pathName } from './document.ts';
import { inlineFragments } from './fragments.ts';
import type { RoutePlan, Sourced } from './route-plan.ts';
import { isObject } from './schema-walk.ts';
import { closedRequest, isWellWritten, openResult, refusals } from './schemas.ts';
import { choices } from './suggest.ts';
import type { Surroundings } from './surroundings.ts';

/** A mirror without a path of its own has that of its network, which must give one. */
export function checkMirror(
  { kind, place, path, networks: [id] }: RoutePlan,
  { networks, checker }: Surroundings,
): void {
  if (kind !== 'mirror' || path.value !== undefined || !networks?.has(String(id))) return;
  checker.findings.add(
    below(place, 'network'),
    `the network ${String(id)} has no prefix`,
    'give it a prefix in networks.yaml, or the mirror a path',
  );
}

export function checkOperation({ path, operation }: RoutePlan, { checker }: Surroundings): void {
  const prefix = operation && `${operation.declaration.pathPrefix}/`;
  if (!prefix || typeof path.value !== 'string' || path.value.startsWith(prefix)) return;
  checker.findings.add(path.place, `${path.value} does not begin with ${prefix}`, `begin the path with ${prefix}`);
}

export function checkRequest({ place, request, example }: RoutePlan, surroundings: Surroundings): void {
  const { findings } = surroundings.checker;
  if (!isObject(request.value)) return;
  if (request.value.additionalProperties !== undefined || request.value.type !== undefined) {
    const keyword = request.value.type === undefined ? 'additionalProperties' : 'type';
    findings.add(
      keyOf(below(request.place, keyword)),
      'a request is always an object without further fields',
      `leave ${keyword} out`,
    );
  }
  if (!isWellWritten(request.place, request.value, surroundings.fragments, surroundings.compiler)) return;
  const schema = closedRequest(inlineFragments(request.value, surroundings.soundFragments));
  const properties = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const isProperty = (field: unknown) => properties.includes(String(field));
  for (const [index, field] of required.entries()) {
    if (isProperty(field)) continue;
    findings.add(
      below(request.place, 'required', index),
      `required names ${String(field)}, which is no property`,
      choices(String(field), properties),
    );
  }
  if (surroundings.checked.has(schema, example.value)) return;
  const before = findings.count;
  const validate = surroundings.compiler.compile(schema, request.place);
  if (!validate || !isObject(example.value) || !required.every(isProperty)) return;
  const inherited = example.inherited && !request.inherited;
  for (const { path, part, message, expected } of refusals(validate, example.value)) {
    const name = pathName(path);
    const wrong = `the example does not fit ${pathName(request.place.path)}${name === '' ? '' : `, ${name}`}: ${message}`;
    const where = below(example.place, ...path);
    if (inherited) findings.add(keyOf(request.place), wrong, `give ${pathName(place.path)} its own example`);
    else findings.add(part === 'key' ? keyOf(where) : where, wrong, expected);
  }
  if (findings.count === before) surroundings.checked.add(schema, example.value);
}

export function checkResult(
  { value, place }: Sourced,
  { fragments, soundFragments, compiler, checker, checked }: Surroundings,
): void {
  if (!isObject(value) || !isWellWritten(place, value, fragments, compiler)) return;
  const schema = openResult(inlineFragments(value, soundFragments));
  const examples = openResult(inlineFragments(value, fragments)).examples;
  if (!Array.isArray(examples) || examples.length === 0) {
    checker.findings.add(
      keyOf(place),
      `${pathName(place.path)} has no example`,
      'add examples: [...] to it or to its fragment',
    );
    return;
  }
  const [first] = examples;
  if (checked.has(schema, first)) return;
  const before = checker.findings.count;
  const validate = compiler.compile(schema, place);
  for (const { path, part, message, expected } of validate ? refusals(validate, first) : []) {
    const name = pathName(path);
    const where = below(place, 'examples', 0, ...path);
    const wrong = `the example of ${pathName(place.path)} does not fit its schema${name === '' ? '' : `, ${name}`}: ${message}`;
    checker.findings.add(part === 'key' ? keyOf(where) : where, wrong, expected);
  }
  if (checker.findings.count === before) checked.add(schema, first);
}
