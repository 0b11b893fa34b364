/** What clients of OpenAI's API rely on, against a whole gateway. */
import OpenAI from 'openai';
import t from 'tap';
import { catalogueOf } from '../../few-endpoints.ts';
import { startGateway } from '../../gateway.ts';

const gateway = await startGateway({ networks: [] });
t.teardown(gateway.stop);
const { apiKey = '' } = gateway.state as { apiKey?: string };
const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
const headers = { authorization: `Bearer ${apiKey}` };
const model = 'vendor3-5.6-luna';
const messages = [{ role: 'user' as const, content: 'Why does fog scatter light?' }];
const balance = async () =>
  ((await (await fetch(`${gateway.url}/v1/credits`, { headers })).json()) as { balance_usd: string }).balance_usd;

t.test('a browser may send whatever headers an SDK has, to /v1 alone', async (t) => {
  const preflight = (path: string, asked: string) =>
    fetch(gateway.url + path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': asked,
      },
    });
  const ofSdk = 'authorization,content-type,x-stainless-lang,x-stainless-retry-count';
  const allowed = await preflight('/v1/chat/completions', ofSdk);
  t.equal(allowed.status, 204);
  const listed = allowed.headers.get('access-control-allow-headers')?.toLowerCase().split(/, */) ?? [];
  for (const name of [...ofSdk.split(','), 'payment-signature']) t.ok(listed.includes(name), name);
  t.match(allowed.headers.get('vary'), /Access-Control-Request-Headers/i);
  t.match(allowed.headers.get('access-control-expose-headers'), /x-request-id/i);
  t.match(
    allowed.headers.get('access-control-expose-headers'),
    /retry-after.*x-should-retry/i,
    'what says how long to wait',
  );
  t.notMatch((await preflight('/llm/multi-model', ofSdk)).headers.get('access-control-allow-headers'), /stainless/);
  t.notMatch((await preflight('/v1/models', 'a b; c')).headers.get('access-control-allow-headers'), /a b/);
});

t.test('an unknown path below /v1 is answered in the shape of OpenAI, with the id of the request', async (t) => {
  for (const [method, path] of [
    ['POST', '/v1/embeddings'],
    ['POST', '/v1/responses'],
    ['GET', '/v1/files/file-1'],
    ['DELETE', '/v1/anything'],
  ] as const) {
    const answer = await fetch(gateway.url + path, { method, headers });
    t.equal(answer.status, 404);
    t.match(answer.headers.get('x-request-id'), /^[0-9a-f-]{36}$/);
    t.same(await answer.json(), {
      error: {
        message: `Unknown request URL: ${method} ${path}. API keys pay for POST /v1/chat/completions`,
        type: 'invalid_request_error',
        param: null,
        code: 'unknown_path',
      },
    });
  }
  await t.rejects(client.embeddings.create({ model, input: 'fog' }), { status: 404, code: 'unknown_path' });
  const sale = await fetch(`${gateway.url}/v1/credits`, { method: 'POST', body: '{"amount_usd":"5"}' });
  t.equal(sale.status, 402, 'what is sold below /v1 is sold as before');
});

t.test('where no model is sold, nobody is told that API keys pay for one', async (t) => {
  const pictures = await startGateway({ networks: [], catalogue: catalogueOf(t, ['image/family-e-2']) });
  t.teardown(pictures.stop);
  t.same(await (await fetch(`${pictures.url}/v1/models`)).json(), { object: 'list', data: [] });
  const answer = await fetch(`${pictures.url}/v1/embeddings`, { method: 'POST' });
  t.equal(answer.status, 404);
  t.match(await answer.json(), {
    error: { message: 'Unknown request URL: POST /v1/embeddings. What is sold is listed at /x402-resources' },
  });
});

t.test('a field that nests without end is refused and not charged', async (t) => {
  const before = await balance();
  const bomb = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const nested = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  for (const [param, fields] of [
    ['messages', `"messages":[{"role":"user","content":${bomb}}]`],
    ['tools', `"messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":${nested}}}]`],
    ['response_format', `"messages":[],"response_format":${nested}`],
    ['stop', `"messages":[],"stop":${bomb}`],
    ['logit_bias', `"messages":[],"logit_bias":${nested}`],
    ['unknown', `"messages":[],"unknown":${bomb}`],
  ] as const) {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: `{"model":"${model}",${fields}}`,
    });
    t.equal(answer.status, 400, param);
    t.match(await answer.json(), { error: { code: 'invalid_request', message: /nested more than 64 levels deep/ } });
  }
  t.equal(await balance(), before);
});

t.test('the sandbox answers as many choices as are asked for, plain and streamed', async (t) => {
  const { choices, usage } = await client.chat.completions.create({ model, messages, n: 3 });
  t.same(
    choices.map(({ index }) => index),
    [0, 1, 2],
  );
  const texts = choices.map(({ message }) => message.content);
  t.equal(new Set(texts).size, 3);
  const one = await client.chat.completions.create({ model, messages });
  t.ok((usage?.completion_tokens ?? 0) > (one.usage?.completion_tokens ?? 0), 'and counts all of them');
  const streamed = ['', '', ''];
  for await (const chunk of await client.chat.completions.create({ model, messages, n: 3, stream: true })) {
    for (const { index, delta } of chunk.choices) streamed[index] += delta.content ?? '';
  }
  t.same(streamed, texts);
});

t.test('the sandbox stops at the sequences that are named', async (t) => {
  const whole = (await client.chat.completions.create({ model, messages })).choices[0]?.message.content ?? '';
  for (const stop of ['scatter', ['nowhere to be found', 'scatter']]) {
    const { choices } = await client.chat.completions.create({ model, messages, stop });
    t.match(choices, [{ finish_reason: 'stop', message: { content: whole.slice(0, whole.indexOf('scatter')) } }]);
  }
});

t.test('the sandbox gives the probabilities that are asked for, plain and streamed', async (t) => {
  const ask = { model, messages, logprobs: true, top_logprobs: 2 };
  const [choice] = (await client.chat.completions.create(ask)).choices;
  const content = choice?.logprobs?.content ?? [];
  t.equal(content.map(({ token }) => token).join(''), choice?.message.content);
  t.match(content[0], { logprob: Number, bytes: [Number], top_logprobs: { length: 2 } });
  let streamed = '';
  for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) {
    for (const { logprobs } of chunk.choices) streamed += logprobs?.content?.map(({ token }) => token).join('') ?? '';
  }
  t.equal(streamed, choice?.message.content);
  const [silent] = (await client.chat.completions.create({ model, messages })).choices;
  t.equal(silent?.logprobs, null);
});
