/** Calls whose model thinks out of sight until the deadline: they cost their key nothing, and us what was thought. */
import { mock } from 'node:test';
import t from 'tap';
import { arrival, begin, openWithProvider } from './slow-provider.ts';

const DEADLINE_SECONDS = 50;
const AT_A_TIME = 15;

t.test('a key whose calls come to nothing at the deadline is limited, and charged nothing', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.now() });
  t.teardown(() => mock.timers.reset());
  const { ask, credits, pass } = await openWithProvider(t);

  /** What so many calls are answered whose provider says that it is at work, or nothing at all. */
  async function answersOf(isAtWork: boolean): Promise<string[]> {
    const calls = Array.from({ length: AT_A_TIME }, (_, place) => ask({ stream: place % 2 === 0 }));
    for (let place = 0; place < AT_A_TIME; place += 1) {
      const asked = await arrival();
      if (isAtWork) begin(asked).write(': PROCESSING\n\n');
    }
    await pass();
    for (let second = 0; second < DEADLINE_SECONDS; second += 1) {
      mock.timers.tick(1000);
      await credits();
    }
    return await Promise.all(calls.map(async (call) => (await call).text()));
  }

  for (const isAtWork of [false, false, false, true, true]) {
    for (const text of await answersOf(isAtWork)) t.match(text, /"code":"upstream_timeout"/);
  }
  const refused = await ask();
  t.equal(refused.status, 429, 'after 30 that were worked for, and not for those that nobody began');
  t.match(await refused.json(), {
    error: { code: 'rate_limited', message: /nothing was charged: come back in \d+ s/ },
  });
  t.ok(Number(refused.headers.get('retry-after')) > 60);
  t.equal(refused.headers.get('x-should-retry'), 'false', 'or OpenAI’s own client would sleep that long, twice');
  t.match(await credits(), { balance_usd: '100', held_usd: '0' });

  mock.timers.tick(1000 * (Number(refused.headers.get('retry-after')) + 1));
  const later = ask({ stream: true });
  begin(await arrival()).end('data: {"choices":[{"index":0,"delta":{"content":"Fog."},"finish_reason":"stop"}]}\n\n');
  t.equal((await later).status, 200, 'and let in again once that long has passed');
});
