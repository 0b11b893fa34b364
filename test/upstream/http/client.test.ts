import type { ServerResponse } from 'node:http';
import { mock } from 'node:test';
import t from 'tap';
import { problemOf } from '../providers/contract.ts';
import { connect, get, json, post, SECRET, serve, signal } from './weather.ts';

t.test('sends JSON below the base path, with the query and the key, and gives the exact bytes back', async (t) => {
  let seen: unknown;
  const { origin } = await serve(t, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { 'content-type': type, 'user-agent': agent, 'x-key': key, 'x-unit': unit } = request.headers;
    seen = { url: request.url, body: Buffer.concat(chunks).toString(), type, agent, key, unit };
    json(response, 200, { warm: true });
  });
  const http = connect(t, origin, {
    path: '/v1/',
    authorize: (_request, { key }) => ({ headers: { 'x-key': `${key}` } }),
  });
  const query = { city: 'São Paulo', empty: '', nothing: undefined, days: 3 };
  const headers = { 'x-unit': 'C' };
  const response = await http.request({ method: 'POST', path: '/now', query, headers, json: { unit: '°C' }, signal });
  t.same(seen, {
    url: '/v1/now?city=S%C3%A3o+Paulo&days=3',
    body: '{"unit":"°C"}',
    type: 'application/json',
    agent: 'turnpike',
    key: SECRET,
    unit: 'C',
  });
  t.equal(response.sent, '{"unit":"°C"}');
  t.equal(response.body.toString(), '{"warm":true}');
  t.same(response.json(), { warm: true });

  t.equal((await http.request({ ...get, path: '/now' })).sent, '');
  t.same(seen, { url: '/v1/now', body: '', type: undefined, agent: 'turnpike', key: SECRET, unit: undefined });
});

t.test('asks the adapter who calls for every attempt, and tells it all that it may sign', async (t) => {
  const { origin } = await serve(t, (request, response, call) =>
    json(response, call === 1 ? 503 : 200, { url: request.url, key: request.headers['x-key'] }),
  );
  const asked: unknown[] = [];
  const http = connect(t, origin, {
    path: '/v1',
    upstream: { settings: { region: 'north' } },
    authorize(...told) {
      asked.push(told);
      return { headers: { 'x-key': `${asked.length}` }, query: { signed: `${asked.length}` } };
    },
  });
  const response = await http.request({ ...post, path: '/now', query: { days: 3 }, json: [1], idempotent: true });
  const signable = {
    ...{ method: 'POST', host: new URL(origin).host, path: '/v1/now?days=3', body: '[1]', bytes: '[1]' },
    headers: { 'user-agent': 'turnpike', 'content-type': 'application/json' },
  };
  const told = [signable, { key: SECRET }, { region: 'north' }];
  t.same(asked, [told, told]);
  t.same(response.json(), { url: '/v1/now?days=3&signed=2', key: '2' });
});

t.test('tells an adapter of an upstream without settings that there are none', async (t) => {
  const { origin } = await serve(t, (_request, response) => json(response, 200, {}));
  const asked: unknown[] = [];
  const authorize: Parameters<typeof connect>[2] = {
    authorize(_request, _secrets, settings) {
      asked.push(settings);
      return {};
    },
  };
  await connect(t, origin, authorize).request(get);
  t.same(asked, [{}]);
});

t.test('sends forms in order, files included', async (t) => {
  const { origin } = await serve(t, async (request, response) => {
    const form = await new Response(request as unknown as ReadableStream, {
      headers: { 'content-type': String(request.headers['content-type']) },
    }).formData();
    const file = form.get('file') as File;
    json(response, 200, {
      names: [...form.keys()],
      text: form.get('language'),
      file: file.name,
      bytes: await file.text(),
    });
  });
  const file = { bytes: Buffer.from('RIFF…'), fileName: 'a "b".wav', type: 'audio/wav' };
  const parts = [
    { name: 'language', value: 'en' },
    { name: 'file', value: file },
  ];
  const response = await connect(t, origin).request({ method: 'POST', path: '/', parts, signal });
  t.same(response.json(), { names: ['language', 'file'], text: 'en', file: 'a "b".wav', bytes: 'RIFF…' });
});

for (const status of [408, 429, 502, 503, 504]) {
  t.test(`tries a GET again after ${status}`, async (t) => {
    const { origin, calls } = await serve(t, (_request, response, call) =>
      json(response, call === 1 ? status : 200, {}),
    );
    t.equal((await connect(t, origin).request(get)).status, 200);
    t.equal(calls(), 2);
  });
}

t.test('does not ask again for what was refused for good', async (t) => {
  const { origin, calls } = await serve(t, (request, response) =>
    request.url === '/long' ? response.end('x'.repeat(5000)) : json(response, 400, {}),
  );
  const http = connect(t, origin);
  t.match(await problemOf(http.request(get)), { status: 400 });
  t.match(await problemOf(http.request({ ...get, path: '/long', maxBytes: 4999 })), { failure: 'malformed' });
  t.equal(calls(), 2);
  t.equal((await http.request({ ...get, path: '/long', maxBytes: 5000 })).body.length, 5000);
});

t.test('stops pausing at the signal, with what went wrong before', async (t) => {
  const { origin, calls } = await serve(t, (_request, response) =>
    response.writeHead(503, { 'retry-after': '3' }).end(),
  );
  const leaving = new AbortController();
  const http = connect(t, origin, { exchanged: () => void setImmediate(() => leaving.abort()) });
  t.match(await problemOf(http.request({ ...get, signal: leaving.signal })), { failure: 'failed', status: 503 });
  t.equal(calls(), 1);
});

t.test('writes down that it tries again, for which request', async (t) => {
  const { origin } = await serve(t, (_request, response, call) => json(response, call === 1 ? 502 : 200, {}));
  const lines: unknown[] = [];
  const http = connect(t, origin, { log: { warn: (...line) => lines.push(line) } });
  await http.forCaller('payer', { requestId: 'request-1' }).request(get);
  t.match(lines, [
    [{ requestId: 'request-1', upstream: 'weather', problem: 'GET / answered 502', delay: Number }, 'retrying'],
  ]);
  t.equal(lines.length, 1);
});

t.test('tries a GET again when the connection breaks', async (t) => {
  const { origin } = await serve(t, (request, response, call) =>
    call === 1 ? request.destroy() : json(response, 200, {}),
  );
  t.equal((await connect(t, origin).request(get)).status, 200);
});

t.test('sends a POST once, unless it is known to be harmless', async (t) => {
  const { origin, calls } = await serve(t, (_request, response) => json(response, 503, {}));
  const http = connect(t, origin);
  await problemOf(http.request({ ...get, method: 'POST' }));
  t.equal(calls(), 1);
  await problemOf(http.request({ ...get, method: 'POST', idempotent: true }));
  t.equal(calls(), 4);
});

t.test('does not wait for an upstream that asks for a long pause', async (t) => {
  const { origin, calls } = await serve(t, (_request, response) =>
    response.writeHead(429, { 'retry-after': '3600' }).end(),
  );
  t.equal((await problemOf(connect(t, origin).request(get))).status, 429);
  t.equal(calls(), 1);
});

t.test('asks how a job stands as late and as often as its provider says: it bills it', async (t) => {
  const { origin, calls } = await serve(t, (_request, response, call) =>
    call === 4 ? json(response, 200, {}) : response.writeHead(429, { 'retry-after': call < 4 ? '0' : '3600' }).end(),
  );
  const leaving = new AbortController();
  const warn = (line: unknown) => {
    if ((line as { delay: number }).delay === 3_600_000) leaving.abort();
  };
  const http = connect(t, origin, { log: { warn } }).forCaller('payer');
  const ask = () => http.request({ ...get, asksOfJob: true, signal: leaving.signal });
  t.equal((await ask()).status, 200);
  t.equal(calls(), 4);
  t.match(await problemOf(ask()), { status: 429 });
  t.ok(leaving.signal.aborted, 'it would have waited for an hour');
});

for (const [status, failure] of [
  [400, 'failed'],
  [401, 'unavailable'],
  [402, 'unavailable'],
  [403, 'unavailable'],
  [404, 'failed'],
  [422, 'failed'],
  [500, 'failed'],
] as const) {
  t.test(`calls a ${status} ${failure}, unless the adapter reads it itself`, async (t) => {
    const { origin } = await serve(t, (_request, response) => json(response, status, { reason: 'rain' }));
    const http = connect(t, origin);
    t.match(await problemOf(http.request(get)), {
      failure,
      status,
      message: `GET / answered ${status}`,
      providerMessage: /rain/,
    });
    t.equal((await http.request({ ...get, accept: [status] })).status, status);
  });
}

t.test('keeps keys out of problems: in the query, and where the provider repeats them', async (t) => {
  const { origin } = await serve(t, (request, response) =>
    json(response, 400, { error: `no such key ${SECRET}`, at: request.url }),
  );
  const http = connect(t, origin, { authorize: (_request, { key }) => ({ query: { api_key: `${key}` } }) });
  const problem = await problemOf(http.request({ ...get, path: '/search', query: { q: 'private words' } }));
  t.equal(problem.message, 'GET /search answered 400');
  t.match(problem.providerMessage, 'no such key [secret]');
  t.notMatch(problem.providerMessage, SECRET);
});

t.test('does not follow redirects', async (t) => {
  const { origin, calls } = await serve(t, (_request, response) =>
    response.writeHead(302, { location: '/elsewhere' }).end(),
  );
  t.match(await problemOf(connect(t, origin).request(get)), { failure: 'failed', status: 302 });
  t.equal(calls(), 1);
});

t.test('goes to an address that the upstream handed out, on its own host only', async (t) => {
  const { origin } = await serve(t, (request, response) => json(response, 200, { url: request.url }));
  const http = connect(t, origin, { path: '/v1' });
  t.same((await http.request({ ...get, path: `${origin}/jobs/1?full=1` })).json(), { url: '/jobs/1?full=1' });
  for (const [path, message] of [
    ['https://evil.example/jobs/1', 'handed out an address at another host'],
    [origin.replace('http:', 'https:'), 'handed out an address at another host'],
    ['jobs/1', 'handed out something that is no address'],
    ['', 'handed out something that is no address'],
  ]) {
    t.match(await problemOf(http.request({ ...get, path: `${path}` })), {
      failure: 'malformed',
      upstream: 'weather',
      message,
      providerMessage: path,
    });
  }
});

t.test('refuses answers that are too large or no JSON', async (t) => {
  const { origin } = await serve(t, (_request, response) => response.end('x'.repeat(5000)));
  const http = connect(t, origin);
  t.match(await problemOf(http.request({ ...get, maxBytes: 1000 })), { failure: 'malformed' });
  const response = await http.request(get);
  t.throws(() => response.json(), /answered no JSON/);
});

t.test('gives up at the time limit of the upstream and at the caller’s deadline', async (t) => {
  const { origin } = await serve(t, () => undefined);
  t.match(await problemOf(connect(t, origin, { timeoutMs: 50 }).request(get)), {
    failure: 'timeout',
    message: /no answer in time/,
  });
  const deadline = AbortSignal.timeout(50);
  t.match(await problemOf(connect(t, origin).request({ ...get, signal: deadline })), { failure: 'timeout' });
  const patient = connect(t, origin, { timeoutMs: 30 * 86_400_000 });
  const asked = performance.now();
  t.match(await problemOf(patient.request({ ...get, signal: AbortSignal.timeout(50) })), { failure: 'timeout' });
  t.ok(performance.now() - asked > 40, 'a limit that is longer than any timer ends nothing at once');
});

t.test('is failed when nobody listens', async (t) => {
  const http = connect(t, 'http://127.0.0.1:9');
  t.match(await problemOf(http.request({ ...get, method: 'POST' })), { failure: 'failed', message: /ECONNREFUSED/ });
});

t.test('runs no more calls at a time than the upstream allows', async (t) => {
  const waiting: ServerResponse[] = [];
  let most = 0;
  const { origin } = await serve(t, (_request, response) => {
    waiting.push(response);
    most = Math.max(most, waiting.length);
    setImmediate(() => {
      for (const held of waiting.splice(0)) held.end('{}');
    });
  });
  const http = connect(t, origin, { upstream: { concurrency: 2 } });
  await Promise.all(Array.from({ length: 10 }, () => http.request(get)));
  t.ok(most <= 2, `${most} at a time`);
});

t.test('keeps the spacing that the upstream asks for', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const { origin, calls } = await serve(t, (_request, response) => json(response, 200, {}));
  const http = connect(t, origin, { upstream: { spacing: '1h' } });
  const first = http.request(get);
  const leaving = new AbortController();
  const second = problemOf(http.request({ ...get, signal: leaving.signal }));
  leaving.abort();
  t.match(await second, { failure: 'timeout', message: 'GET /: no turn before the deadline' });
  t.equal((await first).status, 200);
  t.equal(calls(), 1);
});

t.test('does not begin with a spacing that is no duration', async (t) => {
  t.throws(() => connect(t, 'http://127.0.0.1:9', { upstream: { spacing: 'soon' } }), {
    message: 'upstream weather: spacing soon is not a duration',
  });
});

t.test('leaves the queue when the signal aborts', async (t) => {
  let arrives = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrives = resolve;
  });
  const { origin, calls } = await serve(t, () => arrives());
  const http = connect(t, origin, { upstream: { concurrency: 1 } });
  const ended = new AbortController();
  const first = problemOf(http.request({ ...get, signal: ended.signal }));
  await arrived;
  t.match(await problemOf(http.request({ ...get, signal: AbortSignal.timeout(50) })), {
    failure: 'timeout',
    message: /no turn/,
  });
  ended.abort();
  await first;
  t.equal(calls(), 1);
});

t.test(
  'what waited for its turn until it was another’s work begins nothing, and may still be asked about',
  async (t) => {
    const { origin, calls } = await serve(t, (_request, response) => json(response, 200, {}));
    const http = connect(t, origin).forCaller('payer', { mayGoOn: () => false });
    for (const ask of [http.request, http.stream])
      t.match(await problemOf(ask(post)), { failure: 'timeout', message: /another instance/ });
    t.equal(calls(), 0);
    for (const request of [get, { ...post, idempotent: true }]) t.equal((await http.request(request)).status, 200);
  },
);

t.test('stops asking an upstream that keeps failing, and asks again after a while', async (t) => {
  let isDown = true;
  let clock = 0;
  const { origin, calls } = await serve(t, (_request, response) => json(response, isDown ? 500 : 200, {}));
  const http = connect(t, origin, { now: () => clock });
  for (let call = 0; call < 10; call += 1) await problemOf(http.request(get));
  t.match(await problemOf(http.request(get)), { failure: 'unavailable' });
  t.equal(calls(), 10, 'not asked while the circuit is open');
  isDown = false;
  t.match(await problemOf(http.request(get)), { failure: 'unavailable' });
  t.equal((await http.request({ ...get, asksOfJob: true })).status, 200, 'but for what it is working on and bills');
  t.equal((await http.request(get)).status, 200, 'which tells that it is well again');
  isDown = true;
  for (let call = 0; call < 10; call += 1) await problemOf(http.request(get));
  isDown = false;
  clock = 5_000;
  t.equal((await http.request(get)).status, 200);
  t.equal((await http.request(get)).status, 200);
});

t.test('a caller’s own limits say nothing of the upstream: deadlines, length and hanging up', async (t) => {
  const { origin } = await serve(t, (request, response) => {
    if (request.url === '/') json(response, 200, {});
    if (request.url === '/long') response.end('x'.repeat(5000));
  });
  const http = connect(t, origin);
  const hanging = { ...get, path: '/hangs' };
  const calls = Array.from({ length: 12 }, (_, call) => {
    const caller = http.forCaller(`caller ${call}`);
    return [
      problemOf(caller.request({ ...hanging, signal: AbortSignal.timeout(20) })),
      problemOf(caller.request({ ...hanging, signal: AbortSignal.abort(new Error('gone')) })),
      problemOf(caller.request({ ...get, path: '/long', maxBytes: 1000 })),
    ];
  });
  await Promise.all(calls.flat());
  t.equal((await http.forCaller('honest').request(get)).status, 200);
});

t.test('time-outs of the upstream itself open the circuit, once for each caller', async (t) => {
  const { origin } = await serve(t, () => undefined);
  const http = connect(t, origin, { timeoutMs: 20, now: () => 0 });
  const fail = (caller: string) => problemOf(http.forCaller(caller).request(get));
  await Promise.all(Array.from({ length: 12 }, () => fail('attacker')));
  t.match(await fail('honest'), { failure: 'timeout' }, 'one caller does not open it');
  await Promise.all(Array.from({ length: 10 }, (_, caller) => fail(`caller ${caller}`)));
  t.match(await fail('honest'), { failure: 'unavailable' });
});

t.test('too many requests for the provider open the circuit', async (t) => {
  const { origin } = await serve(t, (_request, response) => json(response, 429, {}));
  const http = connect(t, origin, { now: () => 0 });
  for (let caller = 0; caller < 10; caller += 1) await problemOf(http.forCaller(`caller ${caller}`).request(post));
  t.match(await problemOf(http.request(post)), { failure: 'unavailable' });
});

t.test('callers share the turns: one with many calls under way holds up nobody', async (t) => {
  const { origin } = await serve(t, (request, response) => {
    if (request.url === '/') json(response, 200, {});
  });
  const http = connect(t, origin, { upstream: { concurrency: 8 } });
  const ended = new AbortController();
  const held = Array.from({ length: 30 }, () =>
    problemOf(http.forCaller('attacker').request({ ...get, path: '/hangs', signal: ended.signal })),
  );
  t.equal((await http.forCaller('honest').request(get)).status, 200);
  ended.abort();
  await Promise.all(held);
});
