/**
 * What stands between the gateway and the doubles of providers: it knows by a mark in the prompt whose call it is, adds
 * up what it costs, and answers as was planned for it. Calls without a mark are passed on as they are.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Tiktoken } from 'js-tiktoken/lite';
import ranks from 'js-tiktoken/ranks/o200k_base';
import type { Catalogue, ModelFile } from '../../src/catalogue/types.ts';
import { asJsonObject, type JsonObject } from '../../src/json.ts';
import { type Rate, rate } from '../../src/money.ts';
import type { Account } from './ledger.ts';

/** What a provider does with a marked call. */
export interface Plan {
  /** Nothing is answered before. */
  readonly until?: Promise<void>;
  /** A chat model writes all that it was asked for over so long. Left out: as the double answers. */
  readonly writesFor?: number;
  /** It thinks all that time, and shows nothing. */
  readonly isSilent?: boolean;
  /** The provider fails the first call: by a status, with nonsense, or without any answer. */
  readonly fault?: '500' | 'malformed' | 'hang';
  /** Told once the call has come. */
  readonly reached?: () => void;
}

export interface Providers {
  readonly url: string;
  /** Words for a prompt, by which calls are known. */
  mark(account: Account, plan?: Plan): string;
  /** Whether the provider has failed a marked call as was planned. True once. */
  hasFailed(mark: string): boolean;
  /** Billed calls that were passed on, by upstream. */
  readonly calls: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

/** What providers ask that do not bill by tokens: for a picture that is sold for 0.06, and costs gas besides. */
const CALL_COST: Rate = rate('0.05');
const PIECE_MS = 100;
/** Of what is due in that time, what a stream that lags behind shows at once: what nobody has read yet is lost if the call is cut. */
const MOST_PIECES = 2;
const WORD = ' fog';

interface Marked {
  readonly account: Account;
  readonly plan: Plan;
  /** 0, then 1, and 2 once that was asked about. */
  failures: number;
}

export async function openProviders(catalogue: Catalogue, doubles: string): Promise<Providers> {
  const models = new Map<string, ModelFile>();
  for (const { models: named = {} } of catalogue.upstreams.values()) {
    for (const model of Object.values(named)) if (model.cost) models.set(model.id, model);
  }
  const tokenizer = new Tiktoken(ranks);
  const marks = new Map<string, Marked>();
  const calls: Record<string, number> = {};

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method = 'GET', url = '/' } = request;
    const isBilled = method === 'POST' && /\/(chat\/completions|predictions)$/.test(url);
    const mark = isBilled ? /crowd-[0-9a-z]+/.exec(body.toString())?.[0] : undefined;
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const answer = await fetch(doubles + url, {
      method,
      headers: headers as Record<string, string>,
      body: method === 'GET' ? null : body,
    });
    const found = Buffer.from(await answer.arrayBuffer());
    if (isBilled) {
      const name = url.split('/')[1] ?? '';
      calls[name] = (calls[name] ?? 0) + 1;
    }
    const kind = answer.headers.get('content-type') ?? 'application/json';
    const marked = marks.get(mark ?? '');
    if (marked && (await answerMarked(marked, JSON.parse(body.toString()), response))) return;
    if (response.destroyed) return;
    response
      .writeHead(answer.status, { 'content-type': kind })
      .end(kind.includes('json') ? found.toString().replaceAll(doubles, origin) : found);
  }

  /** True where it has answered itself. */
  async function answerMarked(marked: Marked, asked: JsonObject, response: ServerResponse): Promise<boolean> {
    const { account, plan } = marked;
    account.upstreamCalls += 1;
    plan.reached?.();
    const left = once(response, 'close');
    if (plan.until) await Promise.race([plan.until, left]);
    const model = models.get(String(asked.model));
    if (plan.fault && marked.failures === 0) {
      marked.failures += 1;
      if (plan.fault === '500') response.writeHead(500, { 'content-type': 'application/json' }).end('{}');
      else if (plan.fault === 'malformed') response.writeHead(200, { 'content-type': 'application/json' }).end('[{');
      return true;
    }
    if (!model) account.cost += CALL_COST;
    if (!model || plan.writesFor === undefined) {
      if (model) account.cost += costOf(model, promptTokens(asked), 100);
      return false;
    }
    const written = await write(asked, response, plan.writesFor, plan.isSilent === true);
    account.cost += costOf(model, promptTokens(asked), written);
    return true;
  }

  /** In pieces, for the tokenizer takes seconds for a long text without blanks: as many tokens too many as pieces, at most. */
  const promptTokens = ({ messages }: JsonObject): number =>
    (textOf(messages).match(/.{1,200}/gsu) ?? []).reduce((sum, piece) => sum + tokenizer.encode(piece).length, 8);

  async function write(
    asked: JsonObject,
    response: ServerResponse,
    duration: number,
    isSilent: boolean,
  ): Promise<number> {
    const tokens = Number(asked.max_tokens ?? asked.max_completion_tokens ?? 1000) * Number(asked.n ?? 1);
    const isStream = asked.stream === true;
    const event = (value: object) => `data: ${JSON.stringify({ object: 'chat.completion.chunk', ...value })}\n\n`;
    const piece = (count: number) =>
      event({ choices: [{ index: 0, delta: { content: WORD.repeat(count) }, finish_reason: null }] });
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    const begin = performance.now();
    const most = isStream && !isSilent ? Math.ceil((tokens * MOST_PIECES * PIECE_MS) / Math.max(1, duration)) : tokens;
    let written = 0;
    // What is written after the caller has gone reaches nobody, and costs nobody.
    while (!response.destroyed) {
      const passed = Math.ceil((tokens * (performance.now() - begin)) / Math.max(1, duration));
      const due = Math.min(tokens, passed, written + most);
      if (isStream && !isSilent && due > written) response.write(piece(due - written));
      else if (isStream) response.write(': working\n\n');
      written = due;
      if (written >= tokens) break;
      await delay(PIECE_MS);
    }
    const prompt = promptTokens(asked);
    const usage = { prompt_tokens: prompt, completion_tokens: written, total_tokens: prompt + written };
    if (isStream) {
      const last = event({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] });
      response.write(last);
      await delay(PIECE_MS);
      response.end(`${event({ choices: [], usage })}data: [DONE]\n\n`);
    } else {
      const message = { role: 'assistant', content: isSilent ? '' : WORD.repeat(written) };
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'length' }], usage }));
    }
    return written;
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: origin,
    calls,
    mark(account, plan = {}) {
      const name = `crowd-${marks.size.toString(36)}`;
      marks.set(name, { account, plan, failures: 0 });
      return name;
    },
    hasFailed(mark) {
      const marked = marks.get(mark);
      if (marked?.failures !== 1) return false;
      marked.failures += 1;
      return true;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function costOf({ cost }: ModelFile, prompt: number, completion: number): Rate {
  const each = (price: string | undefined) => rate(price ?? '0') / 1_000_000n;
  return BigInt(prompt) * each(cost?.input) + BigInt(completion) * each(cost?.output);
}

function textOf(messages: unknown): string {
  if (typeof messages === 'string') return messages;
  if (Array.isArray(messages)) return messages.map(textOf).join('\n');
  const { content, text } = asJsonObject(messages);
  return textOf(content ?? text ?? []);
}
