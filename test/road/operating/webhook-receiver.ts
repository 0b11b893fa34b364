/** Who listens to alerts: takes what `standardwebhooks` finds genuine, and nothing else. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { Test } from 'tap';

export interface Heard {
  readonly id: string;
  readonly status: number;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Receiver {
  readonly url: string;
  /** Everything that came and was genuine, with what it was answered. */
  readonly heard: readonly Heard[];
  /** What came and was not. */
  readonly forged: readonly unknown[];
  /** Answers the next ones so instead of 200. */
  refuse(...statuses: number[]): void;
  /** The first so many of a type, as soon as they are there. */
  until(type: string, count?: number): Promise<readonly Heard[]>;
}

export async function startReceiver(t: Test, secret: string): Promise<Receiver> {
  const webhook = new Webhook(secret);
  const heard: Heard[] = [];
  const forged: unknown[] = [];
  const refusals: number[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    try {
      const headers = request.headers as Record<string, string>;
      const told = webhook.verify(body, headers) as Omit<Heard, 'id' | 'status'>;
      const status = refusals.shift() ?? 200;
      heard.push({ id: headers['webhook-id'] ?? '', status, ...told });
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('taken');
    } catch (error) {
      forged.push(error);
      response.writeHead(401).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close().closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`,
    heard,
    forged,
    refuse: (...statuses) => void refusals.push(...statuses),
    async until(type, count = 1) {
      for (;;) {
        const found = heard.filter((each) => each.type === type);
        if (found.length >= count) return found.slice(0, count);
        await delay(20);
      }
    },
  };
}
