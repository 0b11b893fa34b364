/**
 * Callers with an API key: their completions come whole or streamed, and some leave in the middle. Half of them name their call,
 * and send it again until it is answered.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Dice } from './dice.ts';
import { anyGateway, type Market } from './payer.ts';

/** How a call ended, as its caller saw it. */
export interface ChatCall {
  readonly mark: string;
  /** As the timeline has them. */
  readonly begunAt: number;
  endedAt: number;
  /** Under which the ledger has the call that was answered; undefined where nothing came at all. */
  requestId: string | undefined;
  /** Of all that were sent under one name; one alone where it has none. */
  readonly requestIds: Set<string>;
  /** `refused`: nothing was sent but an error; `broken`: it began, and no end came. */
  outcome: 'whole' | 'refused' | 'broken' | 'no answer';
  status: number;
  code: string;
  /** Its time was over before the model had come to its end: it costs what had come by then, as estimated. */
  isCut: boolean;
}

const STREAMED_PERCENT = 60;
const LEAVING_PERCENT = 20;
const NAMED_PERCENT = 50;
/** Of a call that has a name. */
const ATTEMPTS = 6;

/** One completion. Never throws. */
export async function chat(market: Market, apiKey: string, number: number, dice: Dice): Promise<ChatCall> {
  const { sender, timeline } = market;
  const mark = `purchase-${number}`;
  const begunAt = timeline.now();
  const call: ChatCall = {
    mark,
    begunAt,
    endedAt: begunAt,
    requestId: undefined,
    requestIds: new Set(),
    outcome: 'no answer',
    status: 0,
    code: '',
    isCut: false,
  };
  const stream = dice.percent(STREAMED_PERCENT);
  const isNamed = dice.percent(NAMED_PERCENT);
  const leaveAfterMs = dice.percent(LEAVING_PERCENT) ? dice.between(5, 300) : undefined;
  const messages = [{ role: 'user', content: `Why does fog scatter light? ${mark}` }];
  const headers = { authorization: `Bearer ${apiKey}`, ...(isNamed && { 'idempotency-key': mark }) };

  async function attempt(signal: AbortSignal | undefined): Promise<void> {
    const { slot, url } = await anyGateway(market, dice);
    const note = (what: string) =>
      timeline.note(`chat${stream ? ', streamed' : ''}${isNamed ? ', named' : ''}: ${what}`, { mark, slot });
    const body = { model: 'vendor5-k3', max_tokens: 100, messages, stream };
    Object.assign(call, { outcome: 'no answer', status: 0, code: '', requestId: undefined });
    note('the caller asks');
    try {
      const { status, text, code } = await sender.post(
        { url: `${url}/v1/chat/completions`, headers, body, signal },
        (head) => {
          call.status = head.status;
          call.requestId = String(head.headers['x-request-id']);
          call.requestIds.add(call.requestId);
          call.outcome = 'broken';
        },
      );
      call.code = code;
      call.isCut = /"finish_reason": ?"length"/.test(text);
      if (status >= 400) call.outcome = 'refused';
      else if (!stream || text.endsWith('data: [DONE]\n\n')) call.outcome = 'whole';
      // What is given again has the id of the call that was made.
      call.requestId = madeAs(text) ?? call.requestId;
    } catch {
      // Killed, or left: what came by then is noted.
    }
    if (call.requestId !== undefined) call.requestIds.add(call.requestId);
    call.endedAt = timeline.now();
    note(`${call.outcome} ${call.status} ${call.code}, request ${call.requestId}`);
  }

  await attempt(leaveAfterMs === undefined ? undefined : AbortSignal.timeout(leaveAfterMs));
  for (let attempts = 1; isNamed && call.outcome !== 'whole' && attempts < ATTEMPTS; attempts += 1) {
    await delay(dice.between(20, 200));
    await attempt(undefined);
  }
  return call;
}

const madeAs = (text: string): string | undefined =>
  /"chatcmpl-([0-9a-f]{32})"/.exec(text)?.[1]?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
