import { mock } from 'node:test';
import OpenAI from 'openai';
import Replicate from 'replicate';
import t, { type Test } from 'tap';
import type { Upstream } from '../../../src/catalogue/types.ts';
import { sandboxSecret, startDoubles } from '../../../src/sandbox/doubles/index.ts';

const upstreams: Upstream[] = [
  {
    name: 'chat',
    adapter: 'openai-chat',
    baseUrl: 'https://openrouter.ai/api/v1',
    models: { writer: { id: 'maker/writer', cost: { input: '1', output: '2' } } },
  },
  {
    name: 'predictions',
    adapter: 'replicate-predictions',
    baseUrl: 'https://api.replicate.com/v1',
    models: { 'family-h-2.5': { id: 'bytedance/seedance-2.5', kind: 'video' } },
  },
];

async function open(t: Test) {
  const doubles = await startDoubles({ upstreams });
  t.teardown(() => doubles.close());
  const key = sandboxSecret('SOME_KEY');
  return {
    doubles,
    openai: new OpenAI({ baseURL: doubles.baseUrlOf('chat'), apiKey: key, maxRetries: 0 }),
    replicate: new Replicate({ baseUrl: doubles.baseUrlOf('predictions'), auth: key, useFileOutput: false }),
  };
}

const question = { model: 'maker/writer', messages: [{ role: 'user' as const, content: 'What is a turnpike?' }] };

t.test('the OpenAI client reads a completion, the same one for the same question', async (t) => {
  const { openai, doubles } = await open(t);
  const completion = await openai.chat.completions.create(question);
  t.equal(completion.choices[0]?.finish_reason, 'stop');
  t.match(completion.choices[0]?.message.content, 'What is a turnpike?');
  t.equal(
    completion.usage?.total_tokens,
    (completion.usage?.prompt_tokens ?? 0) + (completion.usage?.completion_tokens ?? 0),
  );
  t.same((await openai.chat.completions.create(question)).choices, completion.choices);
  t.match(doubles.calls(), { chat: 2 });
});

t.test('the OpenAI client streams the same text, with the use in the last chunk', async (t) => {
  const { openai } = await open(t);
  const whole = await openai.chat.completions.create(question);
  const stream = await openai.chat.completions.create({
    ...question,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  let usage: unknown;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    usage = chunk.usage ?? usage;
  }
  t.equal(text, whole.choices[0]?.message.content);
  t.same(usage, whole.usage);
});

t.test('the OpenAI client is cut at its output bound', async (t) => {
  const { openai } = await open(t);
  const completion = await openai.chat.completions.create({ ...question, max_completion_tokens: 5 });
  t.equal(completion.choices[0]?.finish_reason, 'length');
  t.equal(completion.usage?.completion_tokens, 5);
});

t.test('the OpenAI client gets structured output', async (t) => {
  const { openai } = await open(t);
  const schema = {
    type: 'object',
    properties: {
      ticker: { type: 'string', pattern: '^[A-Z0-9]{2,10}$' },
      count: { type: 'integer', minimum: 1, maximum: 3 },
    },
    required: ['ticker', 'count'],
    additionalProperties: false,
  };
  const response_format = { type: 'json_schema' as const, json_schema: { name: 'x', strict: true, schema } };
  const completion = await openai.chat.completions.create({ ...question, response_format });
  t.match(JSON.parse(completion.choices[0]?.message.content ?? ''), { ticker: /^[A-Z0-9]{2,10}$/, count: Number });
});

t.test('the OpenAI client sees the errors of OpenRouter', async (t) => {
  const { openai, doubles } = await open(t);
  await t.rejects(openai.chat.completions.create({ ...question, model: 'no/such' }), {
    status: 400,
    code: 400,
  });
  doubles.fault('chat', '429', 1);
  await t.rejects(openai.chat.completions.create(question), { status: 429, code: 429 });
  doubles.fault('chat', '500', 1);
  await t.rejects(openai.chat.completions.create(question), /500/);
  const stranger = new OpenAI({ baseURL: doubles.baseUrlOf('chat'), apiKey: 'sk-stranger', maxRetries: 0 });
  await t.rejects(stranger.chat.completions.create(question), /401/);
});

t.test('the Replicate client runs a model and gets a file that opens', async (t) => {
  const { replicate } = await open(t);
  const output = await replicate.run('bytedance/seedance-2.5', { input: { prompt: 'a train', duration: 4 } });
  const file = await fetch(String(output));
  t.equal(file.headers.get('content-type'), 'video/mp4');
  t.equal(Buffer.from(await file.arrayBuffer()).toString('latin1', 4, 8), 'ftyp');
});

t.test('the Replicate client sees a prediction through its states, and cancels one', async (t) => {
  const { replicate } = await open(t);
  mock.timers.enable({ apis: ['Date'], now: Date.now() });
  t.teardown(() => mock.timers.reset());
  const input = { prompt: 'a boat' };
  const created = await replicate.predictions.create({ model: 'google/nano-banana-2', input });
  t.equal(created.status, 'starting');
  mock.timers.tick(1000);
  const done = await replicate.wait(created, { interval: 10 });
  t.equal(done.status, 'succeeded');
  const other = await replicate.predictions.create({ model: 'google/nano-banana-2', input });
  t.equal((await replicate.predictions.cancel(other.id)).status, 'canceled');
});

t.test('the Replicate client sees a refusal and invalid input', async (t) => {
  const { replicate, doubles } = await open(t);
  doubles.fault('predictions', 'refuse', 1);
  await t.rejects(replicate.run('google/nano-banana-2', { input: { prompt: 'x' } }), /NSFW/);
  await t.rejects(replicate.run('google/nano-banana-2', { input: {} }), /422/);
});
