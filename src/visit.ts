/** What is noted of one request while it is answered, for its line in the log and for the metrics. */
import { randomUUID } from 'node:crypto';
import type { Trace } from './trace.ts';

/** Whoever writes down what has ended. */
export type Ended = (visit: Visit) => void;

export class Visit {
  /** The sold route's id, a tool's name, the path's own kind, or `unsold`: never what a stranger made up. */
  route = 'unsold';
  /** `x402`, `mpp`, `mcp`, `api-key` or `document`. */
  door = 'document';
  status = 0;
  /** What was sent, headers included. */
  bytes: number | undefined;
  /** The caller left before the whole answer was sent. */
  isCut = false;
  /** The price was asked and no payment came along. */
  isProbe = false;
  readonly startedAt = performance.now();

  /** Of what was paid for. */
  amount: string | undefined;
  network: string | undefined;
  payer: string | undefined;
  transaction: string | undefined;
  upstreamMs: number | undefined;
  /** In dollars, where the provider says so. */
  cost: string | undefined;
  attempt: number | undefined;
  isReplayed = false;

  /** A tool call, which has come with a request. */
  isTool = false;

  readonly method: string;
  readonly trace: Trace | undefined;
  readonly requestId: string;
  readonly #ended: Ended;
  #open = 1;

  constructor(method: string, ended: Ended, trace?: Trace, requestId: string = randomUUID()) {
    this.method = method;
    this.#ended = ended;
    this.trace = trace;
    this.requestId = requestId;
  }

  /** Work for it goes on, also where its caller leaves. */
  hold(): void {
    this.#open += 1;
  }

  /** Ends it once its answer is out and no work goes on. */
  release(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#ended(this);
  }

  get ms(): number {
    return performance.now() - this.startedAt;
  }
}

/** A tool call that came with a request of the Model Context Protocol. */
export function toolVisit(request: Visit, ended: Ended): Visit {
  const visit = new Visit('tools/call', ended, request.trace, request.requestId);
  visit.door = 'mcp';
  visit.isTool = true;
  return visit;
}
