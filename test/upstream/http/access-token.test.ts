/** How long a token is kept. */
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { TimeLimit } from '../../../src/outgoing/time-limit.ts';
import { openAccessTokens } from '../../../src/upstream/http/access-token.ts';
import { tokenRequest } from '../../../src/upstream/providers/http/authorization.ts';
import { problemOf } from '../providers/contract.ts';
import { connect, json, serve, signal } from './weather.ts';

const MINUTE = 60_000;

async function open(t: Test, answerOf: (call: number) => readonly [status: number, body: unknown]) {
  const clock = { ms: 0 };
  const asked: string[] = [];
  const seen: string[] = [];
  const { origin } = await serve(t, async (request, response, call) => {
    asked.push(await text(request));
    json(response, ...answerOf(call));
  });
  const tokens = openAccessTokens({
    upstream: 'music',
    wanted: { url: `${origin}/token`, headers: {}, fields: { grant_type: 'client_credentials', who: 'a b' } },
    secrets: { key: 'hidden-key' },
    received: (value) => seen.push(value),
    now: () => clock.ms,
  });
  const get = () => tokens.get(new TimeLimit(undefined, undefined));
  return { tokens, clock, asked, seen, get };
}

t.test('a token is used for nine tenths of the time that it is given for, and told to who hides it', async (t) => {
  const { clock, asked, seen, get } = await open(t, (call) => [
    200,
    { access_token: `t${call}`, expires_in: call === 1 ? 600 : '1200' },
  ]);
  t.same(await get(), { value: 't1', isNew: true });
  clock.ms = 9 * MINUTE - 1;
  t.same(await get(), { value: 't1', isNew: false });
  clock.ms = 9 * MINUTE;
  t.same(await get(), { value: 't2', isNew: true });
  clock.ms = 27 * MINUTE - 1;
  t.match(await get(), { value: 't2' });
  clock.ms = 27 * MINUTE;
  t.match(await get(), { value: 't3' });
  t.same(asked[0], 'grant_type=client_credentials&who=a+b');
  t.same(seen, ['t1', 't2', 't3']);
});

t.test('one of which no time is said is asked for anew within ten minutes', async (t) => {
  const { clock, get } = await open(t, (call) => [
    200,
    { access_token: `t${call}`, ...(call === 2 && { expires_in: 0 }) },
  ]);
  t.match(await get(), { value: 't1' });
  clock.ms = 9 * MINUTE;
  t.match(await get(), { value: 't2' });
  clock.ms = 18 * MINUTE - 1;
  t.match(await get(), { value: 't2' });
});

t.test('only the token that was refused is forgotten', async (t) => {
  const { tokens, get } = await open(t, (call) => [200, { access_token: `t${call}` }]);
  await get();
  tokens.forget('t0');
  t.match(await get(), { value: 't1', isNew: false });
  tokens.forget('t1');
  t.match(await get(), { value: 't2', isNew: true });
});

t.test('an answer without a token says why there is none, without the keys that it quotes', async (t) => {
  const answers: [number, unknown][] = [
    [400, { error: 'invalid_client', key: 'hidden-key' }],
    [503, { error: 'down' }],
    [200, { error: 'no' }],
    [200, 'token'],
  ];
  const { get } = await open(t, (call) => answers[call - 1] ?? [500, '']);
  const refused = await problemOf(get());
  t.match(refused, { failure: 'unavailable', message: /POST .*\/token for an access token answered 400/ });
  t.match(refused.providerMessage, /invalid_client.*\[secret\]/);
  t.match(await problemOf(get()), { failure: 'failed' });
  t.match(await problemOf(get()), { failure: 'malformed' });
  t.match(await problemOf(get()), { failure: 'malformed' });
});

t.test('who leaves while a token is asked for does not take it from the others', async (t) => {
  const { tokens, asked } = await open(t, () => [200, { access_token: 't1' }]);
  const leaving = new AbortController();
  const left = tokens.get(new TimeLimit(leaving.signal, undefined));
  const stays = tokens.get(new TimeLimit(undefined, undefined));
  leaving.abort();
  await t.rejects(left);
  t.match(await stays, { value: 't1' });
  t.equal(asked.length, 1);
});

/** A provider that hands out tokens, as often as it says. */
async function openProvider(t: Test, tokenStatus: (call: number) => number) {
  let asked = 0;
  const { origin } = await serve(t, (request, response) => {
    if (request.url !== '/token') return json(response, 200, { state: 'done' });
    asked += 1;
    json(response, tokenStatus(asked), { access_token: 'token-of-the-provider' });
  });
  return connect(t, origin, { tokenRequest: () => ({ url: '/token', headers: {}, fields: {} }) });
}

const look = { method: 'GET', path: '/jobs/7', signal, asksOfJob: true } as const;

t.test('a job is asked for again where no token was handed out for a moment: its provider bills it', async (t) => {
  const http = await openProvider(t, (call) => (call === 1 ? 503 : 200));
  t.same((await http.request(look)).json(), { state: 'done' });
});

t.test('keys that are refused are not tried again', async (t) => {
  const asked: number[] = [];
  const http = await openProvider(t, (call) => asked.push(call) && 400);
  t.match(await problemOf(http.request(look)), { failure: 'unavailable' });
  t.same(asked, [1]);
});

t.test('an upstream that hands out no tokens is not asked for a while', async (t) => {
  const http = await openProvider(t, () => 503);
  for (let caller = 0; caller < 20; caller += 1) {
    const own = http.forCaller(`caller ${caller}`);
    await problemOf(own.request({ method: 'POST', path: '/', signal }));
  }
  t.ok(http.isShut());
});

t.test('id and secret are written as in a form before they are put together, and stand as they are in one', (t) => {
  const secrets = { id: 'shop one', secret: 'a:b+c/%' };
  const basic = tokenRequest(secrets, { authorize: { oauth: '/token', client: '{id}:{secret}' } });
  t.same(basic, {
    url: '/token',
    headers: { authorization: `Basic ${Buffer.from('shop+one:a%3Ab%2Bc%2F%25').toString('base64')}` },
    fields: { grant_type: 'client_credentials' },
  });
  const fields = { grant_type: 'refresh_token', client_id: '{id}', refresh_token: '{secret}' };
  t.same(tokenRequest(secrets, { authorize: [{ bearer: 'id' }, { oauth: '/token', fields }] }), {
    url: '/token',
    headers: {},
    fields: { grant_type: 'refresh_token', client_id: 'shop one', refresh_token: 'a:b+c/%' },
  });
  t.equal(tokenRequest(secrets, { authorize: { bearer: 'id' } }), undefined);
  t.end();
});

t.test('a place of tokens that is not there, or answers without end, hands out none', async (t) => {
  const { get } = await open(t, (call) => [call === 1 ? 500 : 200, call === 1 ? {} : { more: 'm'.repeat(300_000) }]);
  t.match(await problemOf(get()), { failure: 'failed', message: /answered 500/ });
  t.match(await problemOf(get()), { failure: 'malformed', message: /more than 262144 bytes/ });
  const gone = openAccessTokens({
    upstream: 'music',
    wanted: { url: 'http://127.0.0.1:1/token', headers: {}, fields: {} },
    secrets: {},
    received: () => undefined,
  });
  const problem = await problemOf(gone.get(new TimeLimit(undefined, undefined)));
  t.match(problem, { failure: 'failed', message: /had no answer: / });
  const ended = new AbortController();
  ended.abort();
  await t.rejects(gone.get(new TimeLimit(ended.signal, undefined)), /given up/);
});
