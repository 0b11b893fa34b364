/** What is noted of one request while it is answered, for its line in the log and for the metrics. */
import { randomUUID } from 'node:crypto';
import type { Trace } from './trace.ts';

/** Something that happened in it. */
export interface Step {
  /** When it began, in milliseconds since the epoch. */
  readonly at: number;
  readonly step: string;
  readonly ms: number;
  /** In words, for the operator. No signatures. */
  readonly detail?: string;
}

/** Whoever writes down what has ended. */
export type Ended = (visit: Visit) => void;

export class Visit {
  /** The sold route's id, a tool's name, the path's own kind, or `unsold`: never what a stranger made up. */
  route = 'unsold';
  /** `x402`, `mpp`, `mcp`, `api-key` or `document`. */
  door = 'document';
  /** What was answered, or would have been where the caller left before. */
  status = 0;
  /** What was sent, headers included. */
  bytes: number | undefined;
  /** The caller left before the whole answer was sent. */
  isCut = false;
  /** The price was asked and no payment came along. */
  isProbe = false;
  readonly startedAt = performance.now();
  readonly beganAt = Date.now();

  /** Id of the endpoint that is asked for; undefined: none that is sold. */
  endpoint: string | undefined;
  /** It came with a payment or a key, good or not. */
  isPaying = false;

  /** Of what was paid for. */
  amount: string | undefined;
  network: string | undefined;
  payer: string | undefined;
  transaction: string | undefined;
  upstreamMs: number | undefined;
  /** In dollars, where the provider says so. */
  cost: string | undefined;
  attempt: number | undefined;
  /** The store's name of the payment, once it is this visit's. */
  paymentId: string | undefined;
  /** What happened to who paid, in the order in which it ended. */
  readonly steps: Step[] = [];
  isReplayed = false;

  /** Whom it is counted to: an address; undefined: nobody in particular. */
  client: string | undefined;

  /** It has come with a request, which is counted itself. */
  isWithin = false;

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

  /** A step has ended that took so long. */
  note(step: string, ms: number, detail?: string): void {
    const at = Math.round(this.beganAt + this.ms - ms);
    this.steps.push({ at, step, ms: Math.round(ms), ...(detail !== undefined && { detail }) });
  }

  get ms(): number {
    return performance.now() - this.startedAt;
  }
}

/** Something that came with a request and is written down by itself. */
export function visitWithin(request: Visit, method: string, ended: Ended): Visit {
  const visit = new Visit(method, ended, request.trace, request.requestId);
  visit.client = request.client;
  visit.isWithin = true;
  return visit;
}

/** A tool call that came with a request of the Model Context Protocol. */
export function toolVisit(request: Visit, ended: Ended): Visit {
  const visit = visitWithin(request, 'tools/call', ended);
  visit.door = 'mcp';
  return visit;
}
