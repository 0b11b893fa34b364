import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Adapter } from '../../../../src/upstream/adapter.ts';
import { openUpstreamHttp } from '../../../../src/upstream/http/client.ts';
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
      tokenParam: 'max_completion_tokens',
      supportsTemperature: false,
    },
    talker: { id: 'maker/talker-2' },
  },
};
const usage = { adapter, upstream, model: 'thinker', options: { result: 'usage' } };
const tiered = { adapter, upstream, model: 'thinker', options: { result: 'tiered' } };
const small = { tier: 'small', maxOutputTokens: 1024 };

adapterContract(t, 'a tiered text', {
  ...tiered,
  input: { prompt: 'Why is the sky blue?', tier: 'small' },
  terms: small,
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['text', 'model', 'tier', 'usage', 'metadata'],
    properties: {
      text: { type: 'string', minLength: 1 },
      model: { const: 'thinker' },
      tier: { const: 'small' },
      usage: { required: ['input_tokens', 'output_tokens'], properties: { input_tokens: count, output_tokens: count } },
      metadata: { required: ['finish_reason'] },
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

t.test('asks for the output that was sold, whatever the caller says', async (t) => {
  const { binding, context } = await openSetting(t, usage);
  const input = { prompt: 'x '.repeat(300), max_tokens: 100_000 };
  const short = (await adapter.call(input, binding, { ...context, terms: { maxOutputTokens: 7 } })) as UsageResult;
  t.equal(short.usage.completion_tokens, 7);
  t.equal(short.metadata.finish_reason, 'length');
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

t.test('reports what xAI charged, which it counts in ticks', async (t) => {
  const { binding, context } = await answering(t, usage, 200, {
    id: 'c-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 32, completion_tokens: 9, total_tokens: 41, cost_in_usd_ticks: 37_756_000 },
  });
  await adapter.call({ prompt: 'Hello' }, binding, context);
  t.same(context.costs, ['0.003775600000']);
});

t.test('asks the provider for as much as was sold, in the words of the model', async (t) => {
  const sent: unknown[] = [];
  for (const model of ['talker', 'thinker']) {
    const setting = await openSetting(t, { ...usage, model });
    const recording = recorded(setting.binding);
    const context = { ...setting.context, terms: { maxOutputTokens: 7 } };
    await adapter.call({ prompt: 'Hello', temperature: 0.3 }, recording.binding, context);
    sent.push(...recording.sent);
  }
  t.match(sent, [
    { model: 'maker/talker-2', max_tokens: 7, temperature: 0.3 },
    { model: 'maker/thinker-1', max_completion_tokens: 7, temperature: undefined },
  ]);
});

t.test('a tier is asked for in full, with the effort that the caller names', async (t) => {
  const setting = await openSetting(t, tiered);
  const { binding, sent } = recorded(setting.binding);
  const image = 'https://example.com/a.png';
  const input = { prompt: 'Hello', system_prompt: 'Be brief.', image, tier: 'small', reasoning_effort: 'high' };
  await adapter.call(input, binding, { ...setting.context, terms: small });
  const text = { type: 'text', text: 'Hello' };
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [text, { type: 'image_url', image_url: { url: input.image } }] },
  ];
  t.match(sent, [{ max_completion_tokens: 1024, reasoning_effort: 'high', messages }]);
});

t.test('passes on what is known of a message, and nothing else', async (t) => {
  const setting = await openSetting(t, usage);
  const { binding, sent } = recorded(setting.binding);
  const cache_control = { type: 'ephemeral', ttl: '1h' };
  const image_url = { url: 'https://example.com/a.png', detail: 'low' };
  const parts = [
    { type: 'text', text: 'Hello', cache_control },
    { type: 'image_url', image_url: { ...image_url, note: 'x' }, cache_control },
  ];
  const messages = [
    { role: 'system', content: 'Be brief.', cache_control, reasoning: 'long thoughts' },
    { role: 'user', content: parts, name: 'ada' },
  ];
  await adapter.call({ messages }, binding, setting.context);
  t.strictSame((sent[0] as { messages: unknown }).messages, [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hello' },
        { type: 'image_url', image_url },
      ],
      name: 'ada',
    },
  ]);
});

t.test('a picture is looked at no closer than it was counted for', async (t) => {
  const setting = await openSetting(t, usage);
  const { binding, sent } = recorded(setting.binding);
  const url = 'https://example.com/poster.png';
  const pictures = [{ url }, { url, detail: 'auto' }, { url, detail: 'high' }, { url, detail: 'low' }];
  const content = pictures.map((image_url) => ({ type: 'image_url', image_url }));
  await adapter.call({ messages: [{ role: 'user', content }] }, binding, setting.context);
  await adapter.call({ prompt: 'What is this?', image: url, tier: 'small' }, binding, setting.context);
  const details = (sent as { messages: { content: { image_url?: { detail?: string } }[] }[] }[]).map(({ messages }) =>
    messages.flatMap((message) => message.content.flatMap(({ image_url }) => image_url?.detail ?? [])),
  );
  t.strictSame(details, [['high', 'high', 'high', 'low'], ['high']]);
});

t.test('asks nothing with parts whose tokens nobody can estimate, and names the place', async (t) => {
  const { binding, context, doubles } = await openSetting(t, usage);
  for (const type of ['input_audio', 'file', 'constructor', undefined]) {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hear this' }, { type }] }];
    t.match(await problemOf(adapter.call({ messages }, binding, context)), {
      failure: 'invalid-input',
      publicMessage: /^messages\[0\]\.content\[1\]\.type is not supported here: it takes text, refusal, image_url$/,
    });
  }
  t.same(doubles.calls(), { 'the-upstream': 0 });
});

t.test('a model without eyes is not shown a picture', async (t) => {
  const models = { blind: { id: 'maker/blind-1', supportsImageUrl: false } };
  const setting = { ...usage, upstream: { ...upstream, models }, model: 'blind' };
  const { binding, context, doubles } = await openSetting(t, setting);
  const content = [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }];
  const messages = [{ role: 'user', content }];
  const problem = await problemOf(adapter.call({ messages }, binding, context));
  t.match(problem, { failure: 'invalid-input', publicMessage: /blind reads no images/ });
  t.same(doubles.calls(), { 'the-upstream': 0 });
});

/** The binding, its host answering this to every request. */
async function answering(t: Test, using: typeof tiered, status: number, answer: object) {
  const setting = await openSetting(t, using);
  const server = createServer((_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const http = openUpstreamHttp({
    upstream: { name: 'the-upstream', adapter: adapter.name, baseUrl: 'https://provider.example' },
    adapter,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secrets: setting.secrets,
  });
  t.teardown(async () => {
    await http.close();
    server.close();
  });
  return { ...setting, binding: { ...setting.binding, http } };
}

const refusedWith = (error: object) => ({
  error: { message: 'No', type: 'invalid_request_error', code: null, ...error },
});

t.test('what a host finds wrong with the caller’s request, the caller reads, without keys and names', async (t) => {
  for (const status of [400, 422]) {
    const message = 'maker/thinker-1 takes no such stop, see https://host.example/stop (key sandbox-secret_key)';
    const { binding, context } = await answering(t, usage, status, refusedWith({ message }));
    const problem = await problemOf(adapter.call({ prompt: 'Hello' }, binding, context));
    t.equal(problem.failure, 'invalid-input');
    t.match(problem.publicMessage, /the model takes no such stop/);
    t.notMatch(problem.publicMessage, /sandbox-secret|maker|host\.example/);
  }
});

t.test('what a host finds wrong with the gateway’s own doing is no fault of the caller', async (t) => {
  for (const error of [
    { code: 'model_not_found', message: 'The model `maker/thinker-1` does not exist' },
    { param: 'max_completion_tokens', message: 'Unsupported parameter' },
    { message: 'Model not found: maker/thinker-1' },
    { message: 'Incorrect API key provided' },
  ]) {
    const { binding, context } = await answering(t, usage, 400, refusedWith(error));
    const problem = await problemOf(adapter.call({ prompt: 'Hello' }, binding, context));
    t.equal(problem.failure, /key/.test(error.message) ? 'unavailable' : 'failed', error.message);
    t.equal(problem.publicMessage, undefined);
  }
});

t.test('what OpenRouter says of a failure, by its kind and whatever its words, is told apart', async (t) => {
  const kinds: Readonly<Record<string, [number, string]>> = {
    content_policy_violation: [403, 'content-refused'],
    refusal: [400, 'content-refused'],
    context_length_exceeded: [400, 'invalid-input'],
    string_too_long: [400, 'invalid-input'],
    image_download_failed: [400, 'invalid-input'],
    permission_denied: [403, 'unavailable'],
  };
  for (const [error_type, [status, failure]] of Object.entries(kinds)) {
    const error = { code: status, message: 'Provider returned error', metadata: { error_type } };
    const { binding, context } = await answering(t, tiered, status, { error });
    const call = adapter.call({ prompt: 'Hello', tier: 'small' }, binding, { ...context, terms: small });
    t.equal((await problemOf(call)).failure, failure, error_type);
  }
});

t.test('what xAI will not read is the caller’s to change, though it answers as if the key were refused', async (t) => {
  for (const [status, code] of [
    [403, 'The caller does not have permission to execute the specified operation'],
    [400, 'Client specified an invalid argument'],
  ] as const) {
    const error =
      'Content violates usage guidelines. Team: t, API key ID: k, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO';
    const { binding, context } = await answering(t, usage, status, { code, error });
    const problem = await problemOf(adapter.call({ prompt: 'Hello' }, binding, context));
    t.equal(problem.failure, 'content-refused', String(status));
    t.notMatch(problem.publicMessage, /API key|Team/);
  }
});

t.test('what a guardrail of ours at OpenRouter blocks is the caller’s to change', async (t) => {
  const message = 'Request blocked: prompt injection patterns detected';
  const error = { code: 403, message, metadata: { error_type: 'permission_denied' } };
  const { binding, context } = await answering(t, usage, 403, { error });
  const problem = await problemOf(adapter.call({ prompt: 'Hello' }, binding, context));
  t.match(problem, { failure: 'content-refused', publicMessage: 'The model refused to answer this prompt' });
});

t.test('a choice that ended in an error is no answer, however much of it was written', async (t) => {
  const choice = { index: 0, message: { role: 'assistant', content: 'Half a' }, finish_reason: 'error' };
  for (const error of [undefined, { code: 502, message: 'Upstream broke off' }]) {
    const { binding, context } = await answering(t, usage, 200, {
      id: 'gen-1',
      object: 'chat.completion',
      choices: [{ ...choice, error }],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    });
    t.equal((await problemOf(adapter.call({ prompt: 'Hello' }, binding, context))).failure, 'failed');
  }
});

t.test('an answer of no word and no token is none, also where use is paid for', async (t) => {
  for (const message of [null, { role: 'assistant', content: null }, { role: 'assistant', content: '' }]) {
    const answer = {
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 0, total_tokens: 5 },
    };
    const { binding, context } = await answering(t, usage, 200, answer);
    t.equal((await problemOf(adapter.call({ prompt: 'Hello' }, binding, context))).failure, 'malformed');
  }
});

t.test('a tier that reasoning used up before the first word is no result', async (t) => {
  const completion = (reasoning_tokens: number, finish_reason: string) => ({
    id: 'gen-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason }],
    usage: {
      prompt_tokens: 5,
      completion_tokens: 1024,
      total_tokens: 1029,
      completion_tokens_details: { reasoning_tokens },
    },
  });
  const problemAt = async (reasoning: number, reason: string) => {
    const { binding, context } = await answering(t, tiered, 200, completion(reasoning, reason));
    return problemOf(adapter.call({ prompt: 'Hello', tier: 'small' }, binding, { ...context, terms: small }));
  };
  t.match(await problemAt(1024, 'length'), { failure: 'invalid-input', publicMessage: /1024 tokens .* larger tier/ });
  t.match(await problemAt(0, 'stop'), { failure: 'malformed' });
});
