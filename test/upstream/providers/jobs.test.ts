import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { type Job, NO_JOB } from '../../../src/upstream/bought.ts';
import type { UpstreamHttp } from '../../../src/upstream/http/upstream-http.ts';
import { poll } from '../../../src/upstream/providers/http/poll.ts';
import { predict } from '../../../src/upstream/providers/replicate/client.ts';
import { film } from '../../../src/upstream/providers/xai/client.ts';
import { connect, get, json, serve, signal } from '../http/weather.ts';
import { problemOf } from './contract.ts';

/** A provider that takes a job, fails when it is first asked for it, and then has it done. */
async function open(t: Test, started: (origin: string) => object, done: object) {
  const asked: string[] = [];
  const { origin } = await serve(t, (request, response, call) => {
    asked.push(`${request.method}`);
    const status = call === 2 ? 500 : 200;
    json(response, status, request.method === 'POST' ? started(origin) : done);
  });
  const http = connect(t, origin);
  return { http, asked };
}

type Start = (http: UpstreamHttp, job: Job, signal: AbortSignal) => Promise<unknown>;

const model = { name: 'm', id: 'owner/model' };

const jobs: Readonly<Record<string, { started: (origin: string) => object; done: object; run: Start }>> = {
  'an HTTP job': {
    started: () => ({ id: 7 }),
    done: { state: 'done' },
    async run(http, job, signal) {
      const start = async () => ({
        response: await http.request({ method: 'POST', path: '/jobs', signal }),
        path: '/jobs',
      });
      const options = { path: '/jobs/{id}', until: "state == 'done'", every: '1ms' };
      return (await poll(start, options, { upstream: 'x', http, signal, job })).json();
    },
  },
  'a prediction of Replicate': {
    started: (origin) => ({
      id: 'p',
      status: 'processing',
      urls: { get: `${origin}/predictions/p`, cancel: `${origin}/predictions/p/cancel` },
    }),
    done: { id: 'p', status: 'succeeded', output: 'https://files.example/1.png', urls: {} },
    run: (http, job, signal) =>
      predict({ upstream: 'x', http, model, settings: {} }, { prompt: 'fog' }, { signal }, job),
  },
  'a video of xAI': {
    started: () => ({ request_id: 'r' }),
    done: { status: 'done', video: { url: 'https://files.example/v.mp4', duration: 10 } },
    run: (http, job, signal) => film({ upstream: 'x', http, model }, { prompt: 'fog' }, { signal }, job),
  },
};

for (const [name, { started, done, run }] of Object.entries(jobs)) {
  t.test(`${name} is asked for again after a 500: its provider bills it`, async (t) => {
    const { http, asked } = await open(t, started, done);
    await run(http, NO_JOB, signal);
    t.same(asked, ['POST', 'GET', 'GET']);
  });

  t.test(`${name} is begun once: who was cut off goes on with it`, async (t) => {
    const { http, asked } = await open(t, started, done);
    const ended = new AbortController();
    let noted: unknown;
    const note: Job['note'] = async (begun) => {
      noted = JSON.parse(JSON.stringify(begun));
      ended.abort();
    };
    await problemOf(run(http, { begun: undefined, note, isCutOff: () => true }, ended.signal));
    const again = { ...NO_JOB, begun: noted, note: () => Promise.reject(new Error('it is noted already')) };
    const result = await run(http, again, signal);
    t.same(asked, ['POST', 'GET', 'GET'], 'and it is not given up meanwhile');
    const { http: other } = await open(t, started, done);
    t.same(result, await run(other, NO_JOB, signal));
  });
}

t.test('a prediction that is late is cancelled, and none that the next attempt would wait for', async (t) => {
  const { started, done, run } = jobs['a prediction of Replicate'] as (typeof jobs)[string];
  const asked: string[] = [];
  let cancelled = () => {};
  const isCancelled = new Promise<void>((resolve) => {
    cancelled = resolve;
  });
  const { origin } = await serve(t, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.url?.endsWith('/cancel')) cancelled();
    json(response, 200, request.method === 'POST' ? started(origin) : done);
  });
  const late = new AbortController();
  const noted: unknown[] = [];
  const note: Job['note'] = async (begun) => {
    noted.push(begun);
    late.abort();
  };
  const http = connect(t, origin);
  t.equal((await problemOf(run(http, { ...NO_JOB, note }, late.signal))).failure, 'timeout');
  await isCancelled;
  t.match(noted, [{ id: 'p' }, undefined]);
  t.match(asked, ['POST /models/owner/model/predictions', 'POST /predictions/p/cancel']);
});

t.test('what is no job is not asked again after a 500', async (t) => {
  const { http, asked } = await open(t, () => ({}), {});
  await http.request({ method: 'POST', path: '/', signal });
  t.match(await problemOf(http.request(get)), { status: 500 });
  t.same(asked, ['POST', 'GET']);
});

t.test('a job is asked for where a header of the first answer says', async (t) => {
  const asked: unknown[] = [];
  const { origin } = await serve(t, (request, response) => {
    asked.push(request.url);
    json(response, 200, { state: 'done' });
  });
  const http = connect(t, origin, { path: '/v1' });
  const options = { header: 'Location', until: "state == 'done'", every: '1ms' };
  const look = async (headers: Record<string, string>) => {
    const response = { status: 202, headers, body: Buffer.alloc(0), sent: '', json: () => undefined };
    return (
      await poll(async () => ({ response, path: '/jobs/new?dry=1' }), options, {
        upstream: 'x',
        http,
        signal,
        job: NO_JOB,
      })
    ).json();
  };
  for (const location of ['/v1/jobs/7', `${origin}/jobs/7?look=1`, '7']) {
    t.same(await look({ location }), { state: 'done' });
  }
  t.same(asked, ['/v1/jobs/7', '/jobs/7?look=1', '/v1/jobs/7']);
  t.match(await problemOf(look({})), { failure: 'malformed', message: /no address of a job in Location/ });
  t.match(await problemOf(look({ location: 'https://elsewhere.example/jobs/7' })), { failure: 'malformed' });
  t.equal(asked.length, 3, 'nobody else is asked');
});

t.test('a job is asked for by POST with what the first answer says of it, and again after a failure', async (t) => {
  const asked: unknown[] = [];
  const { origin } = await serve(t, async (request, response, call) => {
    asked.push([request.method, request.url, JSON.parse(await text(request))]);
    const states: readonly [number, object][] = [
      [500, {}],
      [200, { name: 'other', state: 'running' }],
      [200, { state: 'done' }],
    ];
    json(response, ...(states[call - 1] ?? [404, {}]));
  });
  const http = connect(t, origin);
  const first = { name: 'models/film/operations/7', number: 7 };
  const response = { status: 200, headers: {}, body: Buffer.from(JSON.stringify(first)), sent: '', json: () => first };
  const body = {
    operationName: '{name}',
    number: '{number}',
    list: [{ query: '{ job { state } }', id: '{number}' }, true],
  };
  const options = { path: '/film:look', body, until: "state == 'done'", every: '1ms' };
  const done = await poll(async () => ({ response, path: '/film:start' }), options, {
    upstream: 'x',
    http,
    signal,
    job: NO_JOB,
  });
  t.same(done.json(), { state: 'done' });
  const sent = { operationName: first.name, number: 7, list: [{ query: '{ job { state } }', id: 7 }, true] };
  t.same(asked, Array(3).fill(['POST', '/film:look', sent]));

  const nameless = { ...response, body: Buffer.from('{}'), json: () => ({}) };
  t.match(
    await problemOf(
      poll(async () => ({ response: nameless, path: '/' }), options, { upstream: 'x', http, signal, job: NO_JOB }),
    ),
    {
      failure: 'malformed',
      message: /no name/,
    },
  );
  t.equal(asked.length, 3);
});

t.test('a first answer without a body says where a job is, and not that it is done', async (t) => {
  const { origin } = await serve(t, (_request, response) => json(response, 200, { state: 'done' }));
  const http = connect(t, origin);
  const response = {
    status: 202,
    headers: { location: '/jobs/7' },
    body: Buffer.alloc(0),
    sent: '',
    json: () => undefined,
  };
  const options = { header: 'location', until: "state != 'running'", failed: "state != 'done'", every: '1ms' };
  const done = await poll(async () => ({ response, path: '/jobs' }), options, {
    upstream: 'x',
    http,
    signal,
    job: NO_JOB,
  });
  t.same(done.json(), { state: 'done' });
});

t.test('a job that the first answer has done is nowhere else', async (t) => {
  const http = connect(t, 'http://127.0.0.1:9');
  for (const place of [{ header: 'location' }, { path: '/jobs/{id}' }]) {
    const response = {
      status: 200,
      headers: {},
      body: Buffer.from('{"state":"done"}'),
      sent: '',
      json: () => ({ state: 'done' }),
    };
    const options = { ...place, until: "state == 'done'", every: '1ms' };
    t.equal(
      await poll(async () => ({ response, path: '/jobs' }), options, { upstream: 'x', http, signal, job: NO_JOB }),
      response,
    );
  }
});

t.test('a job whose answer does not say where it is, or that is not done in time, is none to sell', async (t) => {
  const asked: unknown[] = [];
  const { origin } = await serve(t, (request, response) => {
    asked.push(request.url);
    json(response, 200, { state: 'running' });
  });
  const http = connect(t, origin);
  const options = { path: '/jobs/{id}', until: "state == 'done'", every: '1ms' };
  const look = (answer: unknown, deadline: AbortSignal) => {
    const body = Buffer.from(JSON.stringify(answer));
    const response = { status: 200, headers: {}, body, sent: '', json: () => answer };
    return poll(async () => ({ response, path: '/jobs' }), options, {
      upstream: 'x',
      http,
      signal: deadline,
      job: NO_JOB,
    });
  };
  t.match(await problemOf(look({ state: 'new' }, signal)), { failure: 'malformed', message: /has no id/ });
  t.same(asked, []);
  const ended = new AbortController();
  ended.abort();
  const astray = await problemOf(look({ id: '../users/7' }, signal));
  t.match(astray, { failure: 'malformed', message: /leads to another path/ }, 'no caller has chosen it');
  const late = await problemOf(look({ id: '7' }, ended.signal));
  t.match(late, { failure: 'timeout', message: /not done at the deadline/ });
  const leaving = new AbortController();
  const left = problemOf(look({ id: 'of/7 b' }, leaving.signal));
  while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  leaving.abort();
  t.equal((await left).failure, 'timeout');
  t.equal(asked[0], '/jobs/of/7%20b', 'providers name operations by paths');
});
