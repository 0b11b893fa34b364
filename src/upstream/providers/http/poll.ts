/** Jobs: the provider's first answer says where the job is, and the job's last one may say where its result is. */
import type { OptionFault } from '../../../catalogue/contracts.ts';
import { parseDuration } from '../../../catalogue/duration.ts';
import type { Job } from '../../bought.ts';
import { pause, retryableStatuses } from '../../http/retry.ts';
import type { UpstreamHttp, UpstreamRequest, UpstreamResponse } from '../../http/upstream-http.ts';
import { evaluate } from '../../jmespath.ts';
import { UpstreamProblem } from '../../problem.ts';
import { readAnswer } from './answer.ts';
import type { HttpOptions, PollOptions } from './options.ts';
import { filledPath, filledTexts, placeAlone, placesIn, placesInTexts, textFaults } from './path.ts';
import { refuseBy, refuseFailed } from './refusal.ts';

const USUAL_PAUSE = '2s';

interface Asking {
  readonly upstream: string;
  readonly http: Pick<UpstreamHttp, 'request' | 'baseUrl'>;
  readonly signal: AbortSignal;
  readonly job: Job;
}

/** Where a job is asked for, as it is noted. */
interface Place {
  readonly path: string;
  /** Undefined: nothing is sent. */
  readonly json?: unknown;
}

/** What was answered, and what is read of it. */
interface Look {
  readonly response: UpstreamResponse;
  readonly answer: unknown;
}

const pauseOf = ({ every = USUAL_PAUSE }: PollOptions): number => parseDuration(every) ?? 0;

/** The first answer, and the path that was asked for it. */
interface Started {
  readonly response: UpstreamResponse;
  readonly path: string;
}

/**
 * The answer of the job that is done, or the one that is where that says. `start` begins it, unless it was begun. Throws
 * UpstreamProblem.
 */
export async function poll(
  start: () => Promise<Started>,
  options: PollOptions & Pick<HttpOptions, 'asText' | 'status'> & Pick<UpstreamRequest, 'maxBytes'>,
  { upstream, http, signal, job }: Asking,
): Promise<UpstreamResponse> {
  const { until, failed, body, asText, resultAt, status, maxBytes } = options;
  const read = (response: UpstreamResponse) => readAnswer(response, upstream, { asText, poll: options });
  const look = (path: string, others: Pick<UpstreamRequest, 'json' | 'accept' | 'maxBytes'> = {}) =>
    http.request({
      method: others.json === undefined ? 'GET' : 'POST',
      path,
      signal,
      asksOfJob: true,
      idempotent: true,
      ...others,
    });
  const pauseMs = pauseOf(options);
  function isDone(answer: unknown): boolean {
    if (evaluate(until, answer, upstream) === true) return true;
    refuseFailed(failed, answer, upstream, 'the job came to nothing');
    return false;
  }

  async function begin(): Promise<Look> {
    const started = await start();
    const answer = read(started.response);
    // A first answer that is empty says by its header where the job is, and nothing of how it stands.
    if (answer !== null && isDone(answer)) return { response: started.response, answer };
    const path = jobPath(started, answer, options, { upstream, http });
    const place: Place = { path, ...(body && { json: filledTexts(body, placeFinder(answer, upstream)) }) };
    await job.note(place);
    return await waitAt(place);
  }

  async function waitAt({ path, json }: Place): Promise<Look> {
    for (;;) {
      await pause(pauseMs, signal).catch(() => {
        throw new UpstreamProblem('timeout', upstream, 'the job was not done at the deadline');
      });
      const response = await look(path, { json });
      const answer = read(response);
      if (isDone(answer)) return { response, answer };
    }
  }

  const { response, answer } = job.begun ? await waitAt(job.begun as Place) : await begin();
  if (resultAt === undefined) return response;
  // Queues say there of what was sent that it is wrong. What passes is waited for, whatever it would mean.
  const refusals = Object.keys(status ?? {}).map(Number);
  const accept = refusals.filter((code) => code < 500 && !retryableStatuses.has(code));
  const last = await look(pathIn(answer, resultAt, upstream), { accept, ...(maxBytes && { maxBytes }) });
  refuseBy({ status, path: resultAt }, 'GET', last.status, last.body, upstream);
  return last;
}

function jobPath(
  { response, path: asked }: Started,
  answer: unknown,
  { path = '', header }: PollOptions,
  { upstream, http }: Pick<Asking, 'upstream' | 'http'>,
): string {
  if (header === undefined) return pathIn(answer, path, upstream);
  const place = response.headers[header.toLowerCase()];
  // One that is not whole is read from the request's own address.
  const from = `${http.baseUrl.replace(/\/$/, '')}${asked}`;
  if (place !== undefined && URL.canParse(place, from)) return new URL(place, from).href;
  throw new UpstreamProblem('malformed', upstream, `the first answer has no address of a job in ${header}`);
}

/** What an answer has of a place that names a job. Throws UpstreamProblem `malformed`. */
const placeFinder =
  (answer: unknown, upstream: string) =>
  (expression: string): string | number => {
    const value = evaluate(expression, answer, upstream);
    // Its last digits were lost in reading: it may be that of another caller's job.
    if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      const message = `${expression} is a number too long to be exact: name its member in asText`;
      throw new UpstreamProblem('malformed', upstream, message);
    }
    if (typeof value === 'string' || typeof value === 'number') return value;
    throw new UpstreamProblem('malformed', upstream, `the answer that says where a job is has no ${expression}`);
  };

/** The path with what the answer has of its places. The HTTP layer goes to no address at another host. */
function pathIn(answer: unknown, path: string, upstream: string): string {
  const found = placeFinder(answer, upstream);
  const only = placeAlone(path);
  const place = only === undefined ? undefined : String(found(only));
  return place?.includes('://') ? place : filledPath(path, found, upstream, 'provider');
}

/** Jobs that nobody could ask for, or whose end no call could see. `deadlineMs` is the shortest that a call may take. */
export function jobFaults(options: PollOptions, deadlineMs: number, baseUrl: string): OptionFault[] {
  const { path, header, body, resultAt, done, every = USUAL_PAUSE } = options;
  const faults = [...pathFaults('path', path, baseUrl), ...pathFaults('resultAt', resultAt, baseUrl)];
  const add = (at: string[], message: string, expected: string) => faults.push({ path: at, message, expected });
  if (path === undefined && header === undefined) {
    add(['poll'], 'poll does not say where the job is', 'add path or header');
  }
  if (path !== undefined && header !== undefined) {
    add(['poll', 'header'], 'poll says twice where the job is', 'write path or header');
  }
  if (path !== undefined && placesIn(path).length === 0 && placesInTexts(body).length === 0) {
    add(
      ['poll', 'path'],
      'poll asks for the same job every time',
      'write {id} where its id is in the first answer, or in body',
    );
  }
  if (done !== undefined && resultAt === undefined) {
    add(['poll', 'done'], 'the job itself has the result', "leave it out: example is the job's last answer");
  }
  if (pauseOf(options) >= deadlineMs) {
    const message = `poll.every is ${every}, and a call may end after ${deadlineMs / 1000}s`;
    add(['poll', 'every'], message, 'write less than the deadline, or a longer deadline');
  }
  return faults;
}

function pathFaults(option: 'path' | 'resultAt', path: string | undefined, baseUrl: string): OptionFault[] {
  if (path === undefined) return [];
  const at = ['poll', option];
  return [...placeFaults(at, path, baseUrl), ...textFaults(path, at)];
}

/** A job is asked for below the upstream's address, or at a whole one that an answer holds. */
function placeFaults(at: readonly string[], path: string, baseUrl: string): OptionFault[] {
  const name = at.join('.');
  if (path.startsWith('/') || placeAlone(path) !== undefined) return [];
  if (/^https?:\/\//.test(path) && URL.canParse(path)) {
    const { origin } = new URL(baseUrl);
    if (new URL(path).origin === origin) return [];
    const message = `${name} is at another host than its upstream, which is at ${origin}: it would not be asked`;
    return [{ path: at, message, expected: 'write a path at that host' }];
  }
  const expected = 'begin it with /, or write one place alone for a whole address: "{url}"';
  return [{ path: at, message: `${name} is no path`, expected }];
}
