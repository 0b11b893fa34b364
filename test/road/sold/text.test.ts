import t from 'tap';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { stoppedClock } from '../../stopped-clock.ts';

const gateway = await startGateway({ networks: ['chain-a', 'chain-c'], solanaNow: stoppedClock() });
t.teardown(gateway.stop);

const question = { prompt: 'Why does fog scatter light?' };

for (const [path, body] of [
  ['/llm/vendor1-fable-5', { ...question, system_prompt: 'Be brief.', image: 'https://example.com/fog.png' }],
  ['/llm/vendor1-opus-4-6', { ...question, tier: 'medium' }],
  ['/llm/vendor2-3.5-flash', question],
  ['/llm/vendor3-5.2', { ...question, reasoning_effort: 'low' }],
] as const) {
  t.test(`${path} answers within its tier`, async (t) => {
    const tier = 'tier' in body ? body.tier : 'small';
    for (const prefix of ['', '/chain-c-main']) {
      const answer = await payV2(gateway, 'chain-c', request(gateway, prefix + path, body));
      t.equal(answer.status, 200);
      t.match(await answer.json(), {
        text: /Why does fog scatter light/,
        model: path.slice('/llm/'.length),
        tier,
        usage: { input_tokens: Number, output_tokens: Number },
        metadata: { finish_reason: 'stop', sandbox: true },
      });
    }
  });
}

for (const model of [
  'vendor1-opus-5',
  'vendor3-5.6-luna',
  'vendor3-5.6-sol',
  'vendor3-5.6-terra',
  'vendor4-4.5',
  'vendor5-k3',
]) {
  t.test(`/llm/${model} answers a prompt and a conversation, within max_tokens`, async (t) => {
    const talk = { messages: [{ role: 'user', content: question.prompt }], temperature: 0.5 };
    for (const body of [
      { ...question, max_tokens: 5 },
      { ...talk, max_tokens: 5 },
    ]) {
      const answer = await payV2(gateway, 'chain-c', request(gateway, `/llm/${model}`, body));
      t.equal(answer.status, 200);
      t.match(await answer.json(), {
        text: /.+/,
        model,
        usage: { completion_tokens: 5 },
        metadata: { finish_reason: 'length' },
      });
    }
  });
}

t.test('the multi-model endpoint answers with the model that is named', async (t) => {
  for (const model of ['vendor8-v4-pro', 'vendor1-fable-5']) {
    const answer = await payV2(gateway, 'chain-a', request(gateway, '/llm/multi-model', { model, ...question }));
    t.match(await answer.json(), { model, text: /.+/, usage: { total_tokens: Number } });
  }
});

t.test('a request with a prompt and a conversation, or neither, is told so before it pays', async (t) => {
  const asked = async (body: object) => {
    const { url, init } = request(gateway, '/llm/vendor5-k3', body);
    const answer = await fetch(url, init);
    t.equal(answer.status, 402);
    return ((await answer.json()) as { invalidParams: object[] }).invalidParams;
  };
  const talk = { messages: [{ role: 'user', content: 'Hello' }] };
  t.same(await asked({}), [{ path: '/', message: 'needs exactly one of prompt, messages: none of them is given' }]);
  t.same(await asked({ ...question, ...talk }), [
    { path: '/', message: 'needs exactly one of prompt, messages: several are given' },
  ]);
  t.match(await asked({ ...talk, temperature: 2.1, max_tokens: 1e6 }), [
    { path: '/max_tokens' },
    { path: '/temperature' },
  ]);
});

t.test('a picture for a model without eyes is refused and not charged', async (t) => {
  const earned = await gateway.earned('chain-c');
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: 'https://example.com/fog.png' } },
  ];
  const body = { model: 'vendor6-5.1', messages: [{ role: 'user', content }] };
  const answer = await payV2(gateway, 'chain-c', request(gateway, '/llm/multi-model', body));
  t.equal(answer.status, 400);
  t.match(await answer.json(), { error: { code: 'invalid_request', message: /messages\/0\/content\/1\/type/ } });
  t.equal(await gateway.earned('chain-c'), earned);
});

t.test('a conversation that the provider does not take is refused with its reason, and not charged', async (t) => {
  const earned = await gateway.earned('chain-c');
  const messages = [
    { role: 'user', content: 'Write a poem' },
    { role: 'assistant', content: 'Roses are' },
  ];
  const answer = await payV2(gateway, 'chain-c', request(gateway, '/llm/vendor1-opus-5', { messages }));
  t.equal(answer.status, 400);
  const text = await answer.text();
  t.match(JSON.parse(text), { error: { code: 'invalid_request', message: /must end with a user message/ } });
  t.notMatch(text, /anthropic|openrouter|user_2/i);
  t.equal(await gateway.earned('chain-c'), earned);
});

t.test('a verified text comes with a proof that holds, at the price of its model', async (t) => {
  for (const [model, price] of [
    ['vendor3-oss-20b', 1_400n],
    ['vendor2-4-31b', 5_000n],
    ['vendor8-v4-pro', 10_000n],
  ] as const) {
    const earned = await gateway.earned('chain-c');
    const answer = await payV2(gateway, 'chain-c', request(gateway, '/llm/verified', { model, ...question }));
    t.match(await answer.json(), {
      model,
      verified: true,
      proof: { attested: true, tee_key: /^[0-9a-f]{64}$/, explorer_url: null, verify_url: /aci\/receipts\/rcpt-/ },
      metadata: {
        checks: { quote_signature: 'ok', certificate_chain: 'ok', measurement: 'unchecked', collateral: 'unchecked' },
        attestation: { protocol: 'aci/1', tee: 'tdx', quote_verified: true, root: /Sandbox/ },
        sandbox: true,
      },
    });
    t.equal((await gateway.earned('chain-c')) - earned, price);
  }
});

t.test('a forged proof is a failed call that is not charged', async (t) => {
  await gateway.fault({ upstream: 'tee', fault: 'forge' });
  const earned = await gateway.earned('chain-c');
  const call = request(gateway, '/llm/verified', { model: 'vendor3-oss-20b', prompt: 'Forge this' });
  const answer = await payV2(gateway, 'chain-c', call);
  t.equal(answer.status, 500);
  t.match(await answer.json(), { error: { code: 'upstream_invalid_result' } });
  t.equal(await gateway.earned('chain-c'), earned);
  await t.rejects(gateway.fault({ upstream: 'chat', fault: 'forge' }), /forge is not a fault/);
});
