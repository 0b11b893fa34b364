import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { NO_JOB } from '../../../../src/upstream/bought.ts';
import { openUpstreamHttp } from '../../../../src/upstream/http/client.ts';
import { film, imagine } from '../../../../src/upstream/providers/xai/client.ts';
import { problemOf } from '../contract.ts';

type Answer = { status?: number; json?: unknown };

/** A provider that gives these answers one after the other, the last one again and again. */
async function open(t: Test, answers: readonly Answer[]) {
  const asked: { path: string; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { status = 200, json } = answers[Math.min(asked.length, answers.length - 1)] ?? {};
    asked.push({ path: `${request.method} ${request.url}`, body });
    response.writeHead(status).end(json === undefined ? '' : JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const http = openUpstreamHttp({
    upstream: { name: 'x', adapter: 'xai-media', baseUrl },
    adapter: {},
    baseUrl,
    secrets: {},
  });
  t.teardown(async () => {
    await http.close();
    server.close();
  });
  return { asked, binding: { upstream: 'x', http, model: { name: 'm', id: 'the-model' } } };
}

const context = { signal: new AbortController().signal };
const started = { json: { request_id: 'r/1' } };
const done = { json: { status: 'done', video: { url: 'https://files.example/v.mp4', duration: 10 } } };

t.test('polls a video through empty and pending answers until it is done', async (t) => {
  const { binding, asked } = await open(t, [
    started,
    { status: 202 },
    { json: { status: 'pending', progress: 50 } },
    done,
  ]);
  const input = { prompt: 'fog', image: 'https://a.example/1.png', reference_images: ['https://a.example/2.png'] };
  t.match(await film(binding, input, context, NO_JOB), {
    content: { url: 'https://files.example/v.mp4' },
    requestId: 'r/1',
  });
  t.same(asked.map(({ path }) => path).slice(0, 2), ['POST /videos/generations', 'GET /videos/r%2F1']);
  t.same(JSON.parse(asked[0]?.body ?? ''), {
    model: 'the-model',
    prompt: 'fog',
    image: { url: 'https://a.example/1.png' },
    reference_images: [{ url: 'https://a.example/2.png' }],
  });
});

t.test('asks again after a request that the provider had not the time to read', async (t) => {
  const { binding, asked } = await open(t, [started, { status: 408 }, done]);
  t.match(await film(binding, { prompt: 'fog' }, context, NO_JOB), { content: { url: 'https://files.example/v.mp4' } });
  t.equal(asked.filter(({ path }) => path.startsWith('POST')).length, 1);
});

for (const [end, failure] of [
  [{ status: 'failed', error: { code: 'internal', message: 'lost' } }, 'failed'],
  [{ status: 'failed', error: { code: 'content_policy', message: 'no' } }, 'content-refused'],
  [{ status: 'done', video: { url: '', respect_moderation: false } }, 'content-refused'],
  [{ status: 'expired' }, 'failed'],
  [{ status: 'done', video: {} }, 'malformed'],
] as const) {
  t.test(`a video that ends as ${JSON.stringify(end)} is ${failure}`, async (t) => {
    const { binding } = await open(t, [started, { json: end }]);
    t.equal((await problemOf(film(binding, { prompt: 'fog' }, context, NO_JOB))).failure, failure);
  });
}

t.test('tells what a video cost that did not pass moderation: it was made, and is billed', async (t) => {
  const usage = { cost_in_usd_ticks: 5_000_000_000 };
  const refused = { json: { status: 'done', video: { url: '', duration: 10, respect_moderation: false }, usage } };
  const { binding } = await open(t, [started, { json: { status: 'pending', progress: 50 } }, refused]);
  const costs: string[] = [];
  const told = { ...context, reportCost: (dollars: string) => costs.push(dollars) };
  t.equal((await problemOf(film(binding, { prompt: 'fog' }, told, NO_JOB))).failure, 'content-refused');
  t.same(costs, ['0.500000000000']);
});

t.test('gives a video up at the deadline', async (t) => {
  const { binding } = await open(t, [started, { status: 202 }]);
  const signal = AbortSignal.timeout(400);
  t.equal((await problemOf(film(binding, { prompt: 'fog' }, { signal }, NO_JOB))).failure, 'timeout');
});

t.test('takes an image as bytes or as an address', async (t) => {
  const { binding, asked } = await open(t, [
    { json: { data: [{ b64_json: Buffer.from('bytes').toString('base64') }] } },
    { json: { data: [{ url: 'https://files.example/i.jpg' }] } },
    { json: { data: [] } },
  ]);
  t.same((await imagine(binding, { prompt: 'fog' }, context)).content, {
    base64: Buffer.from('bytes').toString('base64'),
  });
  const edit = imagine(
    binding,
    { prompt: 'fog', images: ['https://a.example/1.png', 'https://a.example/2.png'] },
    context,
  );
  t.same((await edit).content, { url: 'https://files.example/i.jpg' });
  t.match(asked[1], {
    path: 'POST /images/edits',
    body: /"images":\[\{"url":"https:\/\/a.example\/1.png","type":"image_url"\}/,
  });
  t.equal((await problemOf(imagine(binding, { prompt: 'fog' }, context))).failure, 'malformed');
});

for (const [answer, failure] of [
  [
    { status: 403, json: { code: 'permission-denied', error: 'Content violates usage guidelines.' } },
    'content-refused',
  ],
  [{ json: { data: [{ url: '', respect_moderation: false }] } }, 'content-refused'],
] as const) {
  t.test(`an image that ends as ${JSON.stringify(answer.json)} is ${failure}`, async (t) => {
    const { binding } = await open(t, [answer]);
    t.equal((await problemOf(imagine(binding, { prompt: 'fog' }, context))).failure, failure);
  });
}

t.test('an image that cannot be read is the caller’s to change, whatever words its address has', async (t) => {
  for (const address of ['https://a.example/credits/api-key.png', 'http://a.example/model_not_found']) {
    const error = `Failed to fetch image from ${address}: Incorrect image. See https://docs.x.ai/images`;
    const { binding } = await open(t, [{ status: 400, json: { code: 'invalid-argument', error } }]);
    const problem = await problemOf(imagine(binding, { prompt: 'fog', image: address }, context));
    t.equal(problem.failure, 'invalid-input', address);
    t.match(problem.providerMessage, address, 'which the operator reads');
  }
});
