/** One HTTP exchange with an upstream whose answer is passed on while it comes. */
import type { UpstreamStream } from './client.ts';
import { begin, collect, isAccepted, type Line, type PreparedRequest, unwanted } from './exchange.ts';

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
  if (isAccepted(status, request)) {
    begun.inTime();
    body.once('close', begun.leave);
    // Whoever reads is told of an error; one that comes when nobody reads must not end the process.
    body.on('error', () => {});
    return { status, headers, body, problemOf: (error) => begun.explain(error).failed.problem };
  }
  try {
    throw unwanted(line, request, begun, await collect(line, request, body)).problem;
  } catch (error) {
    throw begun.explain(error).failed.problem;
  } finally {
    begun.leave();
  }
}
