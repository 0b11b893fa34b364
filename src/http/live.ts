/** Answers that are passed on while they come. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Lifecycle } from '../lifecycle/lifecycle.ts';
import type { LiveAnswer, Outcome } from '../lifecycle/outcome.ts';
import type { Rail } from '../payment/rail.ts';
import type { Visit } from '../request/visit.ts';
import type { Storefront } from '../storefront/index.tsx';
import { render } from './render.ts';
import { incomingRequest, send, splitUrl, UNBUFFERED } from './transport.ts';

/** For the lifecycle: what begins here is ended by `finish`. */
function liveAnswer(response: ServerResponse, rails: ReadonlyMap<string, Rail>): LiveAnswer {
  return {
    begin(head) {
      const { status, headers } = render({ kind: 'result', isClaimed: true, ...head }, rails);
      response.writeHead(status, { ...headers, ...UNBUFFERED });
      response.flushHeaders();
    },
    write(text) {
      if (!response.destroyed) response.write(text);
    },
  };
}

/** Sends the outcome, or ends the answer that has begun: with an event `error` where it came to nothing after all. */
function finish(response: ServerResponse, outcome: Outcome, visit: Visit, { rails, storefront }: SoldParts): void {
  const answer = render(outcome, rails);
  // The challenge stands in its headers all the same. Who pays is a program, whatever it says that it would rather read.
  const page = visit.isPaying ? undefined : storefront.pageInPlaceOf(response.req, answer.status);
  const rendered = page ? { ...answer, headers: { ...answer.headers, ...page.headers }, body: page.body } : answer;
  if (!response.headersSent) send(response, rendered);
  else response.end(outcome.kind === 'result' ? undefined : `event: error\ndata: ${rendered.body}\n\n`);
}

interface SoldParts {
  readonly storefront: Pick<Storefront, 'pageInPlaceOf'>;
  readonly lifecycle: Pick<Lifecycle, 'answer'>;
  readonly rails: ReadonlyMap<string, Rail>;
}

/** A request for what is sold. Work that has begun goes on where its caller leaves, and so does the visit. */
export async function answerSold(
  parts: SoldParts,
  request: IncomingMessage,
  response: ServerResponse,
  visit: Visit,
): Promise<void> {
  const { lifecycle, rails } = parts;
  visit.hold();
  try {
    const live = liveAnswer(response, rails);
    const incoming = incomingRequest(request, splitUrl(request.url ?? '/'), { live, visit });
    finish(response, await lifecycle.answer(incoming), visit, parts);
  } finally {
    visit.release();
  }
}
