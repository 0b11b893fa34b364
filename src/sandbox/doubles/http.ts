/**
 * An API that has no double of its own: it answers what the endpoints' files say of it. Calls get the example of their
 * `upstream:` block, else an answer of which the block makes a result that fits the result schema.
 */
import { instanceOf } from '../../schema-instance.ts';
import { digest } from '../../seed.ts';
import type { MediaKind } from '../../upstream/media/type.ts';
import { fileOf, type HttpOptions, resultExpression } from '../../upstream/providers/http/options.ts';
import { placesIn } from '../../upstream/providers/http/path.ts';
import { merged, reversed } from '../../upstream/providers/http/reversed.ts';
import { type FilePlan, filePath, makeFile } from '../files/index.ts';
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
  readonly path: RegExp;
  /** Where its jobs are; undefined where it has none. */
  readonly jobs: RegExp | undefined;
}

/** Where a job is whose address the provider says whole. */
const JOBS = '/~jobs/';

export const httpDouble: DoubleKind = {
  adapter: 'http',
  open({ keys = {} }, uses): Double {
    // `/pools/retired` is not the pool of that name where the provider has such a path.
    const operations = uses.map(operationOf).sort((left, right) => placeCount(left) - placeCount(right));
    const asked = ({ method, path }: DoubleRequest) =>
      operations.find(({ options, path: matches }) => (options.method ?? 'POST') === method && matches.test(path));
    const secrets = Object.values(keys).map(sandboxSecret);
    return {
      unauthorized: (request) =>
        secrets.every((secret) => carries(request, secret)) ? undefined : jsonAnswer(401, { error: 'no valid key' }),
      isBilled: (request) => asked(request) !== undefined,
      async answer(request) {
        const operation = asked(request);
        if (operation) return await answerOf(operation, request);
        const job = operations.find(({ jobs }) => jobs?.test(request.path));
        return job ? jsonAnswer(200, job.options.example) : jsonAnswer(404, { error: 'no such path' });
      },
      errorBody: () => ({ error: 'the provider is in trouble' }),
      refuse: () => jsonAnswer(422, { error: 'the provider does not take this' }),
    };
  },
};

function operationOf({ options: given, result }: DoubleUse): Operation {
  const options = given as unknown as HttpOptions;
  const { path, poll } = options;
  return {
    options,
    result,
    path: matcher(path),
    jobs: poll && matcher(isWhole(poll.path) ? `${JOBS}{id}` : poll.path),
  };
}

const placeCount = ({ options }: Operation): number => placesIn(options.path).length;

const isWhole = (path: string): boolean => /^\{[^{}]+\}$/.test(path);

const matcher = (path: string): RegExp => {
  const parts = path.split(/\{[^{}]+\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}$`);
};

/** Wherever the provider wants it. */
function carries({ headers, query }: DoubleRequest, secret: string): boolean {
  const { authorization = '' } = headers;
  const basic = authorization.startsWith('Basic ') ? Buffer.from(authorization.slice(6), 'base64').toString() : '';
  return [...Object.values(headers).flat(), ...query.values(), basic].some((value) => value?.includes(secret));
}

async function answerOf({ options, result }: Operation, request: DoubleRequest): Promise<DoubleAnswer> {
  const seed = `${request.path}?${request.query}${request.body}`;
  const kind = fileOf(options);
  if (kind) return await fileAnswer(kind, seed);
  if (options.poll) return jsonAnswer(201, jobOf(options.poll.path, digest(seed), request.base));
  if (options.example !== undefined) return jsonAnswer(200, options.example);
  const made = instanceOf(result, seed);
  const expression = resultExpression(options);
  return jsonAnswer(200, expression === undefined ? made : reversed(expression, made));
}

/** The first answer to a job: what its path names. */
function jobOf(path: string, id: string, base: string): unknown {
  const name = isWhole(path) ? `${base}${JOBS}${id}` : id;
  return placesIn(path).reduce<unknown>((answer, place) => merged(answer, reversed(place, name)), {});
}

const plans: Readonly<Record<MediaKind, (seed: string) => FilePlan>> = {
  image: (seed) => ({ kind: 'picture', seed, width: 640, height: 480, label: 'sandbox', format: 'png' }),
  audio: (seed) => ({ kind: 'sound', seed, seconds: 2, format: 'mp3', sampleRate: 22_050 }),
  video: () => ({ kind: 'clip', seconds: 2, ratio: 16 / 9 }),
};

async function fileAnswer(kind: MediaKind, seed: string): Promise<DoubleAnswer> {
  const file = await makeFile(filePath(plans[kind](digest(seed))));
  return file ? { status: 200, headers: { 'content-type': file.type }, body: file.bytes } : jsonAnswer(500, {});
}
