import t from 'tap';
import { UpstreamProblem } from '../../../src/upstream/problem.ts';
import { http } from '../../../src/upstream/providers/http/adapter.ts';
import { filledPath } from '../../../src/upstream/providers/http/path.ts';
import { type AdapterCase, adapterContract } from './contract.ts';

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

adapterContract(t, 'a key in the query, and a job', {
  ...base,
  upstream: { ...base.upstream, settings: { authorize: { query: 'api_key', value: '{key}' } } },
  options: {
    path: '/jobs',
    body: 'input',
    status: { 422: 'invalid-input' },
    poll: { path: '/jobs/{job.id}', until: "state == 'done'", every: '1ms', result: 'output' },
    example: { state: 'done', output: { temperature: 20.5, days: [{ max: 1 }, { max: 2 }] } },
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
