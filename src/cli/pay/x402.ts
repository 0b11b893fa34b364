/** One paid call over x402, step by step, each step timed. */
import type { x402HTTPClient } from '@x402/core/client';
import type { PayArguments } from './arguments.ts';

export interface CallTarget {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly body: string | undefined;
}

/** What a step gave, and how long it took in milliseconds. */
export interface Timed<Value> {
  readonly value: Value;
  readonly ms: number;
}

export async function timed<Value>(step: () => Promise<Value>): Promise<Timed<Value>> {
  const startedAt = performance.now();
  const value = await step();
  return { value, ms: performance.now() - startedAt };
}

/** Without a body it is a GET; a path that takes only POST says so in `Allow`. */
export async function call(target: CallTarget, headers: Record<string, string> = {}): Promise<Response> {
  const { url, method, body } = target;
  return fetch(url, {
    method,
    headers: { ...(method === 'POST' ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(method === 'POST' ? { body: body ?? '{}' } : {}),
  });
}

/** The unpaid call: a 402 with the price. */
export async function quote(payArguments: PayArguments): Promise<{ target: CallTarget; answer: Response }> {
  const { path, body, url } = payArguments;
  const target: CallTarget = { url: url + path, method: body === undefined ? 'GET' : 'POST', body };
  const answer = await call(target);
  if (answer.status !== 405) return { target, answer };
  const other: CallTarget = { ...target, method: target.method === 'GET' ? 'POST' : 'GET' };
  return { target: other, answer: await call(other) };
}

type Sign = Parameters<x402HTTPClient['createPaymentPayload']>[0];

/** The challenge as the client understood it. Throws when the answer is not one. */
export const readChallenge = (client: x402HTTPClient, answer: Response, body: unknown): Sign =>
  client.getPaymentRequiredResponse((name) => answer.headers.get(name), body);
