import t from 'tap';
import type { Adapter } from '../../../../src/upstream/adapter.ts';
import { openaiChat } from '../../../../src/upstream/providers/openai/chat-adapter.ts';
import { adapterContract, openSetting, problemOf } from '../contract.ts';
import { recorded } from '../recorded.ts';

const adapter: Adapter = openaiChat;
const count = { type: 'integer', minimum: 1 };
const upstream = {
  keys: { key: 'OPENROUTER_API_KEY' },
  models: {
    thinker: {
      id: 'maker/thinker-1',
      cost: { input: '1', output: '2' },
      maxOutput: 100,
      defaultOutput: 50,
      tokenParam: 'max_completion_tokens',
      supportsTemperature: false,
    },
    talker: { id: 'maker/talker-2', maxOutput: 100, defaultOutput: 20 },
  },
};
const usage = { adapter, upstream, model: 'thinker', options: { result: 'usage' } };
const tiered = { adapter, upstream, model: 'thinker', options: { result: 'tiered' } };

adapterContract(t, 'a tiered text', {
  ...tiered,
  input: { prompt: 'Why is the sky blue?', tier: 'small' },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['text', 'model', 'tier', 'usage', 'metadata'],
    properties: {
      text: { type: 'string', minLength: 1 },
      model: { const: 'thinker' },
      tier: { const: 'small' },
      usage: { required: ['input_tokens', 'output_tokens'], properties: { input_tokens: count, output_tokens: count } },
      metadata: { required: ['finish_reason', 'sandbox'] },
    },
  },
});

adapterContract(t, 'a usage-priced text', {
  ...usage,
  input: { messages: [{ role: 'user', content: 'Name three rivers.' }], system_prompt: 'Be brief.' },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['text', 'model', 'usage', 'metadata'],
    properties: {
      usage: {
        required: ['prompt_tokens', 'completion_tokens', 'total_tokens'],
        properties: { prompt_tokens: count, completion_tokens: count, total_tokens: count },
      },
    },
  },
});

interface UsageResult {
  model: string;
  usage: { completion_tokens: number };
  metadata: Record<string, unknown>;
}

t.test('never asks for more output than was quoted', async (t) => {
  const { binding, context } = await openSetting(t, usage);
  const completed = async (input: object) =>
    (await adapter.call({ prompt: 'x '.repeat(300), ...input }, binding, context)) as UsageResult;
  const short = await completed({ max_tokens: 7 });
  t.equal(short.usage.completion_tokens, 7);
  t.equal(short.metadata.finish_reason, 'length');
  t.ok((await completed({})).usage.completion_tokens <= 50, 'the default of the model');
  t.ok((await completed({ max_tokens: 100_000 })).usage.completion_tokens <= 100, 'the most of the model');
});

t.test('uses the model that the caller names', async (t) => {
  const { binding, context } = await openSetting(t, { ...usage, model: undefined });
  t.match(await adapter.call({ prompt: 'Hello', model: 'talker' }, binding, context), { model: 'talker' });
});

t.test('says which parameter the model does not take', async (t) => {
  const { binding, context } = await openSetting(t, usage);
  const { metadata } = (await adapter.call({ prompt: 'Hello', temperature: 0.3 }, binding, context)) as UsageResult;
  t.same(metadata.ignored, ['temperature']);
});

t.test('reports what the provider charged', async (t) => {
  const { binding, context } = await openSetting(t, usage);
  await adapter.call({ prompt: 'Hello' }, binding, context);
  t.match(context.costs, [/^0\.0\d+$/]);
});

t.test('asks the provider for as much as was quoted, in the words of the model', async (t) => {
  const setting = await openSetting(t, { ...usage, model: undefined });
  const { context } = setting;
  const { binding, sent } = recorded(setting.binding);
  const call = (input: object) => adapter.call({ prompt: 'Hello', ...input }, binding, context);
  await call({ model: 'talker', max_tokens: 7, temperature: 0.3 });
  await call({ model: 'talker' });
  await call({ model: 'thinker', max_tokens: 7000, temperature: 0.3 });
  t.match(sent, [
    { model: 'maker/talker-2', max_tokens: 7, temperature: 0.3 },
    { model: 'maker/talker-2', max_tokens: 20 },
    { model: 'maker/thinker-1', max_completion_tokens: 100, temperature: undefined },
  ]);
});

t.test('a tier is asked for in full, with the effort that the caller names', async (t) => {
  const setting = await openSetting(t, tiered);
  const { context } = setting;
  const { binding, sent } = recorded(setting.binding);
  const input = { prompt: 'Hello', system_prompt: 'Be brief.', image: 'https://example.com/a.png' };
  for (const tier of ['small', 'medium', 'large']) {
    await adapter.call({ ...input, tier, reasoning_effort: 'high' }, binding, context);
  }
  const text = { type: 'text', text: 'Hello' };
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [text, { type: 'image_url', image_url: { url: input.image } }] },
  ];
  t.match(
    sent,
    [1024, 4096, 8192].map((max_completion_tokens) => ({ max_completion_tokens, reasoning_effort: 'high', messages })),
  );
});

t.test('a model without eyes is not shown a picture', async (t) => {
  const models = { blind: { id: 'maker/blind-1', maxOutput: 100, defaultOutput: 20, supportsImageUrl: false } };
  const setting = { ...usage, upstream: { ...upstream, models }, model: 'blind' };
  const { binding, context, doubles } = await openSetting(t, setting);
  const content = [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }];
  const messages = [{ role: 'user', content }];
  const problem = await problemOf(adapter.call({ messages }, binding, context));
  t.match(problem, { failure: 'invalid-input', forCaller: /blind reads no images/ });
  t.same(doubles.calls(), { 'the-upstream': 0 });
});
