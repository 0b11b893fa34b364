/** Callers with an API key: their completions come whole or streamed, and some leave in the middle. */
import type { Dice } from './dice.ts';
import { anyGateway, type Market } from './payer.ts';

/** How a call ended, as its caller saw it. */
export interface ChatCall {
  readonly mark: string;
  /** As the timeline has them. */
  readonly begunAt: number;
  endedAt: number;
  /** Under which the ledger has the call; undefined where nothing came at all. */
  requestId: string | undefined;
  /** `refused`: nothing was sent but an error; `broken`: it began, and no end came. */
  outcome: 'whole' | 'refused' | 'broken' | 'no answer';
  status: number;
  code: string;
  /** Its time was over before the model had come to its end: it costs what had come by then, as estimated. */
  isCut: boolean;
}

const STREAMED_PERCENT = 60;
const LEAVING_PERCENT = 20;

/** One completion. Never throws. */
export async function chat(market: Market, apiKey: string, number: number, dice: Dice): Promise<ChatCall> {
  const { sender, timeline } = market;
  const mark = `purchase-${number}`;
  const begunAt = timeline.now();
  const times = { begunAt, endedAt: begunAt };
  const call: ChatCall = {
    mark,
    ...times,
    requestId: undefined,
    outcome: 'no answer',
    status: 0,
    code: '',
    isCut: false,
  };
  const stream = dice.percent(STREAMED_PERCENT);
  const leaveAfterMs = dice.percent(LEAVING_PERCENT) ? dice.between(5, 300) : undefined;
  const { slot, url } = await anyGateway(market, dice);
  const note = (what: string) => timeline.note(`chat${stream ? ', streamed' : ''}: ${what}`, { mark, slot });
  const messages = [{ role: 'user', content: `Why does fog scatter light? ${mark}` }];
  const message = {
    url: `${url}/v1/chat/completions`,
    headers: { authorization: `Bearer ${apiKey}` },
    body: { model: 'vendor5-k3', max_tokens: 100, messages, stream },
    signal: leaveAfterMs === undefined ? undefined : AbortSignal.timeout(leaveAfterMs),
  };
  note('the caller asks');
  try {
    const { status, text, code } = await sender.post(message, (head) => {
      call.status = head.status;
      call.requestId = String(head.headers['x-request-id']);
      call.outcome = 'broken';
    });
    call.code = code;
    call.isCut = /"finish_reason": ?"length"/.test(text);
    if (status >= 400) call.outcome = 'refused';
    else if (!stream || text.endsWith('data: [DONE]\n\n')) call.outcome = 'whole';
  } catch {
    // Killed, or left: what came by then is noted.
  }
  call.endedAt = timeline.now();
  note(`${call.outcome} ${call.status} ${call.code}, request ${call.requestId}`);
  return call;
}
