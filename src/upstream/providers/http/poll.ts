/** Jobs: the provider's first answer says where the result will be. */
import type { OptionFault } from '../../../catalogue/contracts.ts';
import { parseDuration } from '../../../catalogue/duration.ts';
import { pause } from '../../http/retry.ts';
import type { UpstreamHttp } from '../../http/upstream-http.ts';
import { evaluate } from '../../jmespath.ts';
import { UpstreamProblem } from '../../problem.ts';
import { readAnswer } from './answer.ts';
import type { HttpOptions, PollOptions } from './options.ts';
import { filledPath, placesIn, textFaults } from './path.ts';
import { refuseFailed } from './refusal.ts';

const USUAL_PAUSE = '2s';

interface Asking {
  readonly upstream: string;
  readonly http: Pick<UpstreamHttp, 'request'>;
  readonly signal: AbortSignal;
}

const pauseOf = ({ every = USUAL_PAUSE }: PollOptions): number => parseDuration(every) ?? 0;

/** The answer of the job that is done. Throws UpstreamProblem. */
export async function poll(
  first: unknown,
  options: PollOptions & Pick<HttpOptions, 'asText'>,
  { upstream, http, signal }: Asking,
): Promise<unknown> {
  const { until, failed, asText } = options;
  const path = jobPath(first, options.path, upstream);
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
  const { path, every = USUAL_PAUSE } = options;
  const faults = [...jobPathFaults(path, baseUrl), ...textFaults(path, ['poll', 'path'])];
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
