/** One HTTP exchange with an upstream whose answer is passed on while it comes. */
import { Readable } from 'node:stream';
import {
  askForStream,
  begin,
  collect,
  endedWith,
  isAccepted,
  type PreparedRequest,
  type UpstreamConnection,
  unwanted,
  withoutSecrets,
} from './exchange.ts';
import type { UpstreamStream } from './upstream-http.ts';

/**
 * Asks once: what has begun cannot be asked for again. The upstream's own time limit is for the answer to begin, the
 * request's signal for all of it. Throws UpstreamProblem.
 */
export async function openStream(connection: UpstreamConnection, request: PreparedRequest): Promise<UpstreamStream> {
  const begun = await begin(connection, request, askForStream);
  if ('problem' in begun) throw begun.problem;
  const { status, headers, body } = begun;
  // Reported now: while a long answer runs, the circuit must not wait for its end.
  begun.report(endedWith(status));
  const problemOf = (error: unknown) => begun.explain(error).failed.problem;
  // What the caller wants to read itself is said of the request, and is bounded as any answer is.
  if (isAccepted(status, request) && !request.accept.includes(status)) {
    begun.inTime();
    body.once('close', begun.leave);
    // Whoever reads gets an error as well; one that comes when nobody reads must not end the process.
    body.on('error', () => {});
    return { status, headers, body, problemOf };
  }
  try {
    const whole = await collect(connection, request, body);
    if (!isAccepted(status, request)) throw unwanted(connection, request, begun, whole).problem;
    return { status, headers, body: Readable.from([withoutSecrets(connection, status, whole)]), problemOf };
  } catch (error) {
    throw problemOf(error);
  } finally {
    begun.leave();
  }
}
