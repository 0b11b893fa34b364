/** The official client, pointed at the gateway, against the sandbox's double. */
import OpenAI from 'openai';
import t from 'tap';
import { usd } from '../../../src/money.ts';
import { openGateway } from './gateway.ts';

const messages = [{ role: 'user', content: 'Why does fog scatter light?' }] as const;
const ask = { model: 'sage', messages: [...messages] };

/** Two dollars and eight a million tokens, and ten percent: in millionths of a dollar, rounded up. */
const sagePrice = ({ prompt_tokens, completion_tokens }: { prompt_tokens: number; completion_tokens: number }) =>
  BigInt(Math.ceil((prompt_tokens * 22 + completion_tokens * 88) / 10));

const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather of a place',
    parameters: { type: 'object', required: ['place'], properties: { place: { type: 'string' } } },
  },
} satisfies OpenAI.ChatCompletionTool;

t.test('answers a plain call and charges its tokens, exactly', async (t) => {
  const { key, client, balance, store, lines } = await openGateway(t);
  const { apiKey, id } = await key('1');
  const { data: answer, response } = await client(apiKey).chat.completions.create(ask).withResponse();
  t.match(answer, {
    id: /^chatcmpl-[0-9a-f]{32}$/,
    object: 'chat.completion',
    model: 'sage',
    choices: [{ index: 0, message: { role: 'assistant', content: /fog scatter light/ }, finish_reason: 'stop' }],
  });
  t.ok(response.headers.get('x-request-id'));
  t.ok(answer.usage);
  t.notOk('cost' in (answer.usage ?? {}), 'what the call cost us is nobody else’s business');
  const price = sagePrice(answer.usage ?? { prompt_tokens: 0, completion_tokens: 0 });
  t.same(await balance(apiKey), { balance: usd('1') - price, held: 0n });
  const [settled] = await store.credits.entries(id, 1);
  t.match(settled, { kind: 'settle', price, model: 'sage', note: /prompt and .* completion tokens$/ });
  t.ok((settled?.cost ?? 0n) > 0n && (settled?.cost ?? 0n) < price * 1_000_000n, 'the cost is below the price');
  t.notMatch(JSON.stringify(lines), new RegExp(apiKey));
});

t.test('streams the same text for the same price', async (t) => {
  const { key, client, balance } = await openGateway(t);
  const { apiKey } = await key('1');
  const plain = await client(apiKey).chat.completions.create(ask);
  const afterPlain = await balance(apiKey);
  let text = '';
  const ids = new Set<string>();
  for await (const chunk of await client(apiKey).chat.completions.create({ ...ask, stream: true })) {
    t.equal(chunk.model, 'sage');
    t.notOk('usage' in chunk);
    t.equal(chunk.choices.length, 1);
    ids.add(chunk.id);
    text += chunk.choices[0]?.delta.content ?? '';
  }
  t.equal(text, plain.choices[0]?.message.content);
  t.equal(ids.size, 1);
  const afterStream = await balance(apiKey);
  t.equal(afterPlain.balance - afterStream.balance, usd('1') - afterPlain.balance);
  t.equal(afterStream.held, 0n);
});

t.test('gives the usage of a stream to who asks for it', async (t) => {
  const { key, client, balance } = await openGateway(t);
  const { apiKey } = await key('1');
  const stream = await client(apiKey).chat.completions.create({
    ...ask,
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  const last = chunks.pop();
  t.ok(chunks.every(({ usage }) => usage === null));
  t.match(last, { choices: [], usage: { prompt_tokens: Number, completion_tokens: Number, total_tokens: Number } });
  t.notOk('cost' in (last?.usage ?? {}));
  const price = sagePrice(last?.usage ?? { prompt_tokens: 0, completion_tokens: 0 });
  t.equal((await balance(apiKey)).balance, usd('1') - price);
});

t.test('lets a model call functions, plain and streamed', async (t) => {
  const { key, client } = await openGateway(t);
  const { apiKey } = await key('1');
  const withTools = { ...ask, tools: [weather] };
  const answer = await client(apiKey).chat.completions.create(withTools);
  t.match(answer.choices[0], {
    finish_reason: 'tool_calls',
    message: { tool_calls: [{ type: 'function', function: { name: 'weather' } }] },
  });
  const streamed = await client(apiKey).chat.completions.stream(withTools).finalChatCompletion();
  t.same(streamed.choices[0]?.message.tool_calls, answer.choices[0]?.message.tool_calls);

  const asked: unknown[] = [];
  const runner = client(apiKey).chat.completions.runTools({
    ...ask,
    tools: [
      {
        type: 'function',
        function: {
          name: 'weather',
          description: 'The weather of a place',
          parameters: { ...weather.function.parameters, required: ['place'] },
          parse: (place: string): unknown => JSON.parse(place),
          function: (place: unknown) => {
            asked.push(place);
            return 'fog';
          },
        },
      },
    ],
  });
  t.match(await runner.finalContent(), /fog scatter light/);
  t.match(asked, [{ place: String }]);
});

t.test('gives JSON of a schema', async (t) => {
  const { key, client } = await openGateway(t);
  const { apiKey } = await key('1');
  const schema = {
    type: 'object',
    required: ['sky'],
    properties: { sky: { type: 'string' } },
    additionalProperties: false,
  };
  const answer = await client(apiKey).chat.completions.parse({
    ...ask,
    response_format: { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema } },
  });
  t.match(JSON.parse(answer.choices[0]?.message.content ?? ''), { sky: String });
});

t.test('takes pictures', async (t) => {
  const { key, client } = await openGateway(t);
  const { apiKey } = await key('1');
  const image_url = { url: 'https://pictures.example/fog.png' };
  const answer = await client(apiKey).chat.completions.create({
    model: 'sage',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url },
        ],
      },
    ],
  });
  t.match(answer.choices[0]?.message.content, /What is it/);
});

t.test('lists what is sold, at the prices of the catalogue', async (t) => {
  const { client } = await openGateway(t);
  const models = [];
  for await (const model of client('none').models.list()) models.push(model);
  t.match(models, [
    {
      id: 'sage',
      object: 'model',
      context_window: 100_000,
      max_output_tokens: 8000,
      pricing: { currency: 'USD', unit: '1M tokens', input: '2.2', output: '8.8' },
    },
    {
      id: 'quick',
      context_window: null,
      pricing: {
        input: '0.75',
        output: '2.25',
        long_prompt: { above_tokens: 100_000, input: '1.5', output: '3' },
      },
    },
  ]);
  t.match(await client('none').models.retrieve('quick'), { id: 'quick' });
  await t.rejects(client('none').models.retrieve('none'), { status: 404, code: 'model_not_found' });
});

t.test('a key that is disabled or runs out between two calls is good for no more', async (t) => {
  let now = 1_000_000;
  const { key, client, store, balance } = await openGateway(t, { now: () => now });
  const disabled = await key('1');
  const expiring = await key('1', { expiresAt: now + 10 });
  for (const { apiKey } of [disabled, expiring]) await client(apiKey).chat.completions.create(ask);
  const left = await Promise.all([disabled, expiring].map(({ apiKey }) => balance(apiKey)));
  await store.credits.disableKey(disabled.id, now);
  now += 10;
  for (const { apiKey } of [disabled, expiring]) {
    for (const what of ['the first time', 'and again']) {
      await t.rejects(client(apiKey).chat.completions.create(ask), { status: 401, code: 'invalid_api_key' }, what);
    }
  }
  t.same(await Promise.all([disabled, expiring].map(({ apiKey }) => balance(apiKey))), left);
});

t.test('refuses in the words of OpenAI, and charges nothing', async (t) => {
  const day = 86_400_000;
  const { key, client, store, apiKeys, balance } = await openGateway(t, { now: () => 20_000 * day });
  const { apiKey, id } = await key('1');
  const disabled = await key('1');
  await store.credits.disableKey(disabled.id, 1);
  const expired = await key('1', { expiresAt: 20_000 * day - 1 });
  const poor = await key('0.0001');
  const bound = await key('1', { limits: { models: ['quick'], perCall: usd('0.0005'), perDay: usd('0.001') } });
  const mean = await key('1', { limits: { perCall: usd('0.000001') } });
  const unknown = `tp_sandbox_${'x'.repeat(43)}`;
  const quick = { ...ask, model: 'quick' };

  const cases: [
    what: string,
    key: string,
    body: object,
    error: { status: number; code: string; param?: string; type?: string; message?: RegExp },
  ][] = [
    ['no key of ours', 'sk-whatever', ask, { status: 401, code: 'invalid_api_key' }],
    ['an unknown key', unknown, ask, { status: 401, code: 'invalid_api_key' }],
    ['a disabled key', disabled.apiKey, ask, { status: 401, code: 'invalid_api_key' }],
    ['an expired key', expired.apiKey, ask, { status: 401, code: 'invalid_api_key' }],
    [
      'too small a balance',
      poor.apiKey,
      ask,
      { status: 402, code: 'insufficient_credits', type: 'insufficient_quota' },
    ],
    [
      'another model than the key is for',
      bound.apiKey,
      ask,
      { status: 403, code: 'model_not_allowed', param: 'model' },
    ],
    [
      'more than a call may cost',
      bound.apiKey,
      quick,
      { status: 403, code: 'call_limit_exceeded', message: /: lower max_tokens$/ },
    ],
    [
      'more than a call may cost, whatever is answered',
      mean.apiKey,
      quick,
      { status: 403, code: 'call_limit_exceeded', message: /: send less, or take a cheaper model$/ },
    ],
    ['an unknown model', apiKey, { ...ask, model: 'gpt-9' }, { status: 404, code: 'model_not_found', param: 'model' }],
    ['no model', apiKey, { messages }, { status: 400, code: 'invalid_value', param: 'model' }],
    ['no messages', apiKey, { model: 'sage' }, { status: 400, code: 'invalid_value', param: 'messages' }],
    [
      'a strange role',
      apiKey,
      { ...ask, messages: [{ role: 'me', content: '' }] },
      { status: 400, code: 'invalid_value', param: 'messages[0].role' },
    ],
    [
      'sound',
      apiKey,
      { ...ask, messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      { status: 400, code: 'invalid_value', param: 'messages[0].content[0].type' },
    ],
    [
      'max_tokens beyond the model',
      apiKey,
      { ...ask, max_tokens: 8001 },
      { status: 400, code: 'invalid_value', param: 'max_tokens' },
    ],
    [
      'max_completion_tokens beyond it',
      apiKey,
      { ...ask, max_completion_tokens: 9000 },
      { status: 400, code: 'invalid_value', param: 'max_completion_tokens' },
    ],
    ['half a token', apiKey, { ...ask, max_tokens: 1.5 }, { status: 400, code: 'invalid_value', param: 'max_tokens' }],
    ['no token', apiKey, { ...ask, max_tokens: 0 }, { status: 400, code: 'invalid_value', param: 'max_tokens' }],
    ['too many choices', apiKey, { ...ask, n: 17 }, { status: 400, code: 'invalid_value', param: 'n' }],
    [
      'more alternatives than are read',
      apiKey,
      { ...ask, logprobs: true, top_logprobs: 21 },
      { status: 400, code: 'invalid_value', param: 'top_logprobs' },
    ],
    ['too hot', apiKey, { ...ask, temperature: 2.1 }, { status: 400, code: 'invalid_value', param: 'temperature' }],
    [
      'a search that costs by the call',
      apiKey,
      { ...ask, web_search_options: {} },
      { status: 400, code: 'unsupported_parameter', param: 'web_search_options' },
    ],
    [
      'a dearer tier',
      apiKey,
      { ...ask, service_tier: 'priority' },
      { status: 400, code: 'unsupported_parameter', param: 'service_tier' },
    ],
    [
      'a tool of the provider',
      apiKey,
      { ...ask, tools: [{ type: 'web_search' }] },
      { status: 400, code: 'invalid_value', param: 'tools[0].type' },
    ],
    [
      'a picture for a model that reads text',
      apiKey,
      {
        ...quick,
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }] }],
      },
      { status: 400, code: 'invalid_value', param: 'messages' },
    ],
    [
      'a schema for a model without',
      apiKey,
      { ...quick, response_format: { type: 'json_schema' } },
      { status: 400, code: 'invalid_value', param: 'response_format' },
    ],
  ];
  for (const [what, shown, body, error] of cases) {
    await t.rejects(client(shown).chat.completions.create(body as typeof ask), error, what);
  }
  t.same(await balance(apiKey), { balance: usd('1'), held: 0n });
  t.equal((await store.credits.entries(id, 10)).length, 1);

  const tooPoor = await client(poor.apiKey)
    .chat.completions.create(ask)
    .catch((error: unknown) => error);
  t.ok(tooPoor instanceof OpenAI.APIError);
  t.match((tooPoor as InstanceType<typeof OpenAI.APIError>).error, {
    message: /up to 0\.00\d+ USD.*balance is 0\.0001 USD.*top up with POST https:\/\/gateway\.example\/v1\/credits/,
    needed_usd: /^0\.00\d+$/,
    top_up_url: 'https://gateway.example/v1/credits',
  });

  const small = { ...quick, max_tokens: 100 };
  await t.resolves(client(bound.apiKey).chat.completions.create(small));
  for (let spent = 0; spent < 20; spent += 1) {
    const error = await client(bound.apiKey)
      .chat.completions.create(small)
      .then(
        () => undefined,
        (caught: unknown) => caught,
      );
    if (!error) continue;
    t.match(error, { status: 429, code: 'daily_limit_exceeded' });
    t.equal((error as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after'), '86400');
    break;
  }
  t.ok((await apiKeys.find(bound.apiKey))?.balance);
});

t.test('charges nothing when the upstream fails, and asks the next where there is one', async (t) => {
  const { key, client, doubles, balance } = await openGateway(t);
  const { apiKey } = await key('1');
  const quick = { ...ask, model: 'quick' };
  for (const [fault, code] of [
    ['500', 'upstream_failed'],
    ['429', 'upstream_failed'],
    ['malformed', 'upstream_invalid_result'],
  ] as const) {
    for (const stream of [false, true]) {
      doubles.fault('main', fault, 1);
      const call = client(apiKey).chat.completions.create({ ...quick, stream });
      await t.rejects(call, { status: 500, code, type: 'server_error' }, `${fault} ${stream}`);
    }
  }
  t.same(await balance(apiKey), { balance: usd('1'), held: 0n });

  doubles.fault('main', '500', 1);
  const before = doubles.calls().spare;
  t.match(await client(apiKey).chat.completions.create(ask), { model: 'sage' });
  t.equal(doubles.calls().spare, (before ?? 0) + 1);
});

t.test('gives up at the endpoint’s deadline, and charges nothing', async (t) => {
  const { key, client, doubles, balance } = await openGateway(t, { deadline: '5s' });
  const { apiKey } = await key('1');
  doubles.fault('main', 'timeout', 1);
  await t.rejects(client(apiKey).chat.completions.create({ ...ask, model: 'quick' }), {
    status: 500,
    code: 'upstream_timeout',
  });
  t.same(await balance(apiKey), { balance: usd('1'), held: 0n });
});

t.test('never lets 200 calls at the same time spend more than a small balance', async (t) => {
  const { key, client, balance, store } = await openGateway(t);
  const { apiKey, id } = await key('0.01');
  const results = await Promise.allSettled(
    Array.from({ length: 200 }, (_, index) =>
      client(apiKey)
        .chat.completions.create({ ...ask, model: 'quick', max_tokens: 200, stream: index % 2 === 0 })
        .then(async (answer) => {
          if ('choices' in answer) return;
          for await (const _chunk of answer) void _chunk;
        }),
    ),
  );
  const refused = results.filter((result) => result.status === 'rejected');
  for (const { reason } of refused) t.match(reason, { status: 402 });
  t.ok(refused.length > 0 && refused.length < 200);
  const left = await balance(apiKey);
  t.equal(left.held, 0n);
  const entries = await store.credits.entries(id, 10_000);
  t.equal(
    entries.reduce((sum, { amount }) => sum + amount, 0n),
    left.balance,
  );
  t.ok(entries.every((entry) => entry.balance >= 0n));
  const charged = entries.reduce((sum, { price }) => sum + (price ?? 0n), 0n);
  t.equal(usd('0.01') - charged, left.balance);
});

t.test('shows a key its balance and what it was spent on', async (t) => {
  const { key, client, origin } = await openGateway(t);
  const { apiKey } = await key('1', { limits: { perDay: usd('5') } });
  await client(apiKey).chat.completions.create(ask);
  const answer = await fetch(`${origin}/v1/credits`, { headers: { authorization: `Bearer ${apiKey}` } });
  const credits = await answer.json();
  t.match(credits, {
    object: 'credits',
    key: apiKey.slice(0, 15),
    balance_usd: /^0\.99\d+$/,
    held_usd: '0',
    limits: { per_day_usd: '5', per_call_usd: null, models: null, expires_at: null },
    entries: [
      { number: 3, kind: 'settle', model: 'sage', price_usd: /^0\.00\d+$/ },
      { number: 2, kind: 'hold', amount_usd: /^-0\.00\d+$/ },
      { number: 1, kind: 'grant', amount_usd: '1', balance_usd: '1' },
    ],
  });
  t.notMatch(JSON.stringify(credits), /"cost/);
  t.equal((await fetch(`${origin}/v1/credits`)).status, 401);
  t.equal((await fetch(`${origin}/v1/chat/completions`)).headers.get('allow'), 'POST');
});
