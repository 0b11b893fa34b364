/** Callers who ask much and read little: every answer that waits for them is kept in memory. */
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../errors.ts';
import { MOST_FOR_STRANGERS } from './memory.ts';

/** Of one connection: browsers never send a request before the last is answered, and programs seldom more than a few. */
const MOST_UNANSWERED = 8;
const LOOK_EVERY_MS = 1_000;

interface Unread {
  /** Answers no more than a few requests of a connection at a time; `refuse` answers one more. */
  bounding(listener: RequestListener, refuse: (response: ServerResponse, problem: Problem) => void): RequestListener;
  /**
   * To be called once for a server. Closes connections whose callers have read nothing for `unreadMs`, and those that keep
   * the most waiting where all of them together keep too much, but for one answer. Those on which nothing is asked are
   * closed as without it.
   */
  watch(server: Server, unreadMs: number): void;
}

const tooMany = (): Problem =>
  new Problem(
    'rate_limited',
    `${MOST_UNANSWERED} requests of this connection have no answer yet: read those, or open another`,
    { headers: { connection: 'close', 'retry-after': '1' } },
  );

/** Bytes that its caller has not taken. */
const waitingOf = (responses: ReadonlySet<ServerResponse>): number =>
  [...responses].reduce((sum, { writableLength }) => sum + writableLength, 0);

/** `mostUnread`: of all connections together, in bytes. Files are read as fast as they are sent, and count for next to nothing. */
export function openUnread(mostUnread = MOST_FOR_STRANGERS): Unread {
  const unanswered = new Map<Socket, Set<ServerResponse>>();

  function add(socket: Socket, response: ServerResponse): number {
    const responses = unanswered.get(socket) ?? new Set();
    unanswered.set(socket, responses.add(response));
    response.once('close', () => {
      responses.delete(response);
      if (responses.size === 0) unanswered.delete(socket);
    });
    return responses.size;
  }

  function closeLargest(): void {
    const all = [...unanswered].map(([socket, responses]) => ({
      socket,
      isOneAnswer: responses.size === 1,
      bytes: waitingOf(responses),
    }));
    let total = all.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= mostUnread) return;
    for (const { socket, isOneAnswer, bytes } of all.sort((one, other) => other.bytes - one.bytes)) {
      // Closed each time, whoever has paid for an answer of that size would never have it.
      if (isOneAnswer && total - bytes <= mostUnread / 2) return;
      socket.destroy();
      total -= bytes;
      if (total <= mostUnread / 2) return;
    }
  }

  return {
    bounding: (listener, refuse) => (request, response) => {
      const count = add(request.socket, response);
      if (count <= MOST_UNANSWERED) listener(request, response);
      // What comes behind the refusal has no answer: the connection ends with it.
      else if (count === MOST_UNANSWERED + 1) refuse(response, tooMany());
    },
    watch(server, unreadMs) {
      // Node does not call it while what is written goes on, and calls it for idle connections as well.
      server.setTimeout(unreadMs, (socket) => {
        const responses = unanswered.get(socket);
        if (!responses || waitingOf(responses) > 0) socket.destroy();
      });
      const looking = setInterval(closeLargest, LOOK_EVERY_MS);
      looking.unref();
      server.once('close', () => clearInterval(looking));
    },
  };
}
