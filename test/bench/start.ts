/** How long a start takes, and what the started server holds. */
import { join } from 'node:path';
import { type GatewayOptions, startAsShipped } from './gateway.ts';
import type { ServerProcess } from './server-process.ts';
import { subject } from './subject.ts';

interface Start {
  /** From the command to the first 402 in hand. */
  readonly milliseconds: number;
  readonly megabytes: number;
}

export async function ask(url: string): Promise<{ headers: Record<string, string>; body: string }> {
  const answer = await fetch(url + subject.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: subject.body,
  });
  const body = await answer.text();
  if (answer.status !== 402) throw new Error(`${url}${subject.path} answered ${answer.status}: ${body.slice(0, 500)}`);
  return { headers: Object.fromEntries(answer.headers), body };
}

async function timed(start: () => Promise<ServerProcess>): Promise<Start> {
  const startedAt = performance.now();
  const server = await start();
  try {
    await ask(server.url);
    const milliseconds = performance.now() - startedAt;
    return { milliseconds, megabytes: server.residentBytes() / 2 ** 20 };
  } finally {
    await server.stop();
  }
}

/** In turns: the gateway each time with a new database, and bare Express. */
export async function timeStarts(
  gateway: GatewayOptions,
  startBare: () => Promise<ServerProcess>,
  times: number,
): Promise<{ gateway: Start[]; bare: Start[] }> {
  const starts = { gateway: [] as Start[], bare: [] as Start[] };
  for (let time = 0; time < times; time += 1) {
    const data = join(gateway.data, String(time));
    starts.gateway.push(await timed(() => startAsShipped({ ...gateway, data })));
    starts.bare.push(await timed(startBare));
  }
  return starts;
}
