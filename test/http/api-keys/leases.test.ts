/** What calls hold, in a whole gateway whose clock the test winds on. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { mock } from 'node:test';
import Database from 'libsql';
import t from 'tap';
import { startGateway } from '../../gateway.ts';

/** Longer than the lease of what a call holds, shorter than the call's deadline. */
const LONG_SECONDS = 45;

const answer = JSON.stringify({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Droplets.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 200, total_tokens: 300 },
});

/** A provider that answers when the test does. */
const asked: ServerResponse[] = [];
const provider = createServer((request, response) => {
  request.resume().once('end', () => asked.push(response));
});
provider.listen(0, '127.0.0.1');
await once(provider, 'listening');
t.teardown(() => {
  provider.close();
  provider.closeAllConnections();
});

/** The next call that arrives there. */
async function arrival(): Promise<ServerResponse> {
  for (;;) {
    const response = asked.shift();
    if (response) return response;
    await new Promise(setImmediate);
  }
}

t.test('what a call holds', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.now() });
  const chat = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const gateway = await startGateway({ networks: [], upstreams: { chat } });
  t.teardown(async () => {
    mock.timers.reset();
    await gateway.stop();
  });
  const headers = { authorization: `Bearer ${(gateway.state as { apiKey?: string }).apiKey}` };

  const ask = () =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        model: 'vendor3-5.6-luna',
        messages: [{ role: 'user', content: '123' }],
        max_tokens: 500,
      }),
    });

  async function credits(): Promise<{ balance: string; held: string }> {
    const shown = await fetch(`${gateway.url}/v1/credits`, { headers });
    const { balance_usd: balance, held_usd: held } = (await shown.json()) as Record<string, string>;
    return { balance: balance ?? '', held: held ?? '' };
  }

  /** Second by second, so that the gateway does in time what it does every few seconds. */
  async function windOn(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      mock.timers.tick(1000);
      await credits();
    }
  }

  // The question is 9 tokens at 1.10 dollars a million, and 500 come back at most at 6.60: 3309.9 millionths.
  const whileUnderWay = { balance: '99.99669', held: '0.00331' };

  await t.test('is held for as long as the call takes, and then charged', async (t) => {
    t.same(await credits(), { balance: '100', held: '0' });
    const call = ask();
    const response = await arrival();
    t.same(await credits(), whileUnderWay);
    await windOn(LONG_SECONDS);
    t.same(await credits(), whileUnderWay, 'still held when its first lease has run out');
    response.end(answer);
    t.equal((await call).status, 200);
    // 100 tokens at 1.10 and 200 at 6.60 dollars a million.
    t.same(await credits(), { balance: '99.99857', held: '0' });
  });

  await t.test('is given back where the charge could not be written, once its lease has run out', async (t) => {
    const before = await credits();
    const call = ask();
    const response = await arrival();
    const database = new Database(join(gateway.directory, 'turnpike.sqlite'));
    t.teardown(() => database.close());
    database.exec('PRAGMA busy_timeout = 5000');
    database.exec(`CREATE TRIGGER full_disk BEFORE INSERT ON ledger BEGIN SELECT RAISE(ABORT, 'disk is full'); END`);
    response.end(answer);
    t.equal((await call).status, 500);
    database.exec('DROP TRIGGER full_disk');
    t.match(await credits(), { held: whileUnderWay.held });
    // Until the lease has run out and what has run out was looked for.
    await windOn(2 * LONG_SECONDS);
    t.same(await credits(), before);
  });
});
