/** A completion that is answered in one piece. */
import type { ServerResponse } from 'node:http';
import type { Naming } from './answer.ts';
import { openCompletion } from './completion.ts';
import { MOST_KEPT, type Reply } from './reply.ts';

/** Characters of JSON that are held of one answer: far more than the longest text of any model. */
const MOST_CHARACTERS = 32_000_000;

const TYPE = 'application/json';

/** Nothing is sent before the end. */
export function wholeReply(response: ServerResponse, naming: Naming): Reply {
  const completion = openCompletion(naming);
  const end = (): string => JSON.stringify(completion.whole());
  const cut: Reply['cut'] = (unfinished, use) => {
    completion.cut(unfinished, use);
    return end();
  };
  return {
    async add(part) {
      if (part.kind === 'chunk') completion.add(part.chunk);
    },
    get isFull() {
      return completion.characters > MOST_CHARACTERS;
    },
    end,
    cut,
    broken: (_error, unfinished, use) => cut(unfinished, use),
    finish(body) {
      response.setHeader('content-type', TYPE);
      response.setHeader('content-length', Buffer.byteLength(body));
      response.end(body);
    },
    kept: (body) => (body.length > MOST_KEPT ? undefined : { status: 200, contentType: TYPE, body }),
  };
}
