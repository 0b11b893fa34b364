import t from 'tap';
import type { Adapter } from '../../../src/upstream/adapter.ts';
import { openaiChat } from '../../../src/upstream/adapters/openai-chat.ts';
import { adapterContract, openSetting } from '../adapter-contract.ts';

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
