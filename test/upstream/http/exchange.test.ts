/** What one exchange with an upstream tells others: the circuit breaker, those that wait for a turn, the meters and the log. */
import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import type { UpstreamHttp } from '../../../src/upstream/http/upstream-http.ts';
import { problemOf } from '../providers/contract.ts';
import { connect, get, json, post, SECRET, serve } from './weather.ts';

/** Answers with the status that the path says; else breaks off. */
const asPathSays = (t: Test) =>
  serve(t, (request, response) => {
    const status = Number(request.url?.slice(1));
    if (status > 0) json(response, status, { status });
    else response.destroy();
  });

type Asks = (http: UpstreamHttp, request: Parameters<UpstreamHttp['request']>[0]) => Promise<unknown>;

/** The two ways to ask, each to the end of the answer. */
const ways: Readonly<Record<string, Asks>> = {
  whole: (http, request) => http.request(request),
  streamed: async (http, request) => {
    const { body } = await http.stream(request);
    body.resume();
    await once(body, 'close');
  },
};

for (const [way, ask] of Object.entries(ways)) {
  const failing = ['429', '500', '503', '599', 'broken'];
  for (const path of ['200', '302', '400', '404', '428', '430', '499', ...failing]) {
    const speaksAgainst = failing.includes(path);
    t.test(`${path}, ${way}, ${speaksAgainst ? 'speaks' : 'says nothing'} against the upstream`, async (t) => {
      const { origin } = await asPathSays(t);
      const lines: unknown[] = [];
      const http = connect(t, origin, { now: () => 0, log: { warn: (...line) => lines.push(line) } });
      for (let caller = 0; caller < 11; caller += 1) {
        t.equal(http.isShut(), speaksAgainst && caller >= 10);
        const requestId = `request-${caller}`;
        await ask(http.forCaller(`${caller}`, { requestId }), { ...post, path: `/${path}` }).catch(() => undefined);
      }
      const line = [{ requestId: 'request-9', upstream: 'weather' }, 'upstream keeps failing: not asked for a while'];
      t.same(lines, speaksAgainst ? [line] : [], 'written down once');
    });
  }

  t.test(`each gives its turn back, ${way}, however it ends`, async (t) => {
    const { origin, calls } = await asPathSays(t);
    const http = connect(t, origin, { upstream: { concurrency: 1 } });
    const paths = ['200', '404', '503', 'broken', '302'];
    for (const path of paths) await ask(http, { ...post, path: `/${path}` }).catch(() => undefined);
    await ask(http, { ...post, path: '/400', accept: [400] });
    await problemOf(http.request({ ...post, path: '/200', maxBytes: 1 }));
    await problemOf(http.stream({ ...post, path: '/400', maxBytes: 1 }));
    await ask(http, { ...post, path: '/200' });
    t.equal(calls(), paths.length + 4);
  });

  t.test(`leaves nothing behind at the signal, ${way}, that may be good for more`, async (t) => {
    const { origin } = await asPathSays(t);
    const http = connect(t, origin, { timeoutMs: 60_000 });
    const { signal } = new AbortController();
    for (const path of ['200', '404', 'broken']) {
      await ask(http, { ...post, path: `/${path}`, signal }).catch(() => undefined);
      t.same(getEventListeners(signal, 'abort'), [], path);
    }
  });

  t.test(`the meters hear of every exchange, ${way}, once it is over`, async (t) => {
    const { origin } = await asPathSays(t);
    const all: unknown[] = [];
    const own: unknown[] = [];
    const heard = (list: unknown[]) => (upstream: string, status: number | undefined, ms: number) =>
      list.push({ upstream, status, ms });
    const http = connect(t, origin, { exchanged: heard(all) });
    const start = performance.now();
    for (const path of ['200', '404', 'broken']) {
      const caller = http.forCaller('payer', { exchanged: heard(own) });
      await ask(caller, { ...post, path: `/${path}` }).catch(() => undefined);
    }
    const most = performance.now() - start;
    t.match(all, [{ status: 200 }, { status: 404 }, { status: undefined }]);
    t.equal(all.length, 3);
    t.same(own, all);
    for (const { upstream, ms } of all as { upstream: string; ms: number }[]) {
      t.equal(upstream, 'weather');
      t.ok(ms >= 0 && ms <= most, `${ms} of ${most} ms`);
    }
  });

  t.test(`is part of the caller’s trace, ${way}, where there is one`, async (t) => {
    const seen: unknown[] = [];
    const { origin } = await serve(t, (request, response) => {
      seen.push(request.headers.traceparent);
      json(response, 200, {});
    });
    const http = connect(t, origin);
    const id = '0af7651916cd43dd8448eb211c80319c';
    await ask(http.forCaller('payer', { trace: { id, isSampled: true } }), get);
    await ask(http.forCaller('payer'), get);
    t.match(seen, [new RegExp(`^00-${id}-[0-9a-f]{16}-01$`), undefined]);
  });
}

t.test('an open circuit takes no turn, and nothing is asked', async (t) => {
  let isDown = true;
  let clock = 0;
  const { origin, calls } = await serve(t, (_request, response) => json(response, isDown ? 500 : 200, {}));
  const http = connect(t, origin, { upstream: { concurrency: 1 }, now: () => clock });
  for (let call = 0; call < 10; call += 1) await problemOf(http.request(post));
  const unasked = { failure: 'unavailable', message: 'GET /: not asked, it failed too often just now' };
  t.match(await problemOf(http.request(get)), unasked);
  t.match(await problemOf(http.stream(get)), unasked);
  t.equal(calls(), 10);
  isDown = false;
  clock = 5_000;
  t.equal((await http.request(get)).status, 200);
});

t.test('time-outs of streams open the circuit as well, and what a caller gives up does not', async (t) => {
  const { origin } = await serve(t, () => undefined);
  const http = connect(t, origin, { timeoutMs: 20, now: () => 0 });
  const patient = connect(t, origin, { now: () => 0 });
  for (let caller = 0; caller < 10; caller += 1) {
    await problemOf(http.forCaller(`${caller}`).stream(get));
    await problemOf(patient.forCaller(`${caller}`).stream({ ...get, signal: AbortSignal.timeout(5) }));
  }
  t.same([http.isShut(), patient.isShut()], [true, false]);
});

t.test('says what is wrong, and where', async (t) => {
  const { origin, server } = await serve(t, (request, response) => {
    if (request.url === '/300') response.writeHead(300, { location: '/200' }).end('many');
    else if (request.url === '/200') response.end('x'.repeat(100));
  });
  const http = connect(t, origin, { path: '/v1' });
  const gone = async (reason: unknown) => {
    const leaving = new AbortController();
    const asked = problemOf(http.request({ ...post, path: '/hangs?private=words', signal: leaving.signal }));
    await once(server, 'request');
    leaving.abort(reason);
    return asked;
  };
  const abandoned = { failure: 'timeout', message: 'POST /v1/hangs: abandoned' };
  t.match(await gone(new Error('gone')), abandoned);
  t.match(await gone('gone'), abandoned);
  t.match(await gone(undefined), abandoned);
  t.match(await gone(new DOMException('late', 'TimeoutError')), {
    failure: 'timeout',
    message: 'POST /v1/hangs: no answer in time',
  });
  t.match(await problemOf(http.request({ ...get, path: `${origin}/200`, maxBytes: 99 })), {
    failure: 'malformed',
    message: 'GET answered more than 99 bytes',
  });
  t.match(await problemOf(http.request({ ...get, path: `${origin}/300` })), {
    failure: 'failed',
    status: 300,
    message: 'GET /300 answered 300',
    providerMessage: 'many',
  });
  t.match(await problemOf(connect(t, 'http://127.0.0.1:9').request(post)), {
    failure: 'failed',
    message: 'POST /: connect ECONNREFUSED 127.0.0.1:9',
  });
});

t.test('says what any error of a stream means, also one that is none of ours', async (t) => {
  const { origin } = await serve(t, (_request, response) => json(response, 200, {}));
  const { body, problemOf: meaningOf } = await connect(t, origin).stream(post);
  for (const error of [new Error('cut'), 'cut']) {
    t.match(meaningOf(error), { failure: 'failed', message: 'POST /: cut', cause: error });
  }
  body.resume();
});

t.test('passes a stream on only where its status is wanted', async (t) => {
  const { origin } = await asPathSays(t);
  const http = connect(t, origin);
  for (const path of ['/200', '/299']) t.ok(await ways.streamed?.(http, { ...post, path }).then(() => true), path);
  for (const path of ['/300', '/302', '/404'])
    t.match(await problemOf(http.stream({ ...post, path })), { status: Number(path.slice(1)) });
  const { status, body } = await http.stream({ ...post, path: '/302', accept: [302] });
  t.equal(status, 302);
  t.equal((await body.toArray()).join(''), '{"status":302}');
});

t.test('gives every header that came, those that came more often as one', async (t) => {
  const { origin } = await serve(t, (_request, response) => {
    response.writeHead(200, { 'X-Kind': ['warm', 'dry'], 'Set-Cookie': ['a=1', 'b=2'], 'X-Place': 'Oslo' }).end();
  });
  const http = connect(t, origin);
  const stream = await http.stream(get);
  stream.body.resume();
  for (const { headers } of [await http.request(get), stream]) {
    t.match(headers, { 'x-kind': 'warm, dry', 'set-cookie': 'a=1, b=2', 'x-place': 'Oslo' });
  }
});

t.test('an answer is as it came, unless it quotes a key in its own letters', async (t) => {
  const inCapitals = SECRET.toUpperCase();
  const answers: [status: number, text: string, passedOn: string][] = [
    [200, `{"a": "+ \\u00e4 ${inCapitals}"}`, `{"a": "+ \\u00e4 ${inCapitals}"}`],
    [200, `{"key": "${SECRET}", "again": "${inCapitals}"}`, '{"key": "[secret]", "again": "[secret]"}'],
    [399, inCapitals, inCapitals],
    [400, inCapitals, '[secret]'],
    [400, `${'.'.repeat(262_144)}and more`, '.'.repeat(262_144)],
  ];
  let answer: (typeof answers)[number] | undefined;
  const { origin } = await serve(t, (_request, response: ServerResponse) => {
    response.writeHead(answer?.[0] ?? 500).end(answer?.[1]);
  });
  const http = connect(t, origin);
  for (answer of answers) {
    const [status, , passedOn] = answer;
    t.equal((await http.request({ ...post, accept: [status] })).body.toString(), passedOn);
  }
});

t.test(
  'a short key is taken out of what an upstream says of a failure, and stays a word in what it answers',
  async (t) => {
    let status = 200;
    const { origin } = await serve(t, (_request, response: ServerResponse) => {
      response.writeHead(status).end('demo is no key');
    });
    const http = connect(t, origin, { secrets: { key: 'demo' } });
    const answer = async () => (await http.request({ ...post, accept: [status] })).body.toString();
    t.equal(await answer(), 'demo is no key');
    t.equal(http.redactAnswer('demo'), 'demo', 'of a stream, too');
    status = 403;
    t.equal(await answer(), '[secret] is no key');
    t.equal(http.redact('demo'), '[secret]');
  },
);
