/** From bytes to a validated input, with every fault named. */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { misreadIn } from '../as-written.ts';
import { completeInput } from '../catalogue/schemas/request-keywords.ts';
import { Validators } from '../catalogue/schemas/validators.ts';
import type { Input, JsonSchema, NetworkId, Route } from '../catalogue/types.ts';
import { Problem, type ProblemDetail } from '../errors.ts';
import { AMOUNT_EXPECTED, type Money } from '../money.ts';
import type { Credential } from '../payment/rail.ts';
import { readJsonObject } from '../request/json-text.ts';
import type { GatewayRequest } from '../request/request.ts';
import type { Store } from '../store/store.ts';
import { readQuery } from './query.ts';

// The catalogue's checker holds schemas to Ajv's strict mode; here they only have to run.
const allFaults = { strict: false, verbose: true } as const;
const firstFault = { ...allFaults, allErrors: false } as const;
const ofRequests = { first: new Validators(firstFault), every: new Validators(allFaults) };
// What is larger than numbers can be would be sold as null.
const ofResults = new Validators({ strict: false, strictNumbers: true, useDefaults: false, allErrors: false });

/** As many faults as are worth telling at once. */
const MOST_DETAILS = 20;
/** Enough to find that many among: several faults can tell of one thing. */
const MOST_FAULTS = 500;

/**
 * Of a request of more values only the first fault is reported: each can have several, and to collect them keeps everybody
 * waiting.
 */
const MOST_VALUES = 500;

/** Whether it has more than 500 values. Looks no further once it is sure. */
export function isLarge(input: unknown): boolean {
  let left = MOST_VALUES;
  const fits = (value: unknown): boolean => {
    left -= 1;
    return left >= 0 && (typeof value !== 'object' || value === null || Object.values(value).every(fits));
  };
  return !fits(input);
}

const describedAs = ({ parentSchema }: ErrorObject) => parentSchema?.description as string | undefined;

function expectedOf(error: ErrorObject): string | undefined {
  const { params } = error;
  switch (error.keyword) {
    case 'enum': {
      const values: readonly unknown[] = params.allowedValues;
      return `one of ${values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ')}`;
    }
    case 'const':
      return JSON.stringify(params.allowedValue);
    case 'type':
      return Array.isArray(params.type) ? params.type.join(' or ') : String(params.type);
    case 'additionalProperties': {
      const names = Object.keys((error.parentSchema?.properties ?? {}) as object);
      return names.length > 0 ? `one of the fields ${names.join(', ')}` : 'no fields at all';
    }
    case 'pattern':
      return describedAs(error) ?? `text that matches ${params.pattern}`;
    case 'format':
      return params.format === 'amount' ? (describedAs(error) ?? AMOUNT_EXPECTED) : undefined;
    default:
      return undefined;
  }
}

const FORM = 'does not have the form that is asked for';

function messageOf({ keyword, message, params }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a field of this request';
    case 'pattern':
      return FORM;
    case 'format':
      if (params.format === 'amount') return FORM;
      if (params.format === 'path-segment') return 'must not be empty, . or .., or hold a slash or half a character';
      return message ?? 'is not valid';
    case 'false schema':
      return 'is not taken with the other values of this request';
    default:
      return message ?? 'is not valid';
  }
}

function toDetail(error: ErrorObject): ProblemDetail {
  const field = error.params.missingProperty ?? error.params.additionalProperty;
  const path = field === undefined ? error.instancePath || '/' : `${error.instancePath}/${field}`;
  const message = messageOf(error);
  const expected = expectedOf(error);
  return expected === undefined ? { path, message } : { path, message, expected };
}

/** The fields of a `oneOf` that only asks for one field or another, as `prompt` or `messages`; none for any other. */
function alternatives({ keyword, schema }: ErrorObject): string[] {
  if (keyword !== 'oneOf' || !Array.isArray(schema)) return [];
  const fields = schema.map(({ required, ...others }: { required?: unknown }) =>
    Array.isArray(required) && required.length === 1 && Object.keys(others).length === 0 ? String(required[0]) : '',
  );
  return fields.includes('') ? [] : fields;
}

function toDetailOfChoice(error: ErrorObject): ProblemDetail {
  const given = error.params.passingSchemas === null ? 'none of them is given' : 'several are given';
  return {
    path: error.instancePath || '/',
    message: `needs exactly one of ${alternatives(error).join(', ')}: ${given}`,
  };
}

/** Ajv tells of `if`, `oneOf` and the like once for the keyword and once for what is inside; the inside says more. */
function toDetails(errors: readonly ErrorObject[]): ProblemDetail[] {
  const choices = errors.filter((error) => alternatives(error).length > 0);
  const others = errors.filter((error) => !choices.some(({ schemaPath }) => error.schemaPath.startsWith(schemaPath)));
  const outer = new Set(['if', 'allOf', 'anyOf', 'oneOf']);
  const inner = others.filter((error) => !outer.has(error.keyword));
  const named = inner.length > 0 || choices.length > 0 ? inner : others;
  const details = [...choices.map(toDetailOfChoice), ...named.map(toDetail)];
  const unique = new Map(details.map((detail) => [JSON.stringify(detail), detail]));
  return [...unique.values()].slice(0, MOST_DETAILS);
}

function readBody(request: GatewayRequest): Record<string, unknown> {
  const type = request.headers['content-type'];
  if (typeof type === 'string' && !/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) {
    throw new Problem('unsupported_media_type', `The body is ${type.slice(0, 80)}: send application/json`);
  }
  return readJsonObject(request.body);
}

/** The validated input with its defaults. Throws Problem `invalid_json`, `unsupported_media_type` or `invalid_request`. */
export function readInput(route: Route, request: GatewayRequest): Input {
  const fromQuery = request.transport === 'http' && request.method === 'GET';
  const parse = () => (fromQuery ? readQuery(request.query, route.request) : readBody(request));
  const input = demandFits(route.request, parse);
  demandAsWritten(input, () => (fromQuery ? request.query : request.body.toString('latin1')));
  return input;
}

/** Throws Problem `invalid_request` that names the first number which is not read as it is `written`, a text with all of them. */
export function demandAsWritten(input: unknown, written: () => string): void {
  const misread = misreadIn(input, written);
  if (misread === undefined) return;
  throw new Problem('invalid_request', `${misread.path} ${misread.message}`, { details: [misread] });
}

/** `parse` gives the value, afresh each time: validation fills defaults in. Throws Problem `invalid_request`. */
export function demandFits(schema: JsonSchema, parse: () => Record<string, unknown>): Input {
  const input = parse();
  const validate = ofRequests.first.of(schema);
  if (validate(input)) return completeInput(schema, input, validate);
  let details = toDetails(validate.errors ?? []).slice(0, 1);
  if (!isLarge(input)) {
    const validateAll = ofRequests.every.of(schema);
    if (!validateAll(parse())) details = toDetails((validateAll.errors ?? []).slice(0, MOST_FAULTS));
  }
  const [first] = details;
  throw new Problem('invalid_request', first ? `${first.path} ${first.message}` : undefined, { details });
}

/** What a request costs, its defaults filled in; undefined where it is not valid. */
export function priceOf({ request: schema, price }: Route, request: Input): Money | undefined {
  try {
    return price.quote(demandFits(schema, () => structuredClone({ ...request })));
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/**
 * Where the input can be paid: the route's networks without those that do not take it. Throws Problem `invalid_request`
 * with what the last of them finds wrong where none is left.
 */
export function networksFor({ networks, requestOn }: Route, input: Input): readonly NetworkId[] {
  // As most are: every challenge comes by here.
  if (requestOn.size === 0) return networks;
  let details: ProblemDetail[] = [];
  const left = networks.filter((network) => {
    const schema = requestOn.get(network);
    if (schema === undefined) return true;
    const validate = ofRequests.every.of(schema);
    if (validate(structuredClone(input))) return true;
    details = toDetails(validate.errors ?? []);
    return false;
  });
  if (left.length === networks.length) return networks;
  if (left.length > 0) return left;
  throw new Problem('invalid_request', undefined, { details });
}

/**
 * What is wrong with an adapter's result, for the log, or undefined when it fits. Places are those of our own schema:
 * the names in a result may be a provider's.
 */
export function resultFault(route: Route, result: unknown): string | undefined {
  const validate = ofResults.of(route.result);
  if (validate(result)) return undefined;
  return (validate.errors ?? []).map(({ schemaPath, message }) => `${schemaPath} ${message}`).join(', ');
}

interface Demanding {
  demand?(route: Route, input: Input): Promise<void> | undefined;
}

/**
 * Throws Problem `invalid_request` for an input that nobody could serve. What was claimed and not let go of is seen through:
 * its money may have moved. Undefined where nothing has to be asked.
 */
export const demandServable = (
  { store, upstreams }: { readonly store: Pick<Store, 'find'>; readonly upstreams: Demanding },
  route: Route,
  input: Input,
  credential: Credential | undefined,
): Promise<void> | undefined =>
  upstreams.demand?.(route, input)?.catch(async (error: unknown) => {
    // Where nobody can say, it is claimed, and refused by who serves it.
    if (!(error instanceof Problem) || error.code !== 'invalid_request') return;
    const known = credential && (await store.find(credential.id));
    if (!known || known.state === 'released') throw error;
  });
