/** Nobody but the operator sees the console, whichever page or name asks for it. */
import { request as send } from 'node:http';
import type { Request, Response } from 'express';
import t from 'tap';
import { ownNameOnly } from '../../src/console/door.ts';
import { openSessions } from '../../src/console/session.ts';
import { readConfig } from '../../src/gateway/config.ts';
import type { Log } from '../../src/log.ts';
import { startConsole, TOKEN } from './client.ts';

const lines: string[] = [];
const write = (details: object, message: string) => void lines.push(JSON.stringify([details, message]));
const log: Log = { debug: write, info: write, warn: write, error: write };
/** While it is set, no time passes for the console. */
let stoppedAt: number | undefined;
const { now } = Date;
t.intercept(Date, 'now', { value: () => stoppedAt ?? now() });
const { gateway, admin } = await startConsole({ log });
t.teardown(gateway.stop);

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** `fetch` would not send another host, nor where the request comes from. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET', body = ''): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const request = send(`${admin}${path}`, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const API = '/console/api';
const bearer = { authorization: `Bearer ${TOKEN}` };
const signIn = (token: string, headers: Record<string, string> = {}) =>
  ask(`${API}/session`, { ...JSON_TYPE, ...headers }, 'POST', JSON.stringify({ token }));
const cookieOf = ({ headers }: Answered): string => String(headers['set-cookie']);

t.test('the port’s own address leads to the console', async (t) => {
  t.match(await ask('/'), { status: 308, headers: { location: '/console' } });
});

t.test('a name of the machine that has capitals is its own, as browsers send it', (t) => {
  const { admin } = readConfig({ TURNPIKE_ADMIN_PORT: '4021', TURNPIKE_ADMIN_HOST: 'Ops.example' });
  const open = (host: string) =>
    ownNameOnly(admin?.host ?? '')({ headers: { host } } as Request, {} as Response, () => {});
  t.doesNotThrow(() => open('ops.example:4021'));
  t.throws(() => open('others.example:4021'), /open the console by/);
  t.end();
});

t.test('the token opens a session that only this page’s requests carry', async (t) => {
  t.equal((await ask(`${API}/overview`)).status, 401);
  const signedIn = await signIn(TOKEN);
  t.equal(signedIn.status, 200);
  t.match(cookieOf(signedIn), /; HttpOnly; SameSite=Strict; Path=\/console; Max-Age=43200$/);
  t.match(cookieOf(await signIn(TOKEN, { 'x-forwarded-proto': 'https' })), /; Secure$/);
  const behindTls = { origin: 'https://ops.example', 'sec-fetch-site': 'same-origin' };
  t.match(cookieOf(await signIn(TOKEN, behindTls)), /; Secure$/, 'also behind a proxy that does not tell of it');
  t.notMatch(cookieOf(signedIn), TOKEN);
  const [cookie = ''] = cookieOf(signedIn).split(';');
  t.equal((await ask(`${API}/overview`, { cookie })).status, 200);
  t.equal((await ask(`${API}/overview`, { cookie: `other=1; ${cookie}` })).status, 200);
  t.equal((await ask(`${API}/overview`, { cookie: `${cookie}x` })).status, 401);
  t.equal((await ask(`${API}/overview`, { cookie: cookie.replace(/=1/, '=2') })).status, 401, 'it ends when it says');
  t.match(cookieOf(await ask(`${API}/session`, { ...JSON_TYPE, cookie }, 'DELETE')), /=; .*Max-Age=0/);
  t.equal((await ask(`${API}/overview`, bearer)).status, 200, 'and scripts may show the token itself');
});

t.test('a session lasts over a restart with the same token, until it ends, and no longer than its token', (t) => {
  let now = 1_000_000;
  const open = (token: string) => openSessions(token, () => now);
  const { proof, lastsMs } = open(TOKEN).open();
  t.ok(open(TOKEN).isOpen(proof));
  t.notOk(open(`${TOKEN}2`).isOpen(proof));
  now += lastsMs - 1;
  t.ok(open(TOKEN).isOpen(proof));
  now += 1;
  t.notOk(open(TOKEN).isOpen(proof));
  const tries = open(TOKEN);
  for (let each = 0; each < 10; each += 1) t.throws(() => tries.checkToken('wrong'), { message: /not the token/ });
  t.throws(() => tries.checkToken(TOKEN), { message: /too many wrong tokens/ });
  now += 60_000;
  tries.checkToken(TOKEN);
  for (const made of ['', '.', `${now + 9}.`, `${now + 9}.x`, 'Infinity.', '9e9.x']) t.notOk(open(TOKEN).isOpen(made));
  t.end();
});

t.test('who has the token is let in a minute after too many wrong ones, also where the clock was set back', (t) => {
  let now = 10_000_000;
  const tries = openSessions(TOKEN, () => now);
  for (let each = 0; each < 10; each += 1) t.throws(() => tries.checkToken('wrong'), { message: /not the token/ });
  now -= 7_200_000;
  tries.checkToken(TOKEN);
  t.end();
});

t.test('another page may ask for nothing, and change nothing', async (t) => {
  const { host } = new URL(admin);
  const elsewhere: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'http://127.0.0.1:1' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of elsewhere) {
    t.equal((await ask(`${API}/keys`, { ...bearer, ...headers })).status, 403);
    const made = await ask(`${API}/keys`, { ...bearer, ...JSON_TYPE, ...headers }, 'POST', '{"label":"theirs"}');
    t.equal(made.status, 403);
    t.equal((await signIn(TOKEN, headers)).status, 403);
  }
  const own = { ...bearer, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
  t.equal((await ask(`${API}/keys`, own)).status, 200);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
    const made = await ask(`${API}/keys`, { ...own, 'content-type': type }, 'POST', '{"label":"theirs"}');
    t.equal(made.status, 415, type);
  }
  t.notMatch((await ask(`${API}/keys`, bearer)).text, 'theirs');
});

t.test('the page works under any name of a proxy that asks by an address, as nginx does by itself', async (t) => {
  const behind = { origin: 'https://console.example', 'sec-fetch-site': 'same-origin' };
  t.equal((await signIn(TOKEN, behind)).status, 200);
  t.equal((await ask(`${API}/keys`, { ...bearer, ...behind })).status, 200);
});

t.test('a stranger’s name that leads here opens nothing', async (t) => {
  const port = new URL(admin).port;
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'x y',
  ]) {
    for (const path of ['/console', `${API}/overview`])
      t.equal((await ask(path, { ...bearer, host })).status, 403, host);
  }
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `10.1.2.3:${port}`]) {
    t.equal((await ask(`${API}/overview`, { ...bearer, host })).status, 200, host);
  }
});

t.test(
  'metrics are scraped by every name that no stranger can have lead here, and by others with the token',
  async (t) => {
    for (const host of [
      '127.0.0.1:1',
      '[::1]',
      '10.1.2.3:9464',
      'localhost',
      'gateway:9464',
      'gateway.internal',
      'a.b.local',
    ]) {
      t.match(await ask('/metrics', { host }), { status: 200, text: /^# HELP / }, host);
    }
    for (const host of ['evil.example', 'evil.example:9464', 'gateway.internal.evil.example', 'evil.example.', 'x y']) {
      const refused = await ask('/metrics', { host });
      t.equal(refused.status, 403, host);
      t.match(JSON.parse(refused.text).error, /by its IP address.* or with TURNPIKE_ADMIN_TOKEN as its bearer token/);
      t.equal((await ask('/metrics', { host, ...bearer })).status, 200, host);
      t.equal((await ask('/metrics', { host, authorization: `Bearer ${TOKEN}x` })).status, 401, host);
      t.equal((await ask('/readyz', { host })).status, 200, 'probes tell nothing that the public port does not');
    }
  },
);

t.test('everything below the console is said to run nothing of others, and to be kept by nobody', async (t) => {
  for (const path of ['/console', '/console/console.js', `${API}/overview`, `${API}/nothing`]) {
    const { headers } = await ask(path, bearer);
    t.equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    );
    t.match(headers, {
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    t.notOk(headers['access-control-allow-origin']);
  }
  for (const path of ['/console/../package.json', '/console/index.ts', '/console/%2e%2e/endpoints']) {
    t.equal((await ask(path)).status, 404, path);
  }
  t.equal((await fetch(`${gateway.url}/console`)).status, 404, 'and the public port has none of it');
});

t.test('what cannot be read is refused in words, and faults tell no more than that', async (t) => {
  const made = (body: string) => ask(`${API}/keys`, { ...bearer, ...JSON_TYPE }, 'POST', body);
  for (const body of ['{', '[]', '1', '', `{"label":"${'x'.repeat(20_000)}"}`]) t.equal((await made(body)).status, 400);
  t.match(JSON.parse((await made('{"label":"a","colour":"red"}')).text), {
    field: 'colour',
    error: 'colour is not known here: there are label, credits, dailyLimit',
  });
  t.equal((await ask(`${API}/payments/%E0%A4%A`, bearer)).status, 400);
  for (const query of ['from=now', 'from=2&to=1', 'from=1&from=2', 'from=0']) {
    const { status, text } = await ask(`${API}/overview?${query}`, bearer);
    t.match([status, JSON.parse(text)], [400, { field: /from|to/ }], query);
  }
});

t.test('wrong tokens are refused, and after a few of them all for a minute', async (t) => {
  stoppedAt = Date.now();
  t.teardown(() => {
    stoppedAt = undefined;
  });
  const statuses: number[] = [];
  for (let tries = 0; tries < 12; tries += 1) statuses.push((await signIn(`${TOKEN}${tries}`)).status);
  t.same(statuses, [...Array(10).fill(401), 429, 429]);
  t.equal((await signIn(TOKEN)).status, 429);
  t.equal((await ask(`${API}/overview`, bearer)).status, 429);
});

t.test('no token is in the log', (t) => {
  t.notMatch(lines.join('\n'), TOKEN);
  t.end();
});

t.test('a token that could be guessed is refused at the start', (t) => {
  const config = (token: string) => readConfig({ TURNPIKE_ADMIN_PORT: '9464', TURNPIKE_ADMIN_TOKEN: token });
  t.equal(config(TOKEN).admin?.token, TOKEN);
  for (const token of ['short', 'with a space in it', 'x'.repeat(600)]) {
    t.throws(() => config(token), { message: /TURNPIKE_ADMIN_TOKEN must have 16 characters or more/ });
  }
  t.end();
});
