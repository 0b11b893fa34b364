/** The router in somebody else's application, and the short way past Express: the same bytes come of both. */
import { request as httpRequest } from 'node:http';
import express from 'express';
import t from 'tap';
import { request, sendProof, signProof } from '../clients.ts';
import { startGateway } from '../gateway.ts';

const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(gateway.stop);

const somebodyElses = express();
somebodyElses.disable('x-powered-by');
somebodyElses.get('/their/own', (_request, response) => {
  response.json({ theirs: true });
});
const { mounted, own } = await gateway.mountedIn(somebodyElses);
somebodyElses.use((_request, response) => {
  response.status(404).send('not found, they say');
});

interface Question {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
}

interface Answered {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

/** Over Node's own client: nothing is added or tidied up on the way. */
function ask(origin: string, { method = 'GET', path, headers = {}, body }: Question): Promise<Answered> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ hostname, port, method, path, headers, agent: false }, async (answer) => {
      const chunks = await answer.toArray();
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks).toString() });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

const IDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const MADE_AFRESH = /\b(id|opaque|expires|challengeId)"?[=:]\s?"[^"]*"/g;

const withoutIds = (text: string): string => text.replace(IDS, 'id').replace(MADE_AFRESH, '$1');

/** What differs from one request to the next whatever answers it: identities, and the time. */
function comparable({ status, headers, body }: Answered): object {
  const { date, 'request-id': _, 'x-request-id': __, 'payment-required': challenge, ...rest } = headers;
  const decoded = typeof challenge === 'string' ? Buffer.from(challenge, 'base64').toString().trim() : '';
  return {
    status,
    headers: JSON.parse(
      withoutIds(JSON.stringify(rest).replaceAll('\\"', "'")).replace(/(id|opaque|expires)='[^']*'/g, '$1'),
    ),
    challenge: withoutIds(decoded),
    body: withoutIds(body),
  };
}

const json = { 'content-type': 'application/json' };
const prompt = '{"prompt":"a lighthouse in fog"}';
const image = '/image/family-a-2-pro';

const requests: Readonly<Record<string, Question>> = {
  'an unpaid call': { method: 'POST', path: image, headers: json, body: prompt },
  'an unpaid call without a body': { method: 'POST', path: image },
  'an unpaid call that is not valid': { method: 'POST', path: image, headers: json, body: '{"promt":1}' },
  'an unpaid call of another type': {
    method: 'POST',
    path: image,
    headers: { 'content-type': 'text/plain' },
    body: 'hi',
  },
  'an unpaid call by GET': { path: '/stock/arb?sort=premium' },
  'an unpaid call over the other rail': { method: 'POST', path: '/mpp/image/family-e-2', headers: json, body: prompt },
  'an unpaid call of a mirror': { method: 'POST', path: `/chain-e${image}`, headers: json, body: prompt },
  'a payment that cannot be read': {
    method: 'POST',
    path: image,
    headers: { ...json, 'x-payment': 'not base64' },
    body: prompt,
  },
  'several credentials': {
    method: 'POST',
    path: '/mpp/image/family-e-2',
    headers: { ...json, authorization: ['Payment a', 'Payment b'] },
    body: prompt,
  },
  'a body that is too large': { method: 'POST', path: image, headers: json, body: Buffer.alloc(1_100_000, 32) },
  'another method': { method: 'GET', path: image },
  'yet another method': { method: 'DELETE', path: image },
  'a method of the documented kind at a path that is sold': { method: 'GET', path: '/v1/credits' },
  'HEAD of what is sold by GET': { method: 'HEAD', path: '/stock/arb' },
  'OPTIONS of what is sold': { method: 'OPTIONS', path: image },
  'a browser at what is sold by GET': { path: '/token/launchpad-movers', headers: { accept: 'text/html,*/*;q=0.8' } },
  'a browser at what is sold by POST': { path: image, headers: { accept: 'text/html,*/*;q=0.8' } },
  'the page of an endpoint': { path: `/endpoints${image}`, headers: { accept: 'text/html' } },
  'a page of nothing': { path: '/endpoints/image/none' },
  'what pages load': { path: '/storefront/main.css' },
  'the list, by its other name': { path: '/endpoints' },
  'a document': { path: '/x402-resources' },
  'HEAD of a document': { method: 'HEAD', path: '/openapi.json' },
  health: { path: '/healthz' },
  'a file that is not there': { path: '/media/none.png' },
  models: { path: '/v1/models/no-such-model' },
  'purchases with a proof that is none': { path: '/v1/purchases', headers: { 'sign-in-with-x': 'not base64' } },
  'purchases by another method': { method: 'POST', path: '/v1/purchases', headers: json, body: '{}' },
  'a chat call without a key': { method: 'POST', path: '/v1/chat/completions', headers: json, body: '{}' },
};

for (const [name, sent] of Object.entries(requests)) {
  t.test(`${name}: the same from the short way and from the router`, async (t) => {
    const [short, routed] = await Promise.all([ask(own, sent), ask(mounted, sent)]);
    t.same(comparable(routed), comparable(short));
    t.not(short.status, 500);
  });
}

t.test('a path that only looks sold is nobody’s business: 404, or whatever the other application says', async (t) => {
  const sent = { method: 'POST', path: `${image}/`, headers: json, body: prompt };
  t.match(await ask(own, sent), { status: 404, body: /unknown_path/ });
  t.match(await ask(mounted, sent), { status: 404, body: 'not found, they say' });
});

t.test('a balance is asked for where credits are sold: the method decides', async (t) => {
  t.equal((await ask(gateway.url, { path: '/v1/credits' })).status, 401, 'a balance needs a key');
  const sold = await ask(gateway.url, {
    method: 'POST',
    path: '/v1/credits',
    headers: json,
    body: '{"amount_usd":"5"}',
  });
  t.equal(sold.status, 402, 'credits need a payment');
});

t.test('a paid call is the same in somebody else’s application, and their own routes stay theirs', async (t) => {
  const call = { ...request(gateway, image, { prompt: 'a lighthouse in fog' }), url: mounted + image };
  const before = await gateway.earned('chain-c');
  const answer = await sendProof(call, await signProof(gateway, 'chain-c', call));
  t.equal(answer.status, 200);
  t.ok(answer.headers.get('payment-response'));
  t.equal((await gateway.earned('chain-c')) - before, 50_000n);
  t.same(JSON.parse((await ask(mounted, { path: '/their/own' })).body), { theirs: true });
  const theirs = await ask(mounted, { path: '/their/other' });
  t.match(theirs, { status: 404, body: 'not found, they say' });
  t.notOk(theirs.headers['access-control-allow-origin'], 'nothing of ours is on their answers');
  t.match(await ask(mounted, { path: '/', headers: { accept: 'text/html' } }), {
    status: 404,
    body: 'not found, they say',
  });
});

t.test('who sends something to what is read is told how it is read', async (t) => {
  for (const path of [
    '/x402-resources',
    '/openapi.json',
    '/.well-known/x402',
    '/llms.txt',
    '/healthz',
    '/media/x.png',
  ]) {
    const answer = await fetch(gateway.url + path, { method: 'POST', body: '{}' });
    t.equal(answer.status, 405, path);
    t.equal(answer.headers.get('allow'), 'GET', path);
    t.match(await answer.json(), { error: { code: 'method_not_allowed', message: 'This path takes GET' } }, path);
  }
});
