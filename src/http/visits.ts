/** Every request that comes in is a visit, from its headers until its answer is out and its work is done. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readTrace } from '../request/trace.ts';
import { type Ended, Visit } from '../request/visit.ts';
import type { ClientOf } from './client-address.ts';

const kept = new WeakMap<ServerResponse, Visit>();

export function beginVisit(
  request: IncomingMessage,
  response: ServerResponse,
  { ended, clientOf }: { readonly ended: Ended; readonly clientOf: ClientOf },
): Visit {
  const { method = 'GET', headers, socket } = request;
  const over: Ended = (each) => {
    // Work goes on where the caller left: only at its end it is known what it would have been answered.
    each.status = response.statusCode;
    ended(each);
  };
  const visit = new Visit(method, over, readTrace(headers.traceparent));
  visit.client = clientOf(request);
  const before = socket.bytesWritten;
  response.on('close', () => {
    visit.bytes = socket.bytesWritten - before;
    visit.isCut = !response.writableFinished;
    visit.release();
  });
  return visit;
}

/** For whoever answers it further on: `visitOf`. */
export function keepVisit(response: ServerResponse, visit: Visit): Visit {
  kept.set(response, visit);
  return visit;
}

/** One that nobody writes down, where none was kept. */
export const visitOf = (response: ServerResponse): Visit => kept.get(response) ?? new Visit('GET', () => {});

export const hasVisit = (response: ServerResponse): boolean => kept.has(response);
