/** Jobs: the provider's first answer says where the result will be. */
import { parseDuration } from '../../../catalogue/duration.ts';
import { pause } from '../../http/retry.ts';
import type { UpstreamHttp } from '../../http/upstream-http.ts';
import { evaluate } from '../../jmespath.ts';
import { UpstreamProblem } from '../../problem.ts';
import { readAnswer } from './answer.ts';
import type { PollOptions } from './options.ts';
import { filledPath, placesIn } from './path.ts';

const USUAL_PAUSE_MS = 2_000;

interface Asking {
  readonly upstream: string;
  readonly http: Pick<UpstreamHttp, 'request'>;
  readonly signal: AbortSignal;
}

/** The answer of the job that is done. Throws UpstreamProblem. */
export async function poll(first: unknown, options: PollOptions, { upstream, http, signal }: Asking): Promise<unknown> {
  const { until, failed, every } = options;
  const path = jobPath(first, options.path, upstream);
  const pauseMs = (every && parseDuration(every)) || USUAL_PAUSE_MS;
  let answer = first;
  while (evaluate(until, answer, upstream) !== true) {
    if (failed !== undefined && evaluate(failed, answer, upstream) === true) {
      const providerMessage = JSON.stringify(answer);
      throw new UpstreamProblem('failed', upstream, 'the job came to nothing', { providerMessage });
    }
    await pause(pauseMs, signal).catch(() => {
      throw new UpstreamProblem('timeout', upstream, 'the job was not done at the deadline');
    });
    answer = readAnswer(await http.request({ method: 'GET', path, signal, asksOfJob: true }), upstream);
  }
  return answer;
}

/** The HTTP layer goes to no address at another host. */
function jobPath(first: unknown, path: string, upstream: string): string {
  const found = (expression: string): string | number => {
    const value = evaluate(expression, first, upstream);
    if (typeof value === 'string' || typeof value === 'number') return value;
    throw new UpstreamProblem('malformed', upstream, `the first answer has no ${expression}`);
  };
  const [only] = placesIn(path);
  const place = only !== undefined && path === `{${only}}` ? String(found(only)) : undefined;
  return place?.includes('://') ? place : filledPath(path, found, upstream);
}
