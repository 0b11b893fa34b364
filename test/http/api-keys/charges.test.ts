/** What a call costs its key, however it ends. */
import t from 'tap';
import {
  type Asked,
  answerAll,
  arrival,
  begin,
  done,
  lastWord,
  ofPart,
  ofUsage,
  openWithProvider,
  usage,
  words,
} from './slow-provider.ts';

const { ask, pass, ended } = await openWithProvider(t);

t.test('charges what the provider counted to a caller who leaves while the model thinks', async (t) => {
  for (const stream of [false, true]) {
    const leave = new AbortController();
    const call = ask({ stream }, leave.signal);
    const asked = await arrival();
    leave.abort();
    await t.rejects(call);
    await pass();
    answerAll(asked);
    t.match(await ended(), ofUsage);
  }
  t.match(await ended(), { balance: '99.99714' });
});

t.test(
  'charges what the provider counted to a caller who leaves after the last word and before the count',
  async (t) => {
    const leave = new AbortController();
    const call = ask({ stream: true }, leave.signal);
    const asked = await arrival();
    begin(asked).write(words('Droplets.') + lastWord);
    const reader = (await call).body?.getReader();
    let text = '';
    while (!text.includes('"stop"')) text += new TextDecoder().decode((await reader?.read())?.value);
    leave.abort();
    await pass();
    asked.response.end(usage + done);
    t.same(await ended(), { balance: '99.99571', ...ofUsage });
  },
);

t.test('charges what came to a caller who leaves a provider that breaks off', async (t) => {
  const leave = new AbortController();
  const call = ask({ stream: true }, leave.signal);
  const asked = await arrival();
  begin(asked).write(words('4'.repeat(75)));
  await (await call).body?.getReader().read();
  leave.abort();
  await pass();
  asked.response.write(words('4'.repeat(225)));
  await pass();
  asked.response.destroy();
  t.same(await ended(), { balance: '99.99504', ...ofPart });
});

t.test('charges nothing to a caller who leaves a provider that fails before its first word', async (t) => {
  const leave = new AbortController();
  const call = ask({ stream: true }, leave.signal);
  const asked = await arrival();
  leave.abort();
  await t.rejects(call);
  await pass();
  asked.response.writeHead(500).end('{}');
  t.same(await ended(), { balance: '99.99504', kind: 'release', price: null, note: 'upstream_failed' });
});

t.test('takes no more calls of one key at a time than it may have under way', async (t) => {
  const calls = Array.from({ length: 32 }, () => ask());
  const asked: Asked[] = [];
  while (asked.length < calls.length) asked.push(await arrival());
  const refused = await ask();
  t.equal(refused.status, 429);
  t.match(await refused.json(), { error: { code: 'too_many_calls', type: 'rate_limit_error' } });
  for (const each of asked) answerAll(each);
  t.same(new Set((await Promise.all(calls)).map(({ status }) => status)), new Set([200]));
  t.match(await ended(), { balance: '99.94928' });
});
