/** What a call costs its key that the deadline cuts, in a gateway whose clock the test winds on. */
import { mock } from 'node:test';
import t from 'tap';
import { arrival, begin, dataOf, ofPart, openWithProvider, words } from './slow-provider.ts';

const DEADLINE_SECONDS = 50;

t.test('at the deadline', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.now() });
  t.teardown(() => mock.timers.reset());
  const { ask, credits, pass, ended } = await openWithProvider(t);

  async function reachDeadline(): Promise<void> {
    await pass();
    for (let second = 0; second < DEADLINE_SECONDS; second += 1) {
      mock.timers.tick(1000);
      await credits();
    }
  }

  await t.test('charges what a stream has passed on, and ends it as cut short', async (t) => {
    const call = ask({ stream: true, stream_options: { include_usage: true } });
    const asked = await arrival();
    begin(asked).write(words('4'.repeat(300)));
    const answer = await call;
    await reachDeadline();
    const data = dataOf(await answer.text());
    t.equal(data.length, 4);
    t.match(JSON.parse(data[0] ?? ''), { choices: [{ delta: { content: '4'.repeat(300) }, finish_reason: null }] });
    t.match(JSON.parse(data[1] ?? ''), {
      object: 'chat.completion.chunk',
      model: 'vendor3-5.6-luna',
      choices: [{ index: 0, delta: {}, finish_reason: 'length' }],
    });
    t.match(JSON.parse(data[2] ?? ''), {
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 100, total_tokens: 109 },
    });
    t.equal(data[3], '[DONE]');
    t.same(await ended(), { balance: '99.99933', ...ofPart });
  });

  await t.test('answers the part of a plain call that is there, as cut short, and charges it', async (t) => {
    const call = ask();
    begin(await arrival()).write(words('4'.repeat(150)) + words('4'.repeat(150)));
    await reachDeadline();
    const answer = await call;
    t.equal(answer.status, 200);
    t.match(await answer.json(), {
      object: 'chat.completion',
      model: 'vendor3-5.6-luna',
      choices: [{ index: 0, message: { role: 'assistant', content: '4'.repeat(300) }, finish_reason: 'length' }],
      usage: { prompt_tokens: 9, completion_tokens: 100, total_tokens: 109 },
    });
    t.same(await ended(), { balance: '99.99866', ...ofPart });
  });

  await t.test('charges what came to a caller who had left', async (t) => {
    const leave = new AbortController();
    const call = ask({}, leave.signal);
    begin(await arrival()).write(words('4'.repeat(300)));
    leave.abort();
    await t.rejects(call);
    await reachDeadline();
    t.same(await ended(), { balance: '99.99799', ...ofPart });
  });

  await t.test('charges nothing where the provider has not begun', async (t) => {
    const call = ask({ stream: true });
    await arrival();
    await reachDeadline();
    const answer = await call;
    t.equal(answer.status, 500);
    t.match(await answer.json(), { error: { code: 'upstream_timeout' } });
    t.same(await ended(), { balance: '99.99799', kind: 'release', price: null, note: 'upstream_timeout' });
  });
});
