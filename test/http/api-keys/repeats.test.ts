/** Calls that are sent again under one `Idempotency-Key`: made once, charged once, and answered as often as they are asked. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { nameOf } from '../../../src/http/api-keys/naming.ts';
import { sampleHold } from '../../store/credits/credit-samples.ts';
import { openGateway } from './gateway.ts';
import { answerAll, arrival, begin, dataOf, done, lastWord, openWithProvider, usage, words } from './slow-provider.ts';

const { url, apiKey, ask, pass, ended, credits } = await openWithProvider(t);
const settled = async () => {
  await ended();
  return (await credits()).entries.filter(({ kind }) => kind === 'settle').length;
};

const idIn = (text: string) => /"id":"([^"]+)"/.exec(text)?.[1];

/** In one piece or in events. */
const saidIn = (text: string): string =>
  (text.startsWith('{') ? [text] : dataOf(text).filter((data) => data.startsWith('{')))
    .flatMap((data) => JSON.parse(data).choices ?? [])
    .map(({ message, delta }) => (message ?? delta).content ?? '')
    .join('');

t.test('the same call again is answered the same, and neither made nor charged again', async (t) => {
  for (const stream of [false, true]) {
    const before = await settled();
    const call = ask({ stream }, undefined, `same ${stream}`);
    answerAll(await arrival());
    const first = await call;
    t.equal(first.status, 200);
    t.equal(first.headers.get('idempotency-replayed'), null);
    const text = await first.text();
    t.equal(saidIn(text), 'Droplets.');
    const { balance } = await ended();
    const again = await ask({ stream }, undefined, `same ${stream}`);
    t.equal(again.status, 200);
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.equal(again.headers.get('content-type'), first.headers.get('content-type'));
    const same = await again.text();
    t.equal(stream ? saidIn(same) : same, stream ? 'Droplets.' : text);
    t.equal(idIn(same), idIn(text));
    t.match(await ended(), { balance });
    t.equal(await settled(), before + 1);
  }
});

t.test('who left has the whole answer when it comes back, streamed and plain', async (t) => {
  for (const stream of [false, true]) {
    const before = await settled();
    const leave = new AbortController();
    const call = ask({ stream }, leave.signal, `left ${stream}`);
    const asked = await arrival();
    if (stream) {
      begin(asked).write(words('Drop'));
      await (await call).body?.getReader().read();
    }
    leave.abort();
    await call.catch(() => undefined);
    await pass();
    if (stream) asked.response.end(words('lets.') + lastWord + usage + done);
    else answerAll(asked);
    await ended();
    const text = await (await ask({ stream }, undefined, `left ${stream}`)).text();
    t.equal(saidIn(text), 'Droplets.');
    t.match(text, stream ? /\[DONE\]\n\n$/ : /"usage"/);
    t.equal(await settled(), before + 1);
  }
});

t.test('a call waits for the one of its name that is under way, and has its answer', async (t) => {
  const before = await settled();
  const calls = [1, 2, 3].map(() => ask({}, undefined, 'at once'));
  const asked = await arrival();
  await pass();
  answerAll(asked);
  const answers = await Promise.all(calls);
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  t.equal(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true').length, 2);
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  t.equal(new Set(texts).size, 1);
  t.equal(await settled(), before + 1);
});

t.test('a call that failed cost nothing, and is made anew', async (t) => {
  const failing = ask({}, undefined, 'failed');
  (await arrival()).response.writeHead(500).end('{}');
  t.equal((await failing).status, 500);
  t.match(await ended(), { kind: 'release' });
  const again = ask({}, undefined, 'failed');
  answerAll(await arrival());
  t.equal((await again).status, 200);
  t.match(await ended(), { kind: 'settle' });
});

t.test('a name belongs to one request', async (t) => {
  const call = ask({}, undefined, 'one request');
  answerAll(await arrival());
  await (await call).text();
  const { balance } = await ended();
  const other = await ask({ max_tokens: 400 }, undefined, 'one request');
  t.equal(other.status, 400);
  t.match(await other.json(), {
    error: { code: 'invalid_value', param: 'Idempotency-Key', message: /another request/ },
  });
  t.match(await ended(), { balance });
});

t.test('without a name, each call is one of its own', async (t) => {
  const before = await settled();
  for (const name of [undefined, undefined, '', '']) {
    const call = ask({}, undefined, name);
    answerAll(await arrival());
    t.equal((await call).headers.get('idempotency-replayed'), null);
  }
  t.equal(await settled(), before + 4);
});

t.test('a stream that broke off is charged for what came, and is the same again', async (t) => {
  const before = await settled();
  const call = ask({ stream: true }, undefined, 'broken');
  const asked = await arrival();
  begin(asked).write(words('Drop'));
  const answer = await call;
  const reader = answer.body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  asked.response.destroy();
  let text = first;
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
    text += new TextDecoder().decode(piece.value);
  t.match(text, /broke off here/);
  const again = await (await ask({ stream: true }, undefined, 'broken')).text();
  t.equal(saidIn(again), 'Drop');
  t.match(again, /broke off here/);
  t.equal(await settled(), before + 1);
});

t.test('an answer that is too long to be kept is charged once, and said to be gone', async (t) => {
  const before = await settled();
  const call = ask({}, undefined, 'long');
  const { response } = await arrival();
  const content = 'Droplets. '.repeat(400_001);
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  response.end(JSON.stringify({ choices, usage: { prompt_tokens: 100, completion_tokens: 200, total_tokens: 300 } }));
  t.equal(saidIn(await (await call).text()), content);
  const again = await ask({}, undefined, 'long');
  t.equal(again.status, 410);
  t.match(await again.json(), { error: { code: 'answer_gone', message: /was charged.*too long/ } });
  t.equal(await settled(), before + 1);
});

t.test('an SDK whose answers are lost, and which asks again by itself, is charged once', async (t) => {
  const before = await settled();
  let lost = 0;
  const client = new OpenAI({
    apiKey,
    baseURL: `${url}/v1`,
    maxRetries: 2,
    async fetch(...asked) {
      const answer = await fetch(...asked);
      if (lost === 2) return answer;
      lost += 1;
      await answer.text();
      throw new TypeError('the connection was cut');
    },
  });
  const call = client.chat.completions.create(
    { model: 'vendor3-5.6-luna', messages: [{ role: 'user', content: '123' }] },
    { headers: { 'Idempotency-Key': 'of an SDK' } },
  );
  answerAll(await arrival());
  t.match(await call, { choices: [{ message: { content: 'Droplets.' } }] });
  t.equal(lost, 2);
  t.equal(await settled(), before + 1);
});

t.test('a stream that is given again is the same to an SDK: choices, probabilities, functions and usage', async (t) => {
  const { key, client } = await openGateway(t);
  const { apiKey } = await key('1');
  const messages = [{ role: 'user' as const, content: 'Why does fog scatter light?' }];
  const parameters = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };
  for (const [name, more] of Object.entries({
    choices: { n: 3, logprobs: true, top_logprobs: 2, stream_options: { include_usage: true } },
    functions: {
      tools: [{ type: 'function' as const, function: { name: 'look', parameters } }],
      tool_choice: 'required' as const,
      stream_options: { include_usage: true },
    },
    uncounted: {},
  })) {
    const ask = () =>
      client(apiKey)
        .chat.completions.stream({ model: 'quick', messages, ...more }, { headers: { 'Idempotency-Key': name } })
        .finalChatCompletion();
    const first = await ask();
    t.ok(first.choices[0]?.message.content || first.choices[0]?.message.tool_calls?.length, name);
    t.same(await ask(), first, name);
  }
});

t.test('another API key has calls of its own under the same name', async (t) => {
  const { key, client } = await openGateway(t);
  const answers: string[] = [];
  for (const { apiKey } of [await key('1'), await key('1')]) {
    const ask = () =>
      client(apiKey).chat.completions.create(
        { model: 'quick', messages: [{ role: 'user', content: 'hello' }] },
        { headers: { 'Idempotency-Key': 'shared' } },
      );
    answers.push((await ask()).id, (await ask()).id);
  }
  t.equal(answers[0], answers[1]);
  t.equal(answers[2], answers[3]);
  t.not(answers[0], answers[2]);
});

/** A call of that name that another instance holds, and how it is asked for here. */
async function openElsewhere(t: Test, waitMs: number) {
  const { origin, key, store } = await openGateway(t, { waitMs });
  const { apiKey, id } = await key('1');
  const body = JSON.stringify({ model: 'quick', messages: [{ role: 'user', content: 'hello' }] });
  const named = nameOf({ id }, Buffer.from(body), { 'idempotency-key': 'elsewhere' }, Date.now());
  if (!named) throw new Error('the call should have a name');
  const now = Date.now();
  const elsewhere = { keyId: id, owner: 'instance-2', now, leaseUntil: now + 60_000, named };
  t.match(await store.credits.hold(sampleHold('elsewhere', 100n, elsewhere)), { held: true });
  const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': 'elsewhere' };
  return { store, named, ask: () => fetch(`${origin}/v1/chat/completions`, { method: 'POST', headers, body }) };
}

t.test('calls wait for one that another instance makes, and one alone asks the database for it', async (t) => {
  const { store, named, ask } = await openElsewhere(t, 60_000);
  const { hold } = store.credits;
  const asking: string[] = [];
  const askedOften = new Promise<void>((resolve) => {
    store.credits.hold = (request) => {
      if (asking.push(request.id) === 5) resolve();
      return hold(request);
    };
  });
  const calls = Array.from({ length: 10 }, ask);
  await askedOften;
  t.equal(new Set(asking).size, 1);
  const answer = { status: 200, contentType: 'application/json', body: '{"id":"of another instance"}' };
  await store.credits.settle('elsewhere', { price: 100n, note: 'used', named: { ...named, answer } }, Date.now());
  for (const call of calls) t.equal(await (await call).text(), answer.body);
});

t.test('a call that another instance makes for longer than is waited is said to be under way', async (t) => {
  const { ask } = await openElsewhere(t, 0);
  const answer = await ask();
  t.equal(answer.status, 409);
  t.match(await answer.json(), { error: { code: 'call_in_progress' } });
});

t.test('who has waited long enough for a call under way is told to come back', async (t) => {
  const asked: (() => void)[] = [];
  const provider = createServer((_request, response) => void asked.push(() => response.writeHead(500).end('{}')));
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  t.teardown(() => provider.close().closeAllConnections());
  const mainUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const { origin, key, settled: nothingHeld } = await openGateway(t, { mainUrl, waitMs: 0 });
  const { apiKey } = await key('1');
  const ask = () =>
    fetch(`${origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'idempotency-key': 'long' },
      body: JSON.stringify({ model: 'quick', messages: [{ role: 'user', content: 'hello' }] }),
    });
  const first = ask();
  while (asked.length === 0) await new Promise(setImmediate);
  const second = await ask();
  t.equal(second.status, 409);
  t.equal(second.headers.get('retry-after'), '5');
  t.match(await second.json(), { error: { code: 'call_in_progress', message: /charged once/ } });
  asked[0]?.();
  await first;
  await nothingHeld(apiKey);
});
