/** Answers that are passed on while they come. */
import type { ServerResponse } from 'node:http';
import type { LiveAnswer, Outcome } from '../lifecycle/outcome.ts';
import type { Rail } from '../payment/rail.ts';
import { render } from './render.ts';
import { send } from './transport.ts';

/** For the lifecycle: what begins here is ended by `finish`. */
export function liveAnswer(response: ServerResponse, rails: ReadonlyMap<string, Rail>): LiveAnswer {
  return {
    begin(head) {
      const { status, headers } = render({ kind: 'result', isClaimed: true, ...head }, rails);
      response.writeHead(status, headers);
      response.flushHeaders();
    },
    write(text) {
      if (!response.destroyed) response.write(text);
    },
  };
}

/** Sends the outcome, or ends the answer that has begun: with an event `error` where it came to nothing after all. */
export function finish(response: ServerResponse, outcome: Outcome, rails: ReadonlyMap<string, Rail>): void {
  const rendered = render(outcome, rails);
  if (!response.headersSent) send(response, rendered);
  else response.end(outcome.kind === 'result' ? undefined : `event: error\ndata: ${rendered.body}\n\n`);
}
