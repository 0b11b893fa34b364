/** A whole gateway with a funded key, in front of a chat provider that answers when the test does. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { type Gateway, startGateway } from '../../gateway.ts';

export interface Asked {
  readonly body: { stream?: boolean };
  readonly response: ServerResponse;
}

const waiting: Asked[] = [];
const provider = createServer(async (request, response) => {
  const bytes: Buffer[] = [];
  for await (const piece of request) bytes.push(piece);
  waiting.push({ body: JSON.parse(Buffer.concat(bytes).toString()), response });
});

/** The next call that reaches the provider. */
export async function arrival(): Promise<Asked> {
  for (;;) {
    const asked = waiting.shift();
    if (asked) return asked;
    await new Promise(setImmediate);
  }
}

const event = (value: object): string => `data: ${JSON.stringify({ object: 'chat.completion.chunk', ...value })}\n\n`;
export const words = (content: string): string =>
  event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
export const lastWord = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const counted = { prompt_tokens: 100, completion_tokens: 200, total_tokens: 300 };
export const usage = event({ choices: [], usage: counted });
export const done = 'data: [DONE]\n\n';

export const begin = ({ response }: Asked) => response.writeHead(200, { 'content-type': 'text/event-stream' });

/** All at once, with the provider's count: 100 tokens and 200. */
export function answerAll(asked: Asked): void {
  if (asked.body.stream) {
    begin(asked).end(words('Droplets.') + lastWord + usage + done);
    return;
  }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Droplets.' }, finish_reason: 'stop' }];
  asked.response.end(JSON.stringify({ object: 'chat.completion', choices, usage: counted }));
}

interface Credits {
  readonly balance_usd: string;
  readonly held_usd: string;
  readonly entries: readonly { kind: string; price_usd: string | null; note: string | null }[];
}

function keyOf(gateway: Gateway) {
  const headers = { authorization: `Bearer ${(gateway.state as { apiKey?: string }).apiKey}` };
  const ask = (more: object = {}, signal?: AbortSignal, idempotencyKey?: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }) },
      body: JSON.stringify({
        model: 'vendor3-5.6-luna',
        messages: [{ role: 'user', content: '123' }],
        max_tokens: 500,
        ...more,
      }),
      ...(signal && { signal }),
    });
  const credits = async () => (await (await fetch(`${gateway.url}/v1/credits`, { headers })).json()) as Credits;
  return {
    url: gateway.url,
    apiKey: (gateway.state as { apiKey?: string }).apiKey ?? '',
    ask,
    credits,
    /** Long enough for the gateway to have seen what happened to its connections. */
    async pass() {
      for (let turn = 0; turn < 20; turn += 1) await credits();
    },
    /** The newest entry, once nothing is held. */
    async ended() {
      for (;;) {
        const { balance_usd, held_usd, entries } = await credits();
        const [{ kind, price_usd: price, note } = {}] = entries;
        if (held_usd === '0') return { balance: balance_usd, kind, price, note };
      }
    },
  };
}

export const dataOf = (text: string) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data ?? '');

/** The gateway lives as long as the test. */
export async function openWithProvider(t: Test) {
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const chat = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const gateway = await startGateway({ networks: [], upstreams: { chat } });
  t.teardown(async () => {
    provider.close().closeAllConnections();
    await gateway.stop();
  });
  return { ...keyOf(gateway), stop: gateway.stop };
}

/** What the ledger says of the provider's count: 100 tokens at 1.10 dollars a million and 200 at 6.60. */
export const ofUsage = { kind: 'settle', price: '0.00143', note: '100 prompt and 200 completion tokens' };

/** And of 300 digits that nobody counted: the question is 9 tokens, they are 100. */
export const ofPart = {
  kind: 'settle',
  price: '0.00067',
  note: '9 prompt and 100 completion tokens as estimated',
};
