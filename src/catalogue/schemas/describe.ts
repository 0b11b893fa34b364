import type { ErrorObject } from 'ajv/dist/2020.js';
import { isJsonObject } from '../../json.ts';
import { AmountProblem, rate, usd } from '../../money.ts';
import { duration } from '../files/common.ts';
import { choices } from '../yaml/suggest.ts';
import { pathName, type Step } from '../yaml/yaml-document.ts';

/** A validation error in words, and where it is: `path` leads from the validated value. */
export interface Described {
  readonly path: readonly Step[];
  readonly part: 'key' | 'value';
  readonly message: string;
  readonly expected: string | undefined;
}

const pointerSteps = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

const LONGEST_SHOWN = 80;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;
}

function describeAmount(error: ErrorObject, source: string | undefined): Pick<Described, 'message' | 'expected'> {
  const { data, parentSchema } = error;
  if (typeof data === 'number') {
    return { message: `${source ?? data} is not quoted`, expected: `write "${source ?? data}"` };
  }
  if (typeof data !== 'string') return { message: `${shown(data)} is not an amount`, expected: 'write "0.05"' };
  try {
    (parentSchema?.format === 'rate' ? rate : usd)(data);
  } catch (problem) {
    if (problem instanceof AmountProblem) return { message: problem.message, expected: problem.expected };
    throw problem;
  }
  return { message: `${shown(data)} ${error.message}`, expected: undefined };
}

function describeOne(error: ErrorObject, source: (path: readonly Step[]) => string | undefined): Described {
  const isName = error.propertyName !== undefined;
  const path = isName
    ? [...pointerSteps(error.instancePath), error.propertyName ?? '']
    : pointerSteps(error.instancePath);
  const value = { path, part: isName ? ('key' as const) : ('value' as const) };
  const name = pathName(path);
  const { keyword, params, parentSchema, data } = error;
  const isAmount = isJsonObject(parentSchema) && (parentSchema.format === 'amount' || parentSchema.format === 'rate');
  if (isAmount && (keyword === 'type' || keyword === 'format'))
    return { ...value, ...describeAmount(error, source(path)) };
  switch (keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const unknown = String(params.additionalProperty ?? params.unevaluatedProperty);
      const known = isJsonObject(parentSchema?.properties) ? Object.keys(parentSchema.properties) : [];
      return {
        path: [...path, unknown],
        part: 'key',
        message: `unknown key ${unknown}`,
        expected: choices(unknown, known),
      };
    }
    case 'required':
      return {
        path,
        part: 'key',
        message: `${name === '' ? 'the key' : `${name} lacks the key`} ${params.missingProperty}${name === '' ? ' is missing' : ''}`,
        expected: `add ${params.missingProperty}`,
      };
    case 'enum':
      return {
        ...value,
        message: `${shown(data)} is not allowed`,
        expected: choices(String(data), params.allowedValues.map(String)),
      };
    case 'const':
      return { ...value, message: `${shown(data)} is not allowed`, expected: `write ${shown(params.allowedValue)}` };
    case 'type':
      return {
        ...value,
        message: `${shown(data)} is of the wrong type`,
        expected: instruction(error) ?? `write ${[params.type].flat().map(String).join(' or ')}`,
      };
    case 'pattern':
      return {
        ...value,
        message: `${parentSchema?.writeOnly === true ? 'what is written here' : shown(data)} does not fit`,
        expected: String(parentSchema?.['x-expected'] ?? parentSchema?.description ?? error.message),
      };
    default:
      return {
        ...value,
        message: `${isJsonObject(data) || Array.isArray(data) ? name || 'this' : shown(data)} ${error.message}`,
        expected: expectation(parentSchema),
      };
  }
}

function expectation(schema: ErrorObject['parentSchema']): string | undefined {
  const expected = schema?.['x-expected'];
  return typeof expected === 'string' ? expected : undefined;
}

/** What to write, where the schema says it. A bare number of a duration lacks its unit. */
function instruction({ data, parentSchema }: ErrorObject): string | undefined {
  if (typeof data === 'number' && parentSchema?.pattern === duration.pattern) return `write "${data}s"`;
  const expected = parentSchema?.['x-expected'] ?? parentSchema?.description;
  return typeof expected === 'string' && expected.startsWith('write ') ? expected : undefined;
}

const isWithin = (error: ErrorObject, group: ErrorObject): boolean =>
  error.schemaPath.startsWith(`${group.schemaPath}/`) && `${error.instancePath}/`.startsWith(`${group.instancePath}/`);

/** What is wrong with each alternative of a group. */
function alternativesOf(group: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[][] {
  const alternatives = new Map<string, ErrorObject[]>();
  for (const error of errors.filter((other) => isWithin(other, group))) {
    const [number = ''] = error.schemaPath.slice(group.schemaPath.length + 1).split('/');
    alternatives.set(number, [...(alternatives.get(number) ?? []), error]);
  }
  return [...alternatives.values()];
}

/** Whether it says that the value of a group is something else: of another type, or a map without a key of the alternative. */
function isUnlike(
  { keyword, instancePath, parentSchema }: ErrorObject,
  { instancePath: place, data }: ErrorObject,
): boolean {
  if (instancePath !== place) return false;
  if (keyword === 'type') return true;
  const known = isJsonObject(parentSchema?.properties) ? parentSchema.properties : {};
  return keyword === 'required' && isJsonObject(data) && !Object.keys(data).some((key) => Object.hasOwn(known, key));
}

/** The alternative that a map or list is meant to be: it is like it, and has fewer mistakes than as every other. */
function meantBy(group: ErrorObject, alternatives: readonly ErrorObject[][]): ErrorObject[] | undefined {
  if (typeof group.data !== 'object') return undefined;
  const [first, second] = alternatives
    .filter((alternative) => !alternative.some((error) => isUnlike(error, group)))
    .sort((left, right) => left.length - right.length);
  return first && first.length < (second?.length ?? Number.POSITIVE_INFINITY) ? first : undefined;
}

/** How to come to an alternative: by what it lacks, where it lacks something. */
function wayTo(alternative: readonly ErrorObject[], source: (path: readonly Step[]) => string | undefined): string {
  const lacking = alternative.filter(({ keyword }) => keyword === 'required');
  const told = (lacking.length > 0 ? lacking : alternative).map((error) => describeOne(error, source));
  const parts = new Set(told.map(({ expected, message }) => expected ?? message));
  return [...parts].join(lacking.length > 0 ? ' and ' : ', or ');
}

function fitsNone(
  group: ErrorObject,
  alternatives: readonly ErrorObject[][],
  source: (path: readonly Step[]) => string | undefined,
): Described {
  const ways = [...new Set(alternatives.map((alternative) => wayTo(alternative, source)))];
  return {
    path: pointerSteps(group.instancePath),
    part: 'value',
    message: `${shown(group.data)} fits ${ways.length === 0 ? 'more than one' : 'none'} of the forms allowed`,
    expected: ways.length > 0 ? ways.join(', or ') : undefined,
  };
}

/**
 * ajv's errors (with `verbose`) as problems, one for each mistake: alternatives of an `anyOf` are reported as one, unless
 * one of them is what was meant, or an amount that only lacks its quotes. `source` gives a scalar as it is written.
 */
export function describe(
  errors: readonly ErrorObject[],
  source: (path: readonly Step[]) => string | undefined = () => undefined,
): Described[] {
  const groups = errors.filter((error) => error.keyword === 'anyOf' || error.keyword === 'oneOf');
  const grouped = (error: ErrorObject) => groups.some((group) => error !== group && isWithin(error, group));
  const described: Described[] = [];
  for (const error of errors) {
    if (error.keyword === 'if' || error.keyword === 'propertyNames' || grouped(error)) continue;
    if (!groups.includes(error)) {
      described.push(describeOne(error, source));
      continue;
    }
    const alternatives = alternativesOf(error, errors);
    const unquoted = alternatives
      .flat()
      .map((other) => describeOne(other, source))
      .find((other) => other.message.endsWith('is not quoted'));
    const meant = meantBy(error, alternatives);
    if (unquoted) described.push(unquoted);
    else if (meant) described.push(...describe(meant, source));
    else described.push(fitsNone(error, alternatives, source));
  }
  return described;
}
