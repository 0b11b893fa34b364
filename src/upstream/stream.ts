/** One HTTP exchange with an upstream whose answer is passed on while it comes. */
import { Readable } from 'node:stream';
import { begin, collect, isAccepted, type Line, type PreparedRequest, unwanted, withoutSecrets } from './exchange.ts';
import type { UpstreamStream } from './http.ts';

/**
 * Asks once: what has begun cannot be asked for again. The upstream's own time limit is for the answer to begin, the
 * request's signal for all of it. Throws UpstreamProblem.
 */
export async function openStream(line: Line, request: PreparedRequest): Promise<UpstreamStream> {
  const begun = await begin(line, request);
  if ('problem' in begun) throw begun.problem;
  const { status, headers, body } = begun;
  // Told now: while a long answer runs, the circuit must not wait for its end.
  begun.report(status < 500 ? 'success' : 'failure');
  const problemOf = (error: unknown) => begun.explain(error).failed.problem;
  if (status < 400 && isAccepted(status, request)) {
    begun.inTime();
    body.once('close', begun.leave);
    // Whoever reads is told of an error; one that comes when nobody reads must not end the process.
    body.on('error', () => {});
    return { status, headers, body, problemOf };
  }
  try {
    const whole = await collect(line, request, body);
    if (!isAccepted(status, request)) throw unwanted(line, request, begun, whole).problem;
    return { status, headers, body: Readable.from([withoutSecrets(line, status, whole)]), problemOf };
  } catch (error) {
    throw problemOf(error);
  } finally {
    begun.leave();
  }
}
