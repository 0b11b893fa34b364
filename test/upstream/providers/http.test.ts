import { Readable } from 'node:stream';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { drawPicture } from '../../../src/sandbox/files/png.ts';
import type { CallContext } from '../../../src/upstream/adapter.ts';
import { CutAnswer } from '../../../src/upstream/cut-answer.ts';
import { UpstreamProblem } from '../../../src/upstream/problem.ts';
import { http } from '../../../src/upstream/providers/http/adapter.ts';
import { withCopies, withDecoded } from '../../../src/upstream/providers/http/files.ts';
import { passOn } from '../../../src/upstream/providers/http/pass-on.ts';
import { filledPath } from '../../../src/upstream/providers/http/path.ts';
import { openCallContext } from '../call-context.ts';
import { connect, json, serve } from '../http/weather.ts';
import { type AdapterCase, adapterContract, problemOf as failureOf } from './contract.ts';

const forecast = {
  type: 'object',
  required: ['temperature', 'days'],
  properties: {
    temperature: { type: 'number' },
    days: {
      type: 'array',
      minItems: 2,
      items: { type: 'object', required: ['max'], properties: { max: { type: 'number' } } },
    },
  },
};

const options = {
  method: 'GET',
  path: '/v1/forecast/{city}',
  query: { days: 'days', units: { value: 'metric' } },
  result: '{temperature: current.temp_c, days: forecast.days[].{max: max_c}}',
  status: { 404: 'not-found', 422: 'invalid-input' },
};

const base: AdapterCase = {
  adapter: http,
  upstream: { keys: { key: 'SECRET_key' }, settings: { authorize: { bearer: 'key' } } },
  options,
  input: { city: 'Lisbon', days: 2 },
  result: forecast,
  refusal: 'invalid-input',
};

adapterContract(t, 'a bearer token, and an answer that is made from the result schema', base);

adapterContract(t, 'a key in a header, and the answer of the example', {
  ...base,
  upstream: { ...base.upstream, settings: { authorize: { header: 'X-Api-Key', value: 'Key {key}' } } },
  options: {
    ...options,
    example: { current: { temp_c: 20.5 }, forecast: { days: [{ max_c: 24 }, { max_c: 25, min_c: 12 }] } },
  },
  result: { const: { temperature: 20.5, days: [{ max: 24 }, { max: 25 }] } },
});

const job = {
  path: '/jobs',
  body: 'input',
  status: { 422: 'invalid-input' },
  poll: { path: '/jobs/{job.id}', until: "state == 'done'", every: '1ms', result: 'output' },
  example: { state: 'done', output: { temperature: 20.5, days: [{ max: 1 }, { max: 2 }] } },
};

adapterContract(t, 'a key in the query, and a job', {
  ...base,
  upstream: { ...base.upstream, settings: { authorize: { query: 'api_key', value: '{key}' } } },
  options: job,
});

adapterContract(t, 'a key before the path of each call, and a job whose address the provider says whole', {
  ...base,
  upstream: { ...base.upstream, settings: { authorize: { path: '/bot{key}' } } },
  options: { ...job, poll: { ...job.poll, path: '{status_url}' } },
});

adapterContract(t, 'a job whose address stands in a header', {
  ...base,
  options: { ...job, poll: { header: 'Operation-Location', until: job.poll.until, every: '1ms', result: 'output' } },
});

adapterContract(t, 'a job whose result is elsewhere', {
  ...base,
  options: {
    ...job,
    poll: {
      path: '/jobs/{job.id}',
      until: "state == 'done'",
      every: '1ms',
      resultAt: '/sets/{set}',
      done: { state: 'done', set: 's-1' },
    },
    result: options.result,
    example: undefined,
  },
});

adapterContract(t, 'a job that says where its film is', {
  ...base,
  options: {
    ...job,
    poll: {
      path: '{status_url}',
      until: "state == 'done'",
      every: '1ms',
      resultAt: '{film_url}',
      done: { state: 'done', film_url: 'https://films.example/1' },
    },
    result: { file: 'video' },
    example: undefined,
  },
  result: {
    type: 'object',
    required: ['video_url', 'type', 'bytes'],
    properties: { video_url: { type: 'string' }, type: { const: 'video/mp4' } },
  },
});

adapterContract(t, 'files in base64 within the answer', {
  ...base,
  options: {
    path: '/pictures',
    body: 'input',
    decode: { pictures: 'image', sound: 'audio' },
    result: '{pictures: data[].b64_json, sound: sound.audioContent}',
    status: { 422: 'invalid-input' },
  },
  result: {
    type: 'object',
    required: ['pictures', 'sound'],
    properties: {
      pictures: { type: 'array', minItems: 1, items: { type: 'string', pattern: '/media/[0-9a-f]+\\.png$' } },
      sound: { type: 'string', pattern: '/media/[0-9a-f]+\\.(mp3|wav)$' },
    },
  },
});

adapterContract(t, 'an id beside a key, each in a place of its own', {
  ...base,
  upstream: {
    keys: { id: 'SECRET_id', key: 'SECRET_key', token: 'SECRET_token' },
    settings: {
      authorize: [{ query: 'app_id', value: '{id}' }, { header: 'X-App-Key', value: '{key}' }, { bearer: 'token' }],
    },
  },
});

adapterContract(t, 'a token that is handed out elsewhere for id and secret, beside the id, and a job', {
  ...base,
  upstream: {
    keys: { id: 'SECRET_id', secret: 'SECRET_secret' },
    settings: {
      authorize: [
        {
          oauth: 'https://accounts.example.com/token',
          fields: { client_id: '{id}', client_secret: '{secret}', scope: 'read' },
        },
        { header: 'client-id', value: '{id}' },
      ],
    },
  },
  options: job,
});

adapterContract(t, 'a token that is handed out below the address of the API', {
  ...base,
  upstream: {
    keys: { id: 'SECRET_id', secret: 'SECRET_secret' },
    settings: { authorize: { oauth: '/oauth/token', client: '{id}:{secret}' } },
  },
});

adapterContract(t, 'a job that is asked for by POST', {
  ...base,
  options: {
    ...job,
    poll: { ...job.poll, path: '/jobs:look', body: { job: '{job.id}', of: ['{job.name}'], depth: 2 } },
  },
});

adapterContract(t, 'a token that is signed here, beside the id', {
  ...base,
  upstream: {
    keys: { id: 'SECRET_id', secret: 'SECRET_secret', kid: 'SECRET_kid' },
    settings: { authorize: { jwt: 'ES256', key: 'secret', claims: { iss: '{id}' }, header: { kid: '{kid}' } } },
  },
});

adapterContract(t, 'a signature of each request', {
  ...base,
  upstream: {
    keys: { id: 'SECRET_id', secret: 'SECRET_secret', session: 'SECRET_session' },
    settings: { authorize: { aws: 'weather', region: 'eu-west-1', id: 'id', key: 'secret', session: 'session' } },
  },
});

adapterContract(t, 'a token that is handed out for what is signed here', {
  ...base,
  upstream: {
    keys: { email: 'SECRET_email', secret: 'SECRET_secret' },
    settings: {
      authorize: {
        oauth: 'https://accounts.example.com/token',
        assertion: { jwt: 'RS256', key: 'secret', claims: { iss: '{email}', scope: 'read' }, lasts: '1h' },
      },
    },
  },
});

adapterContract(t, 'a job and a result whose addresses are written out', {
  ...base,
  options: {
    ...job,
    poll: {
      path: 'https://provider.example/jobs/{id}',
      until: "state == 'done'",
      every: '1ms',
      resultAt: 'https://provider.example/results/{id}',
      done: { id: 'j-1', state: 'done' },
      result: 'output',
    },
  },
});

adapterContract(t, 'user and password, and a picture in the answer', {
  ...base,
  upstream: {
    keys: { user: 'SECRET_user', password: 'SECRET_password' },
    settings: { authorize: { basic: '{user}:{password}' } },
  },
  options: { path: '/pictures', body: { city: 'city' }, result: { file: 'image' }, status: { 422: 'invalid-input' } },
  result: {
    type: 'object',
    required: ['image_url', 'type', 'bytes'],
    properties: {
      image_url: { type: 'string' },
      type: { const: 'image/png' },
      bytes: { type: 'integer', minimum: 100 },
    },
  },
});

adapterContract(t, 'a PDF in the answer', {
  ...base,
  options: { path: '/letters', body: { city: 'city' }, result: { file: 'document' }, status: { 422: 'invalid-input' } },
  result: {
    type: 'object',
    required: ['document_url', 'type', 'bytes'],
    properties: {
      document_url: { type: 'string', pattern: '\\.pdf$' },
      type: { const: 'application/pdf' },
      bytes: { type: 'integer', minimum: 100 },
    },
  },
});

adapterContract(t, 'a form', {
  ...base,
  options: { ...job, body: { City: 'city' }, encoding: 'form' },
});

adapterContract(t, 'a form with a file that the caller names', {
  ...base,
  options: { ...job, encoding: 'multipart', upload: { map: 'map_url' } },
  input: { ...base.input, map_url: 'https://example.com/map.png' },
});

adapterContract(t, 'no key at all, and a file that is copied from where the answer says it is', {
  ...base,
  upstream: {},
  options: {
    path: '/pictures',
    body: 'input',
    download: ['picture'],
    status: { 422: 'invalid-input' },
    example: { picture: 'https://files.example.com/one.png' },
  },
  result: {
    type: 'object',
    required: ['picture'],
    properties: { picture: { type: 'string', pattern: '/media/[0-9a-f]+\\.png$' } },
  },
});

t.test('a file that is not there, or is null, is none to copy', async (t) => {
  const copy = async (url: string) => ({ url: `kept ${url}`, type: 'image/png', bytes: Buffer.alloc(0) });
  const context = { media: { copy } as unknown as CallContext['media'], signal: new AbortController().signal };
  const answer = { picture: null, pages: ['one', 'two'], title: 'Fog' };
  const result = await withCopies(answer, ['picture', 'pages', 'sound'], 'weather', context);
  t.same(result, { picture: null, pages: ['kept one', 'kept two'], title: 'Fog' });
});

t.test('what is no file where one was to be is not sold', async (t) => {
  const context = openCallContext(t);
  const picture = await drawPicture({ seed: 'fog', width: 32, height: 32, label: 'fog', format: 'png' });
  const malformed = { failure: 'malformed' };
  const base64 = picture.toString('base64');
  t.match(await withDecoded({ map: base64, by: 'Ada' }, { map: 'image' }, 'weather', context), {
    map: /^https:.*\.png$/,
    by: 'Ada',
  });
  t.match(await failureOf(withDecoded({ map: base64 }, { map: 'audio' }, 'weather', context)), malformed);
  t.match(await failureOf(withDecoded({ map: 7 }, { map: 'image' }, 'weather', context)), malformed);
  t.match(await failureOf(withDecoded('text', { map: 'image' }, 'weather', context)), malformed);
  t.match(await failureOf(withCopies('text', ['map'], 'weather', context)), malformed);
  t.match(await failureOf(withCopies({ map: 7 }, ['map'], 'weather', context)), malformed);
});

t.test(
  'what a call cost is for the books: an answer that does not say so as expected is sold all the same',
  async (t) => {
    const asked = async (cost: string) => {
      const { origin } = await serve(t, (_request, response) =>
        json(response, 200, { city: 'Porto', usage: null, spent: 2, unsaid: ' ' }),
      );
      const context = openCallContext(t);
      const binding = { options: { path: '/', cost }, upstream: 'weather', http: connect(t, origin) };
      return {
        result: await http.call({}, binding as unknown as Parameters<typeof http.call>[1], context),
        costs: context.costs,
      };
    };
    const result = { city: 'Porto', usage: null, spent: 2, unsaid: ' ' };
    t.same(await asked('spent'), { result, costs: ['2.000000000000'] });
    t.same(await asked('sum(usage.items)'), { result, costs: [] });
    t.same(await asked('unsaid'), { result, costs: [] }, 'an empty text is no amount');
  },
);

t.test('what a path cannot hold is the caller’s fault, and none of the gateway’s', (t) => {
  for (const value of ['..', 'a/../b', '\ud800', 'half \udc00 a pair']) {
    const fill = () => filledPath('/v1/{city}', () => value, 'weather');
    t.throws(
      fill,
      new UpstreamProblem('invalid-input', 'weather', 'a value of city leads to another path'),
      JSON.stringify(value),
    );
  }
  t.equal(
    filledPath('/v1/{city}', () => '\ud83c\udf0a', 'weather'),
    '/v1/%F0%9F%8C%8A',
  );
  t.end();
});

type Passed = Parameters<typeof passOn>;

type Last = 'end' | 'deadline' | 'shutdown' | 'break';

/** A stream of these parts, and how it ends: what was passed on, and what came of it. */
async function streamed(
  parts: readonly string[],
  last: Last,
  longest?: number,
  isWantedWhole = false,
  further: Readonly<Record<string, string>> = {},
) {
  const stop = new AbortController();
  const body = Readable.from(
    (async function* () {
      yield* parts.map((part) => Buffer.from(part));
      if (last === 'deadline') stop.abort(new DOMException('late', 'TimeoutError'));
      if (last === 'shutdown') stop.abort();
      if (last !== 'end') throw new Error('broken off');
    })(),
    { objectMode: false },
  );
  const problemOf = () => new UpstreamProblem(stop.signal.aborted ? 'timeout' : 'failed', 'weather', 'broken off');
  const stream = async () => ({
    status: 200,
    headers: { 'content-type': 'text/event-stream', ...further },
    body,
    problemOf,
  });
  const binding = { http: { stream, redactAnswer: (text: string) => text }, options: {}, upstream: 'weather' };
  const request = { method: 'GET', path: '/' } as Passed[0];
  let passed = '';
  const emit = (text: string) => {
    passed += text;
  };
  const context = { signal: stop.signal, emit: isWantedWhole ? undefined : emit, longest };
  const result = await passOn(request, binding as unknown as Passed[1], context).catch((error: unknown) => error);
  return { passed, result };
}

const ONE = 'data: 1\n\n';

for (const [what, parts, last, longest] of [
  ['comes to its end', [ONE], 'end', undefined],
  ['is exactly as long as it may be', [ONE, ONE], 'end', 18],
  ['holds characters of two halves', ['data: \ud83c\udf0a\n\n'], 'end', 9],
] as const) {
  t.test(`a stream that ${what} is whole`, async (t) => {
    t.same(await streamed(parts, last, longest), { passed: parts.join(''), result: parts.join('') });
  });
}

for (const [what, parts, last, longest, kept] of [
  ['has its deadline within an event', [ONE, 'data: 2\nda'], 'deadline', undefined, ONE],
  ['ends an event byte by byte', ['data: 1\r', '\n', '\r', '\n', 'data'], 'deadline', undefined, 'data: 1\r\n\r\n'],
  ['ends its lines in two ways', ['data: 1\n\r\nda'], 'deadline', undefined, 'data: 1\n\r\n'],
  ['brings too much at once', [`${ONE}${ONE}${ONE}`], 'end', 20, `${ONE}${ONE}`],
  ['brings too much after a while', [ONE, `${ONE}${ONE}`], 'end', 20, `${ONE}${ONE}`],
  ['brings an event without an end', [ONE, 'w'.repeat(8 * 1024 * 1024 + 1)], 'end', undefined, ONE],
] as const) {
  t.test(`a stream that ${what} ends with the word that it was cut`, async (t) => {
    const { passed, result } = await streamed(parts, last, longest);
    t.ok(result instanceof CutAnswer && result.text === passed);
    t.ok(passed.startsWith(`${kept}event: error\ndata: {"error":{"code":"answer_cut"`));
    t.match(passed, last === 'deadline' ? /at its deadline: all until here/ : /before it became longer than the \d+/);
  });
}

for (const [what, parts, last, longest, failure] of [
  ['is broken off by its provider', [ONE], 'break', undefined, 'failed'],
  ['is stopped with the gateway', [ONE], 'shutdown', undefined, 'timeout'],
  ['has brought nothing but comments by its end', [': wait\n\n', ': wait'], 'end', undefined, 'malformed'],
  ['has brought nothing but comments by its deadline', [': wait\n\n'], 'deadline', undefined, 'timeout'],
  ['has brought part of an event by its deadline', ['data: 1\n'], 'deadline', undefined, 'timeout'],
  ['is too long with its first event', [ONE], 'end', 8, 'malformed'],
] as const) {
  t.test(`a stream that ${what} is none`, async (t) => {
    t.match((await streamed(parts, last, longest)).result, { name: 'UpstreamProblem', failure });
  });
}

t.test('a stream that is wanted whole is none where it is cut', async (t) => {
  for (const [last, longest, failure] of [
    ['deadline', undefined, 'timeout'],
    ['end', 10, 'malformed'],
  ] as const) {
    const { passed, result } = await streamed([ONE, ONE], last, longest, true);
    t.match(result, { name: 'UpstreamProblem', failure });
    t.equal(passed, '');
  }
});

t.test('a header of the upstream’s settings takes the place of the gateway’s own, however it is written', async (t) => {
  const names: string[][] = [];
  const { origin } = await serve(t, (request, response) => {
    names.push(request.rawHeaders.filter((_text, at) => at % 2 === 0).map((name) => name.toLowerCase()));
    json(response, 200, request.headers);
  });
  const upstream = { settings: { headers: { 'User-Agent': 'shop', 'Content-Type': 'application/vnd.api+json' } } };
  const connected = connect(t, origin, { upstream, ...(http.authorize && { authorize: http.authorize }) });
  const binding = { options: { path: '/', body: { a: 1 } }, upstream: 'weather', http: connected };
  const result = await http.call({}, binding as unknown as Parameters<typeof http.call>[1], openCallContext(t));
  t.match(result, { 'user-agent': 'shop', 'content-type': 'application/vnd.api+json' });
  t.same(names[0]?.length, new Set(names[0]).size, 'and stands once');
});

t.test('several keys are sent each to its own place', async (t) => {
  const came: object[] = [];
  const { origin } = await serve(t, ({ url, headers }, response) => {
    came.push({ url, ...headers });
    json(response, 200, {});
  });
  const authorize = [{ query: 'app_id', value: '{id}' }, { header: 'X-App-Key', value: '{key}' }, { bearer: 'token' }];
  const connected = connect(t, origin, {
    upstream: { settings: { authorize } },
    secrets: { id: 'the-id', key: 'the-key', token: 'the-token' },
    ...(http.authorize && { authorize: http.authorize }),
  });
  const binding = { options: { path: '/', query: { q: { value: 'a' } } }, upstream: 'weather', http: connected };
  await http.call({}, binding as unknown as Parameters<typeof http.call>[1], openCallContext(t));
  t.match(came, [{ url: '/?q=a&app_id=the-id', 'x-app-key': 'the-key', authorization: 'Bearer the-token' }]);
});

t.test('a key in the path stands behind the address and before the path of each call, and in no message', async (t) => {
  const came: (string | undefined)[] = [];
  let status = 200;
  const { origin } = await serve(t, ({ url }, response) => {
    came.push(url);
    json(response, status, { said: `no such path: ${url}` });
  });
  const connected = connect(t, `${origin}/rpc`, {
    upstream: { settings: { authorize: { path: '/v2/{key}' } } },
    secrets: { key: '12345:the/key' },
    ...(http.authorize && { authorize: http.authorize }),
  });
  const ask = async (path: string, input: Record<string, string> = {}): Promise<unknown> => {
    const binding = { options: { path, method: 'GET', query: { q: 'q' } }, upstream: 'chain', http: connected };
    return await http.call(input, binding as unknown as Parameters<typeof http.call>[1], openCallContext(t));
  };
  const sold = [await ask('/'), await ask('/', { q: 'a' }), await ask('/blocks/{id}', { id: '{key}' })];
  t.same(came.splice(0), [
    '/rpc/v2/12345:the%2Fkey',
    '/rpc/v2/12345:the%2Fkey?q=a',
    '/rpc/v2/12345:the%2Fkey/blocks/%7Bkey%7D',
  ]);
  t.notMatch(JSON.stringify(sold), /12345/, 'nor in what is sold');
  const whole = `${origin}/rpc/v2/12345:the%2Fkey/jobs/1`;
  await connected.request({ method: 'GET', path: whole, signal: new AbortController().signal });
  t.same(came.splice(0), ['/rpc/v2/12345:the%2Fkey/jobs/1'], 'once in an address that the provider says whole');
  status = 404;
  const problem = await ask('/blocks/7').catch((error: Error) => error);
  t.match(problem, { name: 'UpstreamProblem', message: /GET \/rpc\/blocks\/7/ });
  t.notMatch(`${JSON.stringify(problem)} ${(problem as Error).stack}`, /12345/);
});

/** What the adapter makes of an answer. */
async function madeOf(t: Test, type: string, body: Buffer | string, more: object = {}): Promise<unknown> {
  const { origin } = await serve(t, (_request, response) =>
    response.writeHead(200, { 'content-type': type }).end(body),
  );
  const binding = { options: { path: '/', ...more }, upstream: 'weather', http: connect(t, origin) };
  return await http
    .call({}, binding as unknown as Parameters<typeof http.call>[1], openCallContext(t))
    .catch((error) => error);
}

t.test('an answer is read in the characters that it says it is in', async (t) => {
  const asked = async (type: string, body: Buffer | string) => {
    const { origin } = await serve(t, (_request, response) =>
      response.writeHead(200, { 'content-type': type }).end(body),
    );
    const binding = { options: { path: '/' }, upstream: 'weather', http: connect(t, origin) };
    return await http
      .call({}, binding as unknown as Parameters<typeof http.call>[1], openCallContext(t))
      .catch((error) => error);
  };
  const latin = (text: string) => Buffer.from(text, 'latin1');
  t.equal(await asked('text/plain; charset=ISO-8859-1', latin('S\u00e3o Paulo')), 'S\u00e3o Paulo');
  t.equal(await asked('text/plain', 'S\u00e3o Paulo'), 'S\u00e3o Paulo');
  t.same(await asked('text/xml;charset="iso-8859-1"', latin('<city>S\u00e3o</city>')), { city: 'S\u00e3o' });
  const declared = '<?xml version="1.0" encoding="ISO-8859-1"?><city>S\u00e3o</city>';
  t.same(await asked('application/xml', latin(declared)), { city: 'S\u00e3o' });
  t.same(
    await asked('application/json', '\ufeff{"city": "S\u00e3o"}'),
    { city: 'S\u00e3o' },
    'a mark before it is none of it',
  );
  t.match(await asked('text/plain; charset=klingon', 'a'), { name: 'UpstreamProblem', failure: 'malformed' });
});

t.test('a text that comes compressed although nobody asked for that is none', async (t) => {
  const asked = async (type: string, coding: string, body: Buffer | string) => {
    const headers = { 'content-type': type, 'content-encoding': coding };
    const { origin } = await serve(t, (_request, response) => response.writeHead(200, headers).end(body));
    const binding = { options: { path: '/' }, upstream: 'weather', http: connect(t, origin) };
    return await http
      .call({}, binding as unknown as Parameters<typeof http.call>[1], openCallContext(t))
      .catch((error) => error);
  };
  for (const coding of ['gzip', 'x-gzip', 'GZIP', 'utf-8, gzip'])
    t.match(
      await asked('text/plain', coding, gzipSync('fog')),
      { name: 'UpstreamProblem', failure: 'malformed', message: /compressed/ },
      coding,
    );
  t.match(await asked('text/csv', 'br', brotliCompressSync('fog')), { name: 'UpstreamProblem', failure: 'malformed' });
  t.match(await asked('application/json', 'gzip', gzipSync('{}')), { name: 'UpstreamProblem', failure: 'malformed' });
  for (const coding of ['identity', 'utf-8']) t.equal(await asked('text/plain', coding, 'fog'), 'fog', coding);
  const { passed, result } = await streamed([ONE], 'end', undefined, false, { 'content-encoding': 'gzip' });
  t.match(result, { name: 'UpstreamProblem', failure: 'malformed' });
  t.equal(passed, '', 'and nothing of it is passed on');
});

t.test('JSON is read as such under each of its types', async (t) => {
  for (const type of ['application/json', 'text/json; charset=utf-8', 'application/geo+json', 'model/gltf+json']) {
    const { origin } = await serve(t, (_request, response) =>
      response.writeHead(200, { 'content-type': type }).end('{"warmest":25}'),
    );
    const binding = { options: { path: '/' }, upstream: 'weather', http: connect(t, origin) };
    const answer = await http.call({}, binding as unknown as Parameters<typeof http.call>[1], openCallContext(t));
    t.same(answer, { warmest: 25 }, type);
  }
});

t.test('JSON is read as such where its server calls it a page, a script, a file or a plain text', async (t) => {
  const body = '{"warmest":25,"id":12345678901234567890}';
  const named = { result: '{warmest: warmest, id: id}', asText: ['id'] };
  const read = { warmest: 25, id: '12345678901234567890' };
  for (const type of [
    'text/html; charset=utf-8',
    'text/javascript',
    'application/x-javascript',
    'application/octet-stream',
  ]) {
    t.same(await madeOf(t, type, body, named), read, type);
    t.same(await madeOf(t, type, '[25]'), [25], `${type}, all of it`);
  }
  t.same(await madeOf(t, 'text/plain', body, named), read, 'a plain text of which members are named');
  t.equal(await madeOf(t, 'text/plain', body), body, 'else it is a text like any other');
  t.same(await madeOf(t, 'text/plain', body, { result: '{text: @}' }), { text: body });
  t.equal(await madeOf(t, 'text/csv', '[25]'), '[25]');
  t.equal(await madeOf(t, 'text/html', '{not} JSON'), '{not} JSON');
});

t.test('JSON in other characters than UTF-8 is read in those that it says it is in', async (t) => {
  const type = 'application/json;charset=ISO-8859-1';
  t.same(await madeOf(t, type, Buffer.from('{"city":"S\u00e3o Paulo"}', 'latin1')), { city: 'S\u00e3o Paulo' });
  t.same(
    await madeOf(t, type, '{"city":"S\u00e3o Paulo"}'),
    { city: 'S\u00e3o Paulo' },
    'though what is UTF-8 is that',
  );
  t.same(await madeOf(t, 'application/json; charset=klingon', '{"a":1}'), { a: 1 });
});

t.test('what XML writes like a number and is none keeps its zeros and its sign', async (t) => {
  const body = '<a><zip>01234</zip><phone>+351912345678</phone><colour>0x1F</colour><low>-0.5</low><days>10</days></a>';
  const { origin } = await serve(t, (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/xml' }).end(body),
  );
  const binding = { options: { path: '/', result: 'a' }, upstream: 'weather', http: connect(t, origin) };
  const result = await http.call({}, binding as unknown as Parameters<typeof http.call>[1], openCallContext(t));
  t.strictSame(result, { zip: '01234', phone: '+351912345678', colour: '0x1F', low: -0.5, days: 10 });
});

t.test('characters that XML writes as their numbers are read as what they are', async (t) => {
  const body =
    '<a at="it&#39;s"><t>S&#227;o&#x20;Paulo &lt;3&gt; &amp;#227; &amp;lt;</t><c><![CDATA[&#227; <b>]]></c></a>';
  const read = { a: { at: "it's", t: 'S\u00e3o Paulo <3> &#227; &lt;', c: '&#227; <b>' } };
  t.same(await madeOf(t, 'text/xml', body), read);
});

t.test('a tag of XML that ends in blanks is read at once, and keeps nobody waiting', async (t) => {
  const blanks = ' '.repeat(2_000_000);
  const body = `<a${blanks}><b c="1"\n${blanks}>${blanks}> 2</b${blanks}><d${blanks}/></a>`;
  t.same(await madeOf(t, 'text/xml', body), { a: { b: { c: '1', '#text': '> 2' }, d: '' } });
  t.match(await madeOf(t, 'text/xml', `<a${blanks}="1"/>`), { failure: 'malformed' });
});

t.test('what asText names stays a text in XML, also where it is a number once', async (t) => {
  const body = '<books><book><title>1984</title><pages n="328">328</pages><v>1.10</v></book></books>';
  const more = { result: 'books.book', asText: ['title', 'v'] };
  const read = { title: '1984', pages: { '#text': 328, n: '328' }, v: '1.10' };
  t.strictSame(await madeOf(t, 'application/xml', body, more), read);
});

t.test('elements of XML are a list, whether they come never, once or often', async (t) => {
  const more = { result: '{all: [feed.entry][?@][].{id: id, by: by."#text"}}' };
  const entry = (id: number) => `<entry><id>${id}</id><by role="a">Ada</by></entry>`;
  for (const ids of [[], [1], [1, 2]]) {
    const all = ids.map((id) => ({ id, by: 'Ada' }));
    t.same(await madeOf(t, 'text/xml', `<feed>${ids.map(entry).join('')}</feed>`, more), { all });
  }
});

t.test('an answer in which the expression finds nothing is none, and one in which it finds little is', async (t) => {
  const asked = async (result: string, answer: unknown) => {
    const { origin } = await serve(t, (_request, response) =>
      typeof answer === 'string'
        ? response.writeHead(200, { 'content-type': 'text/html' }).end(answer)
        : json(response, 200, answer),
    );
    const binding = { options: { path: '/', result }, upstream: 'weather', http: connect(t, origin) };
    return await http
      .call({}, binding as unknown as Parameters<typeof http.call>[1], openCallContext(t))
      .catch((error) => error);
  };
  const wanted = '{warmest: max, place: {city: city, days: days[].day}}';
  const nothing = { name: 'UpstreamProblem', failure: 'malformed' };
  t.match(await asked(wanted, '<html>Down for maintenance</html>'), nothing);
  t.match(await asked(wanted, { error: 'try later' }), nothing);
  t.match(await asked('data', { data: { max: null } }), nothing);
  t.same(await asked(wanted, { days: [] }), { place: { days: [] } });
  t.same(await asked(wanted, { max: 0 }), { warmest: 0, place: {} });
  t.same(await asked('balances', { balances: {} }), {}, 'an empty object that is there is an answer');
});
