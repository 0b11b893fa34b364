/**
 * An API that has no double of its own: it answers what the endpoints' files say of it. Calls get the example of their
 * `upstream:` block, else an answer of which the block makes a result that fits the result schema.
 */
import { isList, typesOf } from '../../catalogue/endpoints/request-reads.ts';
import type { JsonSchema, Upstream } from '../../catalogue/types.ts';
import { instanceOf } from '../../examples/schema-instance.ts';
import { digest } from '../../examples/seed.ts';
import { asJsonObject } from '../../json.ts';
import { pathBelow } from '../../upstream/http/own-address.ts';
import { prefixIn } from '../../upstream/providers/http/authorization.ts';
import {
  type Answering,
  fileOf,
  type HttpOptions,
  type PollOptions,
  resultExpression,
} from '../../upstream/providers/http/options.ts';
import { placeAlone, placesIn, placesInTexts } from '../../upstream/providers/http/path.ts';
import { merged, reversed } from '../../upstream/providers/http/reversed.ts';
import { sampleFile } from '../files/sample.ts';
import { openDoor } from './door.ts';
import {
  type Double,
  type DoubleAnswer,
  type DoubleKind,
  type DoubleRequest,
  type DoubleUse,
  jsonAnswer,
  sandboxSecret,
} from './double.ts';

interface Operation {
  readonly options: HttpOptions;
  readonly result: DoubleUse['result'];
  readonly path: Place;
  /** Where its jobs are; undefined where it has none. */
  readonly jobs: Place | undefined;
  /** Where their results are; undefined where these are in the jobs. */
  readonly results: Place | undefined;
}

/** Whether a request is for a path below the provider's address. */
type Place = (request: Pick<DoubleRequest, 'path' | 'query'>) => boolean;

/** Where a job is whose address the provider says whole, and its result. */
const JOBS = '/~jobs/';
const RESULTS = '/~results/';

/** Which operation a job is of, its id says: several may be asked for at one path, or begun there. */
const idOf = (operation: number, seed: string): string => `job-${operation}-${digest(seed)}`;
const JOB_ID = /job-([0-9]+)-[0-9a-f]{26}/;

export const httpDouble: DoubleKind = {
  adapter: 'http',
  followsUses: true,
  open(upstream, uses): Double {
    // `/pools/retired` is not the pool of that name where the provider has such a path.
    const operations = uses
      .map((use) => operationOf(use, upstream))
      .sort((left, right) => placeCount(left) - placeCount(right));
    const behindKeys = behindKeysOf(upstream);
    const jobAsked = (request: DoubleRequest): Operation | undefined => {
      const operation = operations[Number(JOB_ID.exec(seedOf(request))?.[1])];
      const method = operation?.options.poll?.body === undefined ? 'GET' : 'POST';
      return method === request.method && operation?.jobs?.(behindKeys(request)) ? operation : undefined;
    };
    const asked = (request: DoubleRequest): number =>
      operations.findIndex(
        ({ options, path }) => (options.method ?? 'POST') === request.method && path(behindKeys(request)),
      );
    const door = openDoor(upstream);
    return {
      unauthorized: door.unauthorized,
      isBilled: (request) => !jobAsked(request) && asked(request) !== -1,
      async answer(request) {
        const token = door.tokenFor(request);
        if (token) return token;
        const job = jobAsked(request);
        if (job) return jobAnswer(job.options, request);
        const index = asked(request);
        const operation = operations[index];
        const seed = seedOf(request);
        const poll = operation?.options.poll;
        if (poll) return startOf(poll, idOf(index, seed), request.base);
        const made = operation ?? operations.find(({ results }) => results?.(behindKeys(request)));
        return made ? await resultOf(made, seed) : jsonAnswer(404, { error: 'no such path' });
      },
      errorBody: () => ({ error: 'the provider is in trouble' }),
      refuse: () => jsonAnswer(422, { error: 'the provider does not take this' }),
    };
  },
};

function operationOf({ options: given, result }: DoubleUse, { baseUrl }: Upstream): Operation {
  const options = given as unknown as HttpOptions;
  const { path, poll } = options;
  const placed = (at: string, whole: string) =>
    matcher(placeAlone(at) === undefined ? (pathBelow(at, baseUrl) ?? at) : `${whole}{id}`);
  return {
    options,
    result,
    path: matcher(path),
    jobs: poll && placed(poll.path ?? '{id}', JOBS),
    results: poll?.resultAt === undefined ? undefined : placed(poll.resultAt, RESULTS),
  };
}

const placeCount = ({ options }: Operation): number => placesIn(options.path).length;

/** What a path says in its query has to be in a request's, whatever else is there. */
function matcher(written: string): Place {
  const [path = '', query] = written.replaceAll(/\{[^{}]+\}/g, '{}').split('?', 2);
  const parts = path.split('{}').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`^${parts.join('[^/]+')}$`);
  const wanted = [...new URLSearchParams(query)];
  return ({ path: given, query: said }) =>
    pattern.test(given) &&
    wanted.every(([name, value]) => (value.includes('{}') ? said.has(name) : said.get(name) === value));
}

/** A request without what the upstream's keys stand in before its path. */
function behindKeysOf({ keys = {}, settings = {} }: Upstream) {
  const secrets = Object.fromEntries(Object.entries(keys).map(([name, variable]) => [name, sandboxSecret(variable)]));
  const prefix = prefixIn(settings, secrets) ?? '';
  return ({ path, query }: DoubleRequest): Pick<DoubleRequest, 'path' | 'query'> => ({
    path: path.startsWith(prefix) ? path.slice(prefix.length) || '/' : path,
    query,
  });
}

const seedOf = ({ path, query, body }: DoubleRequest): string => `${path}?${query}${body}`;

/** What the result is made of. */
async function resultOf({ options, result }: Operation, seed: string): Promise<DoubleAnswer> {
  const kind = fileOf(options);
  if (kind) {
    const { type, bytes } = await sampleFile(kind, seed);
    return { status: 200, headers: { 'content-type': type }, body: bytes };
  }
  const made = merged(madeAnswer(options, result, seed), await encodedFiles(options, result, seed));
  if (options.stream) return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: eventsOf(made) };
  return jsonAnswer(200, made);
}

/** A list as an event each; any other value as one. */
const eventsOf = (made: unknown): string =>
  [made]
    .flat()
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    .join('');

/** The example, else an answer of which the options make a result that fits the schema. */
export function madeAnswer(options: Answering, result: JsonSchema, seed: string): unknown {
  if (options.example !== undefined) return options.example;
  const made = instanceOf(result, seed);
  const expression = resultExpression(options);
  return expression === undefined ? made : reversed(expression, made);
}

/** The part of an answer that holds the files of `decode`. */
async function encodedFiles(options: HttpOptions, result: JsonSchema, seed: string): Promise<unknown> {
  const properties = asJsonObject(result.properties);
  const files = Object.entries(options.decode ?? {}).map(async ([field, kind]) => {
    const base64 = (await sampleFile(kind, seed)).bytes.toString('base64');
    return [field, typesOf(properties[field])?.some(isList) ? [base64] : base64] as const;
  });
  if (files.length === 0) return undefined;
  const fields = Object.fromEntries(await Promise.all(files));
  const expression = resultExpression(options);
  return expression === undefined ? fields : reversed(expression, fields);
}

/** A job that is done, with where its result is. */
function jobAnswer({ poll, example }: HttpOptions, request: DoubleRequest): DoubleAnswer {
  const at = poll?.resultAt;
  if (at === undefined) return jsonAnswer(200, example);
  const result = `${request.base}${RESULTS}${digest(seedOf(request))}`;
  const place = placeAlone(at);
  return jsonAnswer(200, merged(poll?.done, place === undefined ? undefined : reversed(place, result)));
}

/** The first answer to a job: what its path and body name, or the header that says where it is. */
function startOf({ path = '', header, body }: PollOptions, id: string, base: string): DoubleAnswer {
  const whole = `${base}${JOBS}${id}`;
  const named = placesInTexts(body).reduce<unknown>((answer, place) => merged(answer, reversed(place, id)), {});
  if (header !== undefined) {
    const said = body === undefined ? '' : JSON.stringify(named);
    return { status: 202, headers: { 'content-type': 'application/json', [header]: whole }, body: said };
  }
  const name = placeAlone(path) === undefined ? id : whole;
  const job = placesIn(path).reduce<unknown>((answer, place) => merged(answer, reversed(place, name)), named);
  return jsonAnswer(201, job);
}
