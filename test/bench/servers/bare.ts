/** What the servers without a gateway share. */
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

const { answer, doublesUrl, settles } = JSON.parse(process.env.BENCH_BARE ?? '') as {
  answer: { headers: Record<string, string>; body: string };
  doublesUrl: string;
  settles: boolean;
};

/** The 402 to send. */
export const constant = { headers: answer.headers, bytes: Buffer.from(answer.body) };

export const isPaid = ({ headers }: IncomingMessage): boolean => headers['payment-signature'] !== undefined;

export const doubles = new Pool(doublesUrl);

async function exchange(path: string, body: string): Promise<unknown> {
  const { body: answered } = await doubles.request({
    method: 'POST',
    path,
    body,
    headers: { 'content-type': 'application/json' },
  });
  return answered.json();
}

async function work(prompt: string): Promise<object> {
  const asked = JSON.stringify({ messages: [{ role: 'user', content: prompt }] });
  const { choices, usage } = (await exchange('/chat/completions', asked)) as {
    choices: { message: { content: string } }[];
    usage: object;
  };
  return { text: choices[0]?.message.content, usage };
}

/** `payment` goes to the facilitator before the work and after it, where the server settles at all. Nothing is kept. */
export async function fulfil(
  { prompt }: { prompt?: unknown },
  payment: string,
): Promise<{ status: number; result: object }> {
  if (typeof prompt !== 'string') return { status: 400, result: { error: 'prompt is missing' } };
  if (!settles) return { status: 200, result: await work(prompt) };
  const shown = Buffer.from(payment, 'base64').toString();
  await exchange('/verify', shown);
  const result = await work(prompt);
  await exchange('/settle', shown);
  return { status: 200, result };
}

export function listening(server: Server): void {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
}
