/**
 * One signed payment, sent until it is answered. The gateway binds it to the request, charges it once at most, and gives the
 * same payment the same answer: what was lost is asked for with it again, and no other is ever signed for the same call.
 */
import { toDecimal } from '../money.ts';
import type { Turn } from '../turns.ts';
import type { Again, Answer, Failure, Paid, Receipt } from './answer.ts';
import { readResult, TooLong } from './bounded.ts';
import { type Events, readEvents, type StreamEvent } from './events.ts';
import type { Offer } from './offers.ts';
import { openPatience } from './patience.ts';
import { isOpen, isOwnCode, readProblem, type SaidProblem, saysGivenBack, saysUncharged } from './problem.ts';

export interface PurchaseParts {
  readonly offer: Offer;
  /** Sends the request with its payment. The signal ends the waiting for its answer. */
  send(signal: AbortSignal | undefined): Promise<Response>;
  /** The transaction that an answer's receipt names. */
  transactionOf(answer: Response): string | undefined;
  /** Takes what is counted back, for the gateway says that nothing was charged: false where it stays counted. */
  giveBack(): boolean;
  /** Whether the gateway only asks to send it later. */
  isBusy?(answer: Response): boolean;
  /** Dollars that the call was charged, where they are not what was signed for. */
  charged?(): string | undefined;
  /** Waits for others that must not be under way at the same time, where it is sent once more later. */
  turn?: Turn;
  /** Attempts after the first. */
  readonly retries: number;
}

/** A stream ended before its end. */
export class StreamBroken extends Error {
  readonly code: string;
  /**
   * Sends the same payment again, which is not charged again: the stream comes whole, or the same if the code is `answer_cut`.
   * What cost nothing is called anew, and not paid for.
   */
  readonly again: Again<Events>;
  constructor(code: string, message: string, again: Again<Events>) {
    super(message);
    this.name = 'StreamBroken';
    this.code = code;
    this.again = again;
  }
}

const HAD_AGAIN = 'again() brings it whole, and what was paid is not charged twice';

/** What was said last of a payment that has no result yet. */
type Last = Pick<SaidProblem, 'status' | 'message' | 'details' | 'requestId'> & { readonly code: string };

const NOTHING: Last = {
  status: 0,
  code: 'no_answer',
  message: 'nothing was answered',
  details: [],
  requestId: undefined,
};

/** What a gateway says of the payment: all others only say that they had no answer of it. */
const isOwnWord = ({ status, code }: SaidProblem): boolean => status === 402 || isOwnCode(code);

/** Resolves early when the signal aborts. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
  });
}

export interface Purchase<Result> {
  /** Sends it, and again where that may get its answer. The signal ends the waiting. Never throws. */
  complete(signal: AbortSignal | undefined): Promise<Answer<Result>>;
}

export function openPurchase<Result>(parts: PurchaseParts): Purchase<Result> {
  const { offer, send, transactionOf, retries } = parts;
  const { asset, amount, price, payTo } = offer;
  const paid: Paid = {
    price: toDecimal(price),
    amount: amount.toString(),
    asset: asset.address,
    network: asset.id,
    payTo,
  };
  const maybeCharged = `${paid.price} USD was signed on ${paid.network} and may have been charged`;
  let attempts = 0;
  let isCounted = true;

  /** What earlier attempts came to nobody has said: only the first answer gives the money back. */
  const uncharge = (): void => {
    if (isCounted) isCounted = !parts.giveBack();
  };

  const receiptOf = (answer: Response): Receipt | undefined => {
    const transaction = transactionOf(answer);
    const charged = parts.charged?.();
    if (transaction === undefined) return undefined;
    return { transaction, network: asset.network, ...(charged !== undefined && { charged }) };
  };

  /** The result; throws where the connection ends before it. */
  async function success(answer: Response): Promise<Answer<Result>> {
    const result = await resultOf(answer, again);
    return { ok: true, status: answer.status, result, receipt: receiptOf(answer), paid };
  }

  function owed({ status, code, message, details, requestId }: Last): Answer<Result> {
    const words = `${message}: ${maybeCharged}; again() sends the same payment`;
    const said = { status, code, message: words, details, requestId };
    return { ok: false, reason: 'owed', ...said, paid, isCounted: true, again };
  }

  async function complete(signal: AbortSignal | undefined): Promise<Answer<Result>> {
    let last = NOTHING;
    const patience = openPatience(retries);
    for (;;) {
      let pauseMs: number | undefined;
      attempts += 1;
      const isAlone = attempts === 1;
      try {
        const answer = await send(signal);
        if (isAlone && isElsewhere(answer)) return redirected(answer, { paid, isCounted }, maybeCharged);
        if (answer.ok) return await success(answer);
        const said = await readProblem(answer);
        pauseMs = patience.pauseAfter(said);
        const isBusy = pauseMs !== undefined && parts.isBusy?.(answer) === true;
        // What became of the payment, only the gateway can say.
        if (isOwnWord(said) && !isOpen(said.code, isAlone) && !isBusy) {
          const isFree = isAlone && saysUncharged(said.code, transactionOf(answer) !== undefined);
          if (!isFree && !saysGivenBack(said.code)) {
            const of = isAlone ? maybeCharged : `of this attempt, and ${maybeCharged} by one before it`;
            return notDone({ ...said, message: `${said.message}: ${of}` }, { paid, isCounted });
          }
          uncharge();
          return notDone(said, { paid, isCounted });
        }
        last = { ...said, code: said.code ?? 'no_answer' };
        // What stands before the gateway would refuse it the next time as well.
        if (isAlone && !isOwnWord(said) && said.status < 500) break;
      } catch (error) {
        last = { ...last, status: 0, code: 'no_answer', message: `no answer came (${reasonOf(error)})` };
        // It would be as long again.
        if (error instanceof TooLong) break;
        pauseMs = patience.pauseAfter();
      }
      if (pauseMs === undefined || signal?.aborted) break;
      await pause(pauseMs, signal);
    }
    return owed(last);
  }

  const again: Again<Result> = async ({ signal } = {}) => {
    if (!parts.turn) return await complete(signal);
    try {
      return await parts.turn(() => complete(signal), signal);
    } catch (error) {
      // Who stops waiting for its turn has what it had.
      return owed({ ...NOTHING, message: `no answer came (${reasonOf(error)})` });
    }
  };

  return { complete };
}

async function* streamed(body: ReadableStream<Uint8Array>, again: Again<Events>): AsyncGenerator<StreamEvent> {
  const broken = (code: string, message: string) => new StreamBroken(code, message, again);
  try {
    for await (const event of readEvents(body)) {
      if (event.event === 'error') throw brokenBy(event.data, broken);
      yield event;
    }
  } catch (error) {
    if (error instanceof StreamBroken) throw error;
    throw broken('no_answer', `the stream broke off (${reasonOf(error)}): ${HAD_AGAIN}`);
  }
}

/** What was answered, as events where it streams; throws where the connection ends before it. `again`: of what breaks off. */
export async function resultOf<Result>(answer: Response, again: Again<Result>): Promise<Result> {
  const streams = answer.headers.get('content-type')?.startsWith('text/event-stream') && answer.body;
  return (streams ? streamed(streams, again as Again<Events>) : await readResult(answer)) as Result;
}

function brokenBy(data: string, broken: (code: string, message: string) => StreamBroken): StreamBroken {
  try {
    const { error } = JSON.parse(data) as { error: { code: string; message: string } };
    return broken(String(error.code), String(error.message));
  } catch {
    return broken('no_answer', `the stream broke off: ${HAD_AGAIN}`);
  }
}

interface Signed {
  readonly paid: Paid | undefined;
  readonly isCounted: boolean;
}

/** An answer that ends a call without a result. */
export function notDone(said: SaidProblem, signed: Signed): Answer<never> {
  const { status, message, details, requestId } = said;
  const isRefused = status < 500;
  const code = said.code ?? (status === 402 ? 'payment_refused' : 'unreadable_answer');
  return { ok: false, reason: isRefused ? 'refused' : 'failed', status, code, message, details, requestId, ...signed };
}

/** An answer that sends its caller elsewhere. */
export const isElsewhere = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400);

/**
 * A gateway never sends its callers elsewhere: payments go to the host that was named, and to no other. `money`: what is said of
 * what was signed.
 */
export function redirected({ status }: Response, signed: Signed, money?: string): Answer<never> {
  const said = 'the gateway sends its callers elsewhere, which is not followed: name its own address as `url`';
  const message = money === undefined ? said : `${said}: ${money}`;
  return {
    ok: false,
    reason: 'failed',
    status,
    code: 'redirected',
    message,
    details: [],
    requestId: undefined,
    ...signed,
  };
}

/** A payment that could not be signed ends a call before anybody has it. */
export function notSigned(error: unknown): Failure<never> {
  const message = `The payment could not be signed (${reasonOf(error)}): nothing was sent`;
  const said = { status: 402, code: 'not_signed', message, details: [], requestId: undefined };
  return { ok: false, reason: 'unpaid', ...said };
}

/** Why something could not be reached. Node's fetch says it in the cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? `${error.message}: ${cause.message || cause.name}` : error.message;
}
