/** How streams are passed on, in front of an upstream that does what a test wants. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import t, { type Test } from 'tap';
import { usd } from '../../../src/money.ts';
import { openGateway } from './gateway.ts';

type Upstream = (response: ServerResponse, request: IncomingMessage, body: Record<string, unknown>) => unknown;

async function openWith(t: Test, upstream: Upstream, model = 'quick') {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    await upstream(response, request, JSON.parse(Buffer.concat(chunks).toString()));
  });
  // Longer than any test is kept waiting between two calls.
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const mainUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gateway = await openGateway(t, { mainUrl });
  const { apiKey, id } = await gateway.key('1');
  const post = (more: object = {}, signal?: AbortSignal) =>
    fetch(`${gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], stream: true, ...more }),
      ...(signal && { signal }),
    });
  return { ...gateway, apiKey, id, post };
}

const events = { 'content-type': 'text/event-stream' };

const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({
    id: 'gen-1',
    provider: 'SomeHost',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'vendor/quick-2026-01-01',
    choices: [{ index: 0, delta, finish_reason: null, native_finish_reason: null }],
    ...more,
  })}\n\n`;

const says = (content: string) => chunk({ content });
const finish = chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usage = (prompt: number, completion: number) =>
  chunk(
    {},
    { choices: [], usage: { prompt_tokens: prompt, completion_tokens: completion, cost: 0.5, is_byok: false } },
  );
const done = 'data: [DONE]\n\n';

const dataOf = (text: string) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data ?? '');
const textOf = (text: string) =>
  dataOf(text)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data).choices?.[0]?.delta.content ?? '')
    .join('');

t.test('puts events together wherever the network cut them', async (t) => {
  const whole = Buffer.from(
    `: OPENROUTER PROCESSING\r\n\r\n${says('fög ')}${says('🌫 ends')}${finish}${usage(3, 4)}${done}`,
  );
  const { post, balance, apiKey } = await openWith(t, async (response) => {
    response.writeHead(200, events);
    for (const byte of whole) {
      response.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  const text = await (await post()).text();
  t.equal(textOf(text), 'fög 🌫 ends');
  t.equal(dataOf(text).at(-1), '[DONE]');
  t.notMatch(text, /OPENROUTER|SomeHost|vendor|gen-1|native_finish|cost|usage/);
  t.equal((await balance(apiKey)).balance, usd('1') - 12n, '3 at 0.75 and 4 at 2.25 a million, rounded up');
});

t.test('goes on after an event without data, by which some hosts say that they are still there', async (t) => {
  const { post, balance, apiKey } = await openWith(t, (response) =>
    response
      .writeHead(200, events)
      .end(
        `\ufeff${says('one ')}data:\n\n${says('two ')}event: ping\ndata: \n\n${says('three')}${finish}${usage(3, 4)}${done}`,
      ),
  );
  const text = await (await post()).text();
  t.equal(textOf(text), 'one two three');
  t.match(text, /data: \[DONE\]\n\n$/);
  t.same(await balance(apiKey), { balance: usd('1') - 12n, held: 0n });
});

t.test('charges what the model thought also where its provider counts that in the total alone', async (t) => {
  const counted = { prompt_tokens: 12, completion_tokens: 1, total_tokens: 399 };
  const { post, balance, apiKey } = await openWith(t, (response) => {
    response.writeHead(200, events).end(says('4') + finish + chunk({}, { choices: [], usage: counted }) + done);
  });
  const answered = await (await post({ stream: false })).json();
  t.match(answered, { usage: { prompt_tokens: 12, completion_tokens: 387, total_tokens: 399 } });
  t.equal((await balance(apiKey)).balance, usd('1') - 880n, '12 at 0.75 and 387 at 2.25 a million, rounded up');
  const text = await (await post({ stream_options: { include_usage: true } })).text();
  t.match(text, '"completion_tokens":387');
  t.equal((await balance(apiKey)).balance, usd('1') - 1_760n);
});

t.test('always asks the upstream for the usage, with the model’s own names for parameters', async (t) => {
  const bodies: object[] = [];
  const { post } = await openWith(
    t,
    (response, _request, body) => {
      bodies.push(body);
      response.writeHead(200, events).end(says('hi') + finish + usage(1, 1) + done);
    },
    'sage',
  );
  await (await post({ max_tokens: 9, temperature: 0.5, user: 'me', stop: null, top_p: 0.9 })).text();
  t.same(bodies, [
    {
      model: 'vendor/sage-2026',
      messages: [{ role: 'user', content: 'Hello' }],
      top_p: 0.9,
      max_completion_tokens: 9,
      stream: true,
      stream_options: { include_usage: true },
    },
  ]);
});

t.test('passes each chunk on at once', async (t) => {
  let more: (() => void) | undefined;
  const { post } = await openWith(t, async (response) => {
    response.writeHead(200, events).write(says('first'));
    await new Promise<void>((resolve) => {
      more = resolve;
    });
    response.end(says('second') + finish + usage(1, 1) + done);
  });
  const answer = await post();
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  t.match(new TextDecoder().decode(first?.value), /first/);
  more?.();
  let rest = '';
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    rest += new TextDecoder().decode(part.value);
  }
  t.match(rest, /second.*\[DONE\]/s);
});

t.test('keeps the connection to the upstream for the next call', async (t) => {
  const ports = new Set<number | undefined>();
  const { post } = await openWith(t, (response, request) => {
    ports.add(request.socket.remotePort);
    response.writeHead(200, events).end(says('hi') + finish + usage(1, 1) + done);
  });
  for (let call = 0; call < 3; call += 1) await (await post()).text();
  t.equal(ports.size, 1);
});

t.test('charges what came when the upstream breaks off in the middle, and says so in the stream', async (t) => {
  const { post, balance, apiKey } = await openWith(t, async (response) => {
    response.writeHead(200, events).write(says('482913'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.destroy();
  });
  const data = dataOf(await (await post()).text());
  t.match(JSON.parse(data[0] ?? ''), { choices: [{ delta: { content: '482913' } }] });
  t.match(JSON.parse(data[1] ?? ''), {
    error: { code: 'upstream_failed', type: 'server_error', param: null, message: /what came of it was charged/ },
  });
  t.equal(data.length, 2);
  // "Hello" is 11 tokens at 0.75 a million, and six digits are 2 at 2.25.
  t.same(await balance(apiKey), { balance: usd('1') - 13n, held: 0n });
});

t.test('takes an end without an end of the completion for a failure', async (t) => {
  const { post, balance, apiKey } = await openWith(t, (response) => response.writeHead(200, events).end(says('482')));
  t.match(await (await post()).text(), /upstream_failed/);
  t.same(await balance(apiKey), { balance: usd('1') - 11n, held: 0n }, '11 tokens of input and one of output');
});

for (const none of ['', 'null']) {
  t.test(`takes the reason ${JSON.stringify(none)}, which some hosts give with each word, for no end`, async (t) => {
    const word = (content: string) => chunk({}, { choices: [{ index: 0, delta: { content }, finish_reason: none }] });
    let isCut = true;
    const { post, balance, apiKey } = await openWith(t, (response) =>
      response.writeHead(200, events).end(word('482') + (isCut ? '' : word('913') + finish + usage(3, 4) + done)),
    );
    t.match(await (await post()).text(), /upstream_failed/);
    t.match(await (await post({ stream: false })).json(), { error: { code: 'upstream_failed' } });
    t.same(await balance(apiKey), { balance: usd('1') - 11n, held: 0n }, 'what came of the first alone');
    isCut = false;
    const chunks = dataOf(await (await post()).text())
      .slice(0, -1)
      .map((data) => JSON.parse(data));
    t.same(
      chunks.map(({ choices }) => choices[0].finish_reason),
      [null, null, 'stop'],
    );
  });
}

t.test('takes a provider’s error in the stream for one', async (t) => {
  const failure = 'data: {"error":{"code":502,"message":"Provider returned error at https://host.example"}}\n\n';
  const { post, balance, apiKey } = await openWith(t, (response) =>
    response.writeHead(200, events).end(says('482') + failure),
  );
  const text = await (await post()).text();
  t.match(text, /upstream_failed/);
  t.notMatch(text, /host\.example/);
  t.same(await balance(apiKey), { balance: usd('1') - 11n, held: 0n });
});

const bare = (error: object) =>
  JSON.stringify({ object: 'error', type: 'invalid_request_error', code: null, ...error });

t.test(
  'reads an error that is the whole of what a host says, as Mistral and servers of open models have it',
  async (t) => {
    const cases: [message: string, status: number, told: RegExp][] = [
      [
        'Assistant message must have either content or tool_calls',
        400,
        /does not take this request: Assistant message must/,
      ],
      ["This model's maximum context length is 4096 tokens", 400, /longer than the model can read/],
      ['The model `vendor/quick-2026-01-01` does not exist', 500, /upstream_failed/],
      ['Invalid model: vendor/quick-2026-01-01', 500, /upstream_failed/],
      ['Invalid model parameter: top_k is 9', 400, /does not take this request: Invalid model parameter/],
    ];
    for (const [message, status, told] of cases) {
      const { post, balance, apiKey } = await openWith(t, (response) => response.writeHead(400).end(bare({ message })));
      for (const stream of [false, true]) {
        const answer = await post({ stream });
        t.equal(answer.status, status, message);
        t.match(await answer.text(), told);
      }
      t.same(await balance(apiKey), { balance: usd('1'), held: 0n });
    }
  },
);

t.test('reads a reason that is no text, as Mistral lists what it does not take', async (t) => {
  const detail = [{ type: 'extra_forbidden', loc: ['body', 'tools'], msg: 'Extra inputs are not permitted' }];
  const ofMistral = bare({ message: { detail } });
  const raw = { error: { code: 422, message: 'Provider returned error', metadata: { raw: ofMistral } } };
  for (const body of [ofMistral, bare({ message: detail }), JSON.stringify(raw)]) {
    const { post, balance, apiKey } = await openWith(t, (response) => response.writeHead(422).end(body));
    for (const stream of [false, true]) {
      const answer = await post({ stream });
      t.equal(answer.status, 400);
      const { error } = (await answer.json()) as { error: { message: string } };
      t.match(error.message, /does not take this request: .*"tools".*Extra inputs are not permitted/, body);
    }
    t.same(await balance(apiKey), { balance: usd('1'), held: 0n });
  }
});

t.test('takes such an error in the stream for one, though the host says then that it is done', async (t) => {
  const { post, balance, apiKey } = await openWith(t, (response) =>
    response
      .writeHead(200, events)
      .end(`${says('482')}data: ${bare({ message: 'out of memory', code: 500 })}\n\n${done}`),
  );
  t.match(await (await post()).text(), /upstream_failed/);
  t.match(await (await post({ stream: false })).text(), /upstream_failed/);
  t.same(await balance(apiKey), { balance: usd('1') - 11n, held: 0n }, 'what came of the first alone');
});

t.test('answers a status as long as nothing was streamed', async (t) => {
  const cases: [Upstream, number, string][] = [
    [
      (response) => response.writeHead(200, events).end('data: {"error":{"code":502,"message":"no"}}\n\n'),
      500,
      'upstream_failed',
    ],
    [(response) => response.writeHead(200, events).end('data: {"half": \n\n'), 500, 'upstream_invalid_result'],
    [
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      500,
      'upstream_invalid_result',
    ],
    [(response) => response.writeHead(401).end('{"error":{"message":"bad key"}}'), 500, 'upstream_unavailable'],
    [
      (response) => response.writeHead(400).end('{"error":{"message":"maximum context length is 5"}}'),
      400,
      'invalid_request',
    ],
    [
      (response) => response.writeHead(400).end('{"error":{"code":"content_policy_violation","message":"no"}}'),
      400,
      'content_refused',
    ],
    [(response) => response.destroy(), 500, 'upstream_failed'],
  ];
  for (const [upstream, status, code] of cases) {
    const { post, balance, apiKey } = await openWith(t, upstream);
    const answer = await post();
    t.equal(answer.status, status, code);
    t.match(await answer.json(), { error: { code, message: String, type: String, param: null } });
    t.same(await balance(apiKey), { balance: usd('1'), held: 0n });
  }
});

t.test('leaves a provider whose event does not end, and charges nothing', async (t) => {
  const lines = 64;
  let written = 0;
  let isLeft: (() => void) | undefined;
  const left = new Promise<void>((resolve) => {
    isLeft = resolve;
  });
  const { post, balance, apiKey } = await openWith(t, async (response) => {
    response.once('close', () => isLeft?.());
    response.writeHead(200, events);
    for (; written < lines && !response.destroyed; written += 1) {
      if (response.write(`data: ${'z'.repeat(1024 * 1024)}\n`)) continue;
      await Promise.race([once(response, 'drain'), left]);
    }
    response.end();
  });
  const answer = await post();
  t.equal(answer.status, 500);
  t.match(await answer.json(), { error: { code: 'upstream_invalid_result' } });
  await left;
  t.ok(written < lines, `${written} of ${lines} MB left the provider`);
  t.same(await balance(apiKey), { balance: usd('1'), held: 0n });
});

t.test('passes on what is known of messages and tools, and nothing else', async (t) => {
  let asked: Record<string, unknown> = {};
  const { post } = await openWith(t, (response, _request, body) => {
    asked = body;
    response.writeHead(200, events).end(says('Yes') + finish + usage(3, 1) + done);
  });
  const cache_control = { type: 'ephemeral' };
  const clock = { name: 'clock', description: 'Tells the time', parameters: { type: 'object' } };
  const call = { name: 'clock', arguments: '{}' };
  const answer = await post({
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Hello', cache_control }], cache_control, weight: 3 },
      {
        role: 'assistant',
        content: null,
        reasoning_details: ['long thoughts'],
        tool_calls: [{ id: 'call_1', type: 'function', index: 0, function: { ...call, extra: 1 } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '12:00', cache_control },
    ],
    tools: [{ type: 'function', function: { ...clock, cache_control }, cache_control }],
  });
  t.equal(answer.status, 200);
  await answer.text();
  t.strictSame(asked.messages, [
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: call }] },
    { role: 'tool', content: '12:00', tool_call_id: 'call_1' },
  ]);
  t.strictSame(asked.tools, [{ type: 'function', function: clock }]);
});

t.test(
  'gives a model back what it thought before it called a function, by the name that its caller has for it',
  async (t) => {
    const asked: { messages: unknown }[] = [];
    const { post } = await openWith(t, (response, _request, body) => {
      asked.push(body as { messages: unknown });
      response.writeHead(200, events).end(says('Noon') + finish + usage(90, 1) + done);
    });
    const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{}' } }];
    const conversation = (thoughts: object) => [
      { role: 'user', content: 'What time is it?' },
      { role: 'assistant', content: null, ...thoughts, tool_calls },
      { role: 'tool', content: '12:00', tool_call_id: 'call_1' },
    ];
    // As the answer has it, and as @ai-sdk/openai-compatible 3.0.92 sends it back.
    for (const thoughts of [{ reasoning: 'I need a clock' }, { reasoning_content: 'I need a clock' }]) {
      const answer = await post({ messages: conversation(thoughts) });
      t.equal(answer.status, 200);
      await answer.text();
      t.same(asked.pop()?.messages, conversation(thoughts));
    }
    await (await post({ messages: conversation({ reasoning: null }) })).text();
    t.same(asked.pop()?.messages, conversation({}), 'null is nothing');
    const refused = await post({ messages: conversation({ reasoning: ['thoughts'] }) });
    t.equal(refused.status, 400);
    t.match(await refused.json(), { error: { param: 'messages[1].reasoning', message: /is not text/ } });
  },
);

t.test('asks a host that takes no thoughts for the same without them, once', async (t) => {
  const asked: { messages: Record<string, unknown>[] }[] = [];
  const { post } = await openWith(t, (response, _request, body) => {
    const { messages } = body as (typeof asked)[number];
    asked.push({ messages });
    const name = ['reasoning', 'reasoning_content'].find((field) => messages.some((message) => field in message));
    if (name === undefined && messages.length < 3) {
      response.writeHead(200, events).end(says('Noon') + finish + usage(90, 1) + done);
      return;
    }
    // As Groq says it; of Mistral's words, the name alone is the same.
    const message =
      name === undefined
        ? 'too many messages'
        : `'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property '${name}' is unsupported)]`;
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
  });
  const user = { role: 'user', content: 'What time is it?' };
  const spoken = { role: 'assistant', content: 'I do not know' };
  for (const thoughts of [{ reasoning: 'No clock' }, { reasoning_content: '\n' }]) {
    for (const stream of [true, false]) {
      asked.length = 0;
      const answer = await post({ messages: [{ ...spoken, ...thoughts }, user], stream });
      t.match([answer.status, await answer.text()], [200, /Noon/], JSON.stringify(thoughts));
      t.same(
        asked.map(({ messages }) => messages),
        [
          [{ ...spoken, ...thoughts }, user],
          [spoken, user],
        ],
      );
    }
  }
  asked.length = 0;
  const refused = await post({ messages: [user, spoken, user] });
  t.match([refused.status, await refused.text()], [400, /too many messages/]);
  t.equal(asked.length, 1, 'what is refused for another reason is not asked for twice');
});

t.test('a host that has begun to answer is not asked again, whatever it says then', async (t) => {
  let asked = 0;
  const { post } = await openWith(t, (response) => {
    asked += 1;
    response.writeHead(200, events).end(`${says('Noon')}data: {"error":{"code":400,"message":"no more"}}\n\n`);
  });
  const answer = await post({ messages: [{ role: 'assistant', content: 'I do not know', reasoning: 'No clock' }] });
  t.equal((await answer.text()).match(/Noon/g)?.length, 1);
  t.equal(asked, 1);
});

t.test('passes on what is known of a provider’s message, and nothing that names the provider', async (t) => {
  const message = {
    role: 'assistant',
    content: 'Yes',
    refusal: null,
    reasoning: 'thoughts',
    reasoning_details: [{ format: 'maker-v1' }],
    provider_note: 'secret',
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'a', arguments: '{}', maker: 1 }, maker: 1 }],
    annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', maker: 1 }, maker: 1 }],
  };
  const whole = {
    id: 'gen-1',
    object: 'chat.completion',
    created: 1,
    model: 'vendor/sage-2026',
    system_fingerprint: 'fp_maker',
    choices: [{ index: 0, message, finish_reason: 'stop', maker_reason: 'END', logprobs: null }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  };
  const { post } = await openWith(t, (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole)),
  );
  for (const stream of [true, false]) {
    const text = await (await post({ stream })).text();
    t.match(text, /"content":"Yes"/);
    t.match(text, /"reasoning":"thoughts"/);
    t.match(text, /"call_1"/);
    t.match(text, 'https://a.example');
    t.notMatch(text, /maker|secret|reasoning_details|system_fingerprint|fp_/);
  }
});

t.test('answers a provider’s refusal of the request with its reason, plain and streamed', async (t) => {
  const refusal = {
    error: { message: "Invalid schema for response_format 'x'", param: 'response_format', code: null },
  };
  for (const stream of [true, false]) {
    const { post, balance, apiKey } = await openWith(t, (response) =>
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal)),
    );
    const answer = await post({ stream });
    t.equal(answer.status, 400);
    t.match(await answer.json(), { error: { code: 'invalid_request', message: /Invalid schema for response_format/ } });
    t.same(await balance(apiKey), { balance: usd('1'), held: 0n });
  }
});

t.test('refuses parts of messages that it does not know, and names the place', async (t) => {
  let calls = 0;
  const { post, balance, apiKey } = await openWith(t, () => calls++);
  const cases: [object, string][] = [
    [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, { type: 'input_audio' }] }, 'messages[0].content[1].type'],
    [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }, 'messages[0].content[0].type'],
    [{ role: 'user', content: [{ type: 'text', text: { long: 'text' } }] }, 'messages[0].content[0].text'],
    [{ role: 'user', content: [{ type: 'image_url', image_url: 'x' }] }, 'messages[0].content[0].image_url'],
    [{ role: 'user', content: 'Hi', name: ['x'] }, 'messages[0].name'],
    [{ role: 'assistant', tool_calls: [{ id: 'a', type: 'custom' }] }, 'messages[0].tool_calls[0].type'],
  ];
  for (const [message, param] of cases) {
    const answer = await post({ messages: [message] });
    t.equal(answer.status, 400);
    t.match(await answer.json(), { error: { code: 'invalid_value', param } });
  }
  t.equal(calls, 0);
  t.same(await balance(apiKey), { balance: usd('1'), held: 0n });
});

t.test('estimates what a provider does not count, the question with the answer', async (t) => {
  const content = '7'.repeat(300);
  const plain = { object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content } }] };
  for (const stream of [true, false]) {
    const { post, balance, apiKey, store, id } = await openWith(t, (response) =>
      stream
        ? response.writeHead(200, events).end(says(content) + finish + done)
        : response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(plain)),
    );
    await (await post({ stream, messages: [{ role: 'user', content: '7'.repeat(3000) }] })).text();
    const [settled] = await store.credits.entries(id, 1);
    t.match(settled, { kind: 'settle', note: '1008 prompt and 100 completion tokens as estimated' });
    // 1,008 at 0.75 and 100 at 2.25 a million.
    t.same(await balance(apiKey), { balance: usd('1') - 981n, held: 0n });
  }
});

t.test('holds all the answers that are asked for, and charges them', async (t) => {
  const choices = [0, 1, 2].map((index) => ({ index, message: { role: 'assistant', content: `Answer ${index}` } }));
  const counted = { prompt_tokens: 10, completion_tokens: 300, total_tokens: 310 };
  for (const stream of [true, false]) {
    let underWay: unknown;
    const { post, balance, apiKey } = await openWith(t, async (response) => {
      underWay = await balance(apiKey);
      if (stream) response.writeHead(200, events).end(says('Answer') + finish + usage(10, 300) + done);
      else response.end(JSON.stringify({ object: 'chat.completion', choices, usage: counted }));
    });
    await (await post({ stream, n: 3, max_tokens: 100 })).text();
    // 11 as estimated, 10 as counted, at 0.75 and three times 100 at 2.25 a million.
    t.same(underWay, { balance: usd('1') - 684n, held: 684n });
    t.same(await balance(apiKey), { balance: usd('1') - 683n, held: 0n });
  }
});

t.test('holds what the model reads besides the messages', async (t) => {
  const clock = { name: 'clock', parameters: { type: 'object' } };
  const cases: [more: object, held: bigint][] = [
    // "Hello" is 2.17 tokens and 8 of a message; as JSON, the functions are 25.27, the tools 40.03 and the format
    // 12.2, and 600 more may be told of functions. At 0.75 a million, and 100 tokens of output are 225.
    [{}, 234n],
    [{ functions: [clock] }, 702n],
    [{ tools: [{ type: 'function', function: clock }] }, 714n],
    [{ response_format: { type: 'json_object' } }, 243n],
  ];
  let underWay: bigint | undefined;
  const { post, balance, apiKey } = await openWith(t, async (response) => {
    underWay = (await balance(apiKey)).held;
    response.writeHead(200, events).end(says('hi') + finish + usage(1, 1) + done);
  });
  for (const [more, held] of cases) {
    await (await post({ max_tokens: 100, ...more })).text();
    t.equal(underWay, held, Object.keys(more).join());
  }
});

t.test('never goes on with another upstream’s answer after the first words of one', async (t) => {
  let breakOff: (() => void) | undefined;
  const { post, balance, apiKey, doubles } = await openWith(
    t,
    (response) => {
      response.writeHead(200, events).write(says('482913'));
      breakOff = () => response.destroy();
    },
    'sage',
  );
  const answer = await post();
  breakOff?.();
  const data = dataOf(await answer.text());
  t.equal(data.length, 2);
  t.match(JSON.parse(data[0] ?? ''), { choices: [{ delta: { content: '482913' } }] });
  t.match(JSON.parse(data[1] ?? ''), { error: { code: 'upstream_failed' } });
  t.equal(doubles.calls().spare ?? 0, 0);
  // 11 tokens at 2.20 a million, and 2 at 8.80.
  t.same(await balance(apiKey), { balance: usd('1') - 42n, held: 0n });
});

t.test('asks another upstream for the whole answer as long as nothing was streamed', async (t) => {
  const { post, doubles } = await openWith(t, (response) => response.writeHead(500).end('{}'), 'sage');
  const text = await (await post()).text();
  t.match(textOf(text), /Hello/);
  t.equal(dataOf(text).at(-1), '[DONE]');
  t.equal(doubles.calls().spare, 1);
});

t.test('puts a plain answer together from what its provider streams', async (t) => {
  const call = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });
  const logprobs = (token: string) =>
    chunk(
      {},
      { choices: [{ index: 0, delta: { content: token }, logprobs: { content: [{ token }] }, finish_reason: null }] },
    );
  const { post, balance, apiKey } = await openWith(t, (response, _request, body) => {
    t.match(body, { stream: true, stream_options: { include_usage: true } });
    response.writeHead(200, events);
    response.write(chunk({ role: 'assistant', content: '', refusal: null }));
    response.write(chunk({ reasoning: 'fog ' }) + chunk({ reasoning: 'first' }) + logprobs('a') + logprobs('b'));
    response.write(call(0, { id: 'call_1', type: 'function', function: { name: 'clock', arguments: '' } }));
    response.write(call(1, { id: 'call_2', type: 'function', function: { name: 'weather', arguments: '{"' } }));
    response.write(call(1, { function: { arguments: 'at":1}' } }) + call(0, { function: { arguments: '{}' } }));
    response.write(chunk({}, { choices: [{ index: 1, delta: { content: 'other' }, finish_reason: 'stop' }] }));
    response.end(finish + usage(3, 4) + done);
  });
  const answer = await post({ stream: false, n: 2 });
  t.match(answer.headers.get('content-type'), 'application/json');
  const whole = (await answer.json()) as Record<string, unknown>;
  t.match(whole.id, /^chatcmpl-/);
  t.same(
    { ...whole, id: undefined },
    {
      id: undefined,
      object: 'chat.completion',
      created: 1,
      model: 'quick',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'ab',
            refusal: null,
            reasoning: 'fog first',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{}' } },
              { id: 'call_2', type: 'function', function: { name: 'weather', arguments: '{"at":1}' } },
            ],
          },
          logprobs: { content: [{ token: 'a' }, { token: 'b' }] },
          finish_reason: 'stop',
        },
        {
          index: 1,
          message: { role: 'assistant', content: 'other', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 4 },
    },
  );
  t.equal((await balance(apiKey)).balance, usd('1') - 12n);
});

t.test('asks another upstream where one breaks off in the middle of a plain answer', async (t) => {
  const { post, doubles } = await openWith(t, (response) => response.writeHead(200, events).end(says('482')), 'sage');
  t.match(await (await post({ stream: false })).json(), { choices: [{ message: { content: /Hello/ } }] });
  t.equal(doubles.calls().spare, 1);
});

t.test('counts what a provider charged for what another answered then, or nobody was charged for', async (t) => {
  const { post, metrics } = await openWith(
    t,
    (response, _request, { stop }) =>
      response.writeHead(200, events).end(stop ? usage(7, 3) + done : says('482') + usage(7, 3)),
    'sage',
  );
  const spent = async () =>
    /_cost_usd_total\{endpoint="v1\/chat\/completions",upstream="main"\} (.*)/.exec(await metrics.text())?.[1];
  t.match(await (await post({ stream: false })).json(), { choices: [{ message: { content: /Hello/ } }] });
  t.equal(await spent(), '0.5', 'it broke off');
  await (await post({ stream: false, stop: ['x'] })).text();
  t.equal(await spent(), '1', 'it said nothing');
  await (await post()).text();
  t.equal(await spent(), '1.5', 'what came was charged');
});

t.test('takes no more from the upstream than a slow caller reads', async (t) => {
  const text = says('z'.repeat(10_000));
  const most = 20_000;
  let written = 0;
  let isMeasured = false;
  let waits: (() => void) | undefined;
  const waiting = new Promise<void>((resolve) => {
    waits = resolve;
  });
  const { origin, apiKey, settled } = await openWith(t, async (response) => {
    response.writeHead(200, events).setMaxListeners(0);
    while (!response.destroyed && !isMeasured && written < most) {
      written += 1;
      if (response.write(text)) continue;
      const stuck = setTimeout(() => waits?.(), 300);
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
      clearTimeout(stuck);
    }
    response.end(finish + usage(100, 200) + done);
  });
  const { port } = new URL(origin);
  const socket = connect(Number(port), '127.0.0.1').pause();
  t.teardown(() => socket.destroy());
  const body = JSON.stringify({ model: 'quick', messages: [{ role: 'user', content: 'Hello' }], stream: true });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${apiKey}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await waiting;
  t.ok(written < most, `${written} of ${most} chunks left the upstream`);
  isMeasured = true;
  socket.destroy();
  t.ok((await settled(apiKey)) < usd('1'), 'what was passed on is charged');
});

t.test('does not hold the upstream for a caller who stops reading, and charges the whole answer', async (t) => {
  const chunks = 3000;
  let isTaken: (() => void) | undefined;
  const taken = new Promise<void>((resolve) => {
    isTaken = resolve;
  });
  const { origin, apiKey, settled } = await openWith(t, async (response) => {
    response.writeHead(200, events);
    for (let written = 0; written < chunks; written += 1) {
      if (!response.write(says('z'.repeat(10_000)))) await once(response, 'drain');
    }
    response.end(finish + usage(100, 200) + done, isTaken);
  });
  const { port } = new URL(origin);
  const socket = connect(Number(port), '127.0.0.1').pause();
  t.teardown(() => socket.destroy());
  const body = JSON.stringify({ model: 'quick', messages: [{ role: 'user', content: 'Hello' }], stream: true });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${apiKey}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await taken;
  t.equal(await settled(apiKey), usd('1') - 525n, '100 at 0.75 and 200 at 2.25 a million: as the upstream counted');
});

t.test('ends what is under way as cut short when the gateway stops, and charges what came', async (t) => {
  for (const stream of [true, false]) {
    let begun: (() => void) | undefined;
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { post, stopping, balance, apiKey } = await openWith(t, (response) => {
      response.writeHead(200, events).write(says('482913'), () => begun?.());
    });
    const call = post({ stream });
    await hasBegun;
    if (stream) await call;
    // The gateway has to have read the words, too.
    else for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    stopping.abort();
    t.match(await (await call).text(), /"finish_reason":"length"/);
    t.same(await balance(apiKey), { balance: usd('1') - 13n, held: 0n });
  }
});
