/** What the servers without a gateway share. */
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const { answer, doublesUrl } = JSON.parse(process.env.BENCH_BARE ?? '') as {
  answer: { headers: Record<string, string>; body: string };
  doublesUrl: string;
};

/** The 402 to send. */
export const constant = { headers: answer.headers, bytes: Buffer.from(answer.body) };

export const isPaid = ({ headers }: IncomingMessage): boolean => headers['payment-signature'] !== undefined;

export async function fulfil({ prompt }: { prompt?: unknown }): Promise<{ status: number; result: object }> {
  if (typeof prompt !== 'string') return { status: 400, result: { error: 'prompt is missing' } };
  const response = await fetch(`${doublesUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: prompt }] }),
  });
  const { choices, usage } = (await response.json()) as { choices: { message: { content: string } }[]; usage: object };
  return { status: 200, result: { text: choices[0]?.message.content, usage } };
}

export function listening(server: Server): void {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
}
