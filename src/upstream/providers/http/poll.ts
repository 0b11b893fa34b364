/** Jobs: the provider's first answer says where the result will be. */
import type { OptionFault } from '../../../catalogue/contracts.ts';
import { parseDuration } from '../../../catalogue/duration.ts';
import { pause } from '../../http/retry.ts';
import type { UpstreamHttp, UpstreamResponse } from '../../http/upstream-http.ts';
import { evaluate } from '../../jmespath.ts';
import { UpstreamProblem } from '../../problem.ts';
import { readAnswer } from './answer.ts';
import type { HttpOptions, PollOptions } from './options.ts';
import { filledPath, placesIn, textFaults } from './path.ts';
import { refuseFailed } from './refusal.ts';

const USUAL_PAUSE = '2s';

interface Asking {
  readonly upstream: string;
  readonly http: Pick<UpstreamHttp, 'request' | 'baseUrl' | 'upstream'>;
  readonly signal: AbortSignal;
}

const pauseOf = ({ every = USUAL_PAUSE }: PollOptions): number => parseDuration(every) ?? 0;

/** The first answer to a request, which says where its job is. */
interface Started {
  readonly answer: unknown;
  readonly headers: UpstreamResponse['headers'];
  /** Of the request. */
  readonly path: string;
}

/** The answer of the job that is done. Throws UpstreamProblem. */
export async function poll(
  started: Started,
  options: PollOptions & Pick<HttpOptions, 'asText'>,
  { upstream, http, signal }: Asking,
): Promise<unknown> {
  const { until, failed, asText, header } = options;
  const { answer: first } = started;
  const path = header === undefined ? jobPath(first, options.path ?? '', upstream) : placeSaid(started, header, http);
  const pauseMs = pauseOf(options);
  let answer = first;
  while (evaluate(until, answer, upstream) !== true) {
    refuseFailed(failed, answer, upstream, 'the job came to nothing');
    await pause(pauseMs, signal).catch(() => {
      throw new UpstreamProblem('timeout', upstream, 'the job was not done at the deadline');
    });
    const response = await http.request({ method: 'GET', path, signal, asksOfJob: true });
    answer = readAnswer(response, upstream, { asText, poll: options });
  }
  return answer;
}

/** The whole address; one that is not whole is read from the request's own. Throws UpstreamProblem `malformed`. */
function placeSaid(
  { headers, path }: Started,
  header: string,
  http: Pick<UpstreamHttp, 'baseUrl' | 'upstream'>,
): string {
  const place = headers[header.toLowerCase()];
  const from = `${http.baseUrl.replace(/\/$/, '')}${path}`;
  if (place !== undefined && URL.canParse(place, from)) return new URL(place, from).href;
  throw new UpstreamProblem('malformed', http.upstream, `the first answer has no address of a job in ${header}`);
}

/** The HTTP layer goes to no address at another host. */
function jobPath(first: unknown, path: string, upstream: string): string {
  const found = (expression: string): string | number => {
    const value = evaluate(expression, first, upstream);
    // Its last digits were lost in reading: it may be that of another caller's job.
    if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      const message = `${expression} is a number too long to be exact: name its member in asText`;
      throw new UpstreamProblem('malformed', upstream, message);
    }
    if (typeof value === 'string' || typeof value === 'number') return value;
    throw new UpstreamProblem('malformed', upstream, `the first answer has no ${expression}`);
  };
  const [only] = placesIn(path);
  const place = only !== undefined && path === `{${only}}` ? String(found(only)) : undefined;
  return place?.includes('://') ? place : filledPath(path, found, upstream);
}

/** Jobs that nobody could ask for, or whose end no call could see. `deadlineMs` is the shortest that a call may take. */
export function jobFaults(options: PollOptions, deadlineMs: number, baseUrl: string): OptionFault[] {
  const { path, header, every = USUAL_PAUSE } = options;
  const faults = path === undefined ? [] : [...jobPathFaults(path, baseUrl), ...textFaults(path, ['poll', 'path'])];
  if (path === undefined && header === undefined) {
    faults.push({ path: ['poll'], message: 'poll does not say where the job is', expected: 'add path or header' });
  }
  if (path !== undefined && header !== undefined) {
    const twice = 'poll says twice where the job is';
    faults.push({ path: ['poll', 'header'], message: twice, expected: 'write path or header' });
  }
  if (pauseOf(options) < deadlineMs) return faults;
  const message = `poll.every is ${every}, and a call may end after ${deadlineMs / 1000}s`;
  return [
    ...faults,
    { path: ['poll', 'every'], message, expected: 'write less than the deadline, or a longer deadline' },
  ];
}

/** A job is asked for below the upstream's address, or at a whole one that the first answer holds. */
function jobPathFaults(path: string, baseUrl: string): OptionFault[] {
  if (/^(?:\/|\{[^{}]+\}$)/.test(path)) return [];
  if (/^https?:\/\//.test(path) && URL.canParse(path)) {
    const { origin } = new URL(baseUrl);
    if (new URL(path).origin === origin) return [];
    const message = `poll.path is at another host than its upstream, which is at ${origin}: it would not be asked`;
    return [{ path: ['poll', 'path'], message, expected: 'write a path at that host' }];
  }
  const expected = 'begin it with /, or write one place alone for a whole address: "{url}"';
  return [{ path: ['poll', 'path'], message: 'poll.path is no path', expected }];
}
