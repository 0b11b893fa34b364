/** Every provider: chat completions, whole and streamed, and predictions with their files. It remembers who asked when. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Exchange, gone, loseConnection, sendJson } from './exchange.ts';
import type { Faults, ProvidingFault } from './faults.ts';

/** One billed call. Times as the timeline has them. */
export interface Call {
  readonly mark: string | undefined;
  readonly slot: number;
  readonly begunAt: number;
  /** Undefined while it goes on. */
  endedAt: number | undefined;
  /** The gateway that made it was killed or stopped meanwhile: it does not know of it any more. */
  isAbandoned: boolean;
  /** The answer went out whole. */
  isAnswered: boolean;
}

export interface Upstream {
  answer(exchange: Exchange): Promise<void>;
  readonly calls: readonly Call[];
  /** The gateway in this place was killed or stopped, or slept for so long until now. */
  abandon(slot: number, sleptMs?: number): void;
}

const usage = { prompt_tokens: 20, completion_tokens: 40, total_tokens: 60 };

/** What that comes to with the model that is priced by use, at 3.30 and 16.50 dollars a million: millionths of a dollar. */
export const USED = 726n;

/** One grey pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
);

const MARK = /\bpurchase-\d+\b/;

const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm', ...fields })}\n\n`;
const words = (content: string): string => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });

const STREAMED_WORDS = 4;

export function openUpstream(faults: Faults, now: () => number): Upstream {
  const { dice } = faults;
  const calls: Call[] = [];

  /** The answer of a call that does not fail; `half`: it breaks off in the middle. */
  async function complete({ path, body, base, response, reach }: Exchange, call: Call, half: boolean): Promise<void> {
    if (path.endsWith('/predictions')) {
      const get = `${base}/predictions/${call.mark}`;
      const prediction = {
        id: call.mark,
        status: 'succeeded',
        output: `${base}/files/${call.mark}.png`,
        urls: { get, cancel: `${get}/cancel` },
      };
      if (half) return loseConnection(response);
      return sendJson(response, 201, prediction);
    }
    const { stream } = JSON.parse(body) as { stream?: boolean };
    if (stream) return streamWords(response, half, () => reach('upstream half answered', call.mark));
    // Another request, another answer.
    const content = `Fog. ${call.mark} ${createHash('sha256').update(body).digest('hex')}`;
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    const answer = JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', model: 'm', choices, usage });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.write(answer.slice(0, 40));
    reach('upstream half answered', call.mark);
    if (half) loseConnection(response);
    else response.end(answer.slice(40));
  }

  async function streamWords(response: Exchange['response'], half: boolean, reachHalf: () => void): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let word = 0; word < STREAMED_WORDS && !response.destroyed; word += 1) {
      response.write(words(`word ${word} `));
      await delay(dice.between(5, 40));
      if (word === 1) reachHalf();
      if (word === 1 && half) return loseConnection(response);
    }
    const last = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    response.end(`${last}${chunk({ choices: [], usage })}data: [DONE]\n\n`);
  }

  async function fail(fault: ProvidingFault, { response }: Exchange): Promise<void> {
    switch (fault) {
      case 'busy':
        return sendJson(response, 429, { error: { message: 'too many requests' } });
      case 'malformed':
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices": [{"mess');
        return;
      case 'hanging':
        await gone(response);
        return;
      default:
        return sendJson(response, 500, { error: { message: 'it failed' } });
    }
  }

  async function billed(exchange: Exchange): Promise<void> {
    const { body, slot, response, note, reach } = exchange;
    const mark = MARK.exec(body)?.[0];
    const fault = faults.providing();
    const call: Call = { mark, slot, begunAt: now(), endedAt: undefined, isAbandoned: false, isAnswered: false };
    calls.push(call);
    note(`the provider is asked, fault: ${fault}`, mark);
    const ended = gone(response).then((isWhole) => {
      call.endedAt = now();
      call.isAnswered = isWhole && response.statusCode < 300 && fault !== 'malformed';
      note(`the provider ${isWhole ? `has answered ${response.statusCode}` : 'was cut off'}`, mark);
      if (isWhole) reach('upstream answered', mark);
    });
    reach('upstream asked', mark);
    await delay(fault === 'slow' ? dice.between(200, 900) : dice.between(2, 60));
    if (!response.destroyed) {
      if (fault === 'none' || fault === 'slow') await complete(exchange, call, false);
      else if (fault === 'broken off') await complete(exchange, call, true);
      else await fail(fault, exchange);
    }
    await ended;
  }

  return {
    calls,
    abandon(slot, sleptMs = 0) {
      const since = now() - sleptMs;
      for (const call of calls) {
        const { begunAt, endedAt = Number.POSITIVE_INFINITY } = call;
        if (call.slot === slot && begunAt <= since && endedAt >= since) call.isAbandoned = true;
      }
    },
    async answer(exchange) {
      const { path, response } = exchange;
      if (/\/(predictions|chat\/completions)$/.test(path)) return billed(exchange);
      if (path.includes('/files/')) {
        response.writeHead(200, { 'content-type': 'image/png', 'content-length': PICTURE.length }).end(PICTURE);
        return;
      }
      sendJson(response, 200, { id: '1', status: 'canceled', urls: {} });
    },
  };
}
