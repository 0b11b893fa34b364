import t, { type Test } from 'tap';
import { http } from '../../src/upstream/providers/http/adapter.ts';
import { parts, problemsOf, replaced, rightFiles, writeCatalogue } from './temporary-catalogue.ts';

const upstreams = `${rightFiles['upstreams.yaml']}weather:
  adapter: http
  baseUrl: https://weather.example/v1
  keys: { key: WEATHER_KEY }
  settings: { authorize: { bearer: key } }
`;

const forecast = `summary: A forecast
path: /weather/forecast
price: { rule: fixed, amount: "0.01" }
request:
  required: [city]
  properties:
    city: { type: string, format: path-segment }
    days: { type: integer, default: 2 }
result: { required: [warmest], properties: { warmest: { type: number } }, examples: [{ warmest: 20 }] }
example: { city: Lisbon }
upstream:
  via: weather
  method: GET
  path: /forecast/{city}
  query: { days: days }
  result: "{warmest: max(days[].max_c)}"
  example: { days: [{ max_c: 24 }, { max_c: 25 }] }
`;

const check = (t: Test, changes: { upstreams?: string; forecast?: string }) =>
  problemsOf(
    writeCatalogue(t, {
      'upstreams.yaml': changes.upstreams ?? upstreams,
      'endpoints/weather/forecast.yaml': changes.forecast ?? forecast,
    }),
    { ...parts, adapters: [...parts.adapters, http] },
  );

/** The forecast with pieces of text replaced, which must be there. */
const changed = (...changes: [from: string, to: string][]): string =>
  changes.reduce((text, [from, to]) => replaced(text, from, to), forecast);

t.test('an upstream of no adapter of its own is right as it is', async (t) => {
  t.same(check(t, {}), []);
});

const FILE = 'endpoints/weather/forecast.yaml';

t.test('a default says nothing of what a provider answers: a result that lacks it does not fit', async (t) => {
  const result = replaced(
    forecast,
    'required: [warmest], properties: { warmest: { type: number } }, examples: [{ warmest: 20 }]',
    'required: [warmest, unit], properties: { warmest: { type: number }, unit: { type: string, default: C } }, examples: [{ warmest: 20, unit: C }]',
  );
  t.match(check(t, { forecast: result }), [
    /^endpoints\/weather\/forecast.yaml:17:3: what is made of this answer does not fit result: .*unit/,
  ]);
  const example = replaced(result, 'examples: [{ warmest: 20, unit: C }]', 'examples: [{ warmest: 20 }]');
  t.match(check(t, { forecast: replaced(example, 'max(days[].max_c)}', "max(days[].max_c), unit: 'C'}") }), [
    /^endpoints\/weather\/forecast.yaml:9:\d+: the example of result does not fit its schema: .*unit/,
  ]);
  t.match(check(t, { forecast: replaced(result, 'default: C', 'default: 7') }), [
    /^endpoints\/weather\/forecast.yaml:9:\d+: the default of unit is refused by its own schema/,
  ]);
});

const mistakes: [promise: string, change: [from: string, to: string], problem: string | RegExp | string[]][] = [
  [
    'an expression that is none',
    ['max(days[].max_c)', 'max(days[].max_c'],
    /^endpoints\/weather\/forecast.yaml:16:11: not JMESPath: .*; see jmespath.org for its grammar$/,
  ],
  [
    'a function that does not exist',
    ['max(days', 'maximum(days'],
    `${FILE}:16:11: not JMESPath: there is no function maximum; see jmespath.org for its grammar`,
  ],
  [
    'a field that the request does not have',
    ['{ days: days }', '{ days: days, more: dais }'],
    `${FILE}:15:30: query.more takes the field dais, which request does not have; did you mean days? There are: city, days`,
  ],
  [
    'a text that is meant to be sent as it is',
    ['{ days: days }', '{ days: days, units: metric }'],
    `${FILE}:15:31: query.units takes the field metric, which request does not have; there are: city, days; what is the same in every call is written { value: "metric" }`,
  ],
  [
    'a path that a caller can lead elsewhere',
    ['type: string, format: path-segment', 'type: string'],
    `${FILE}:14:9: path takes city, which may be "": that leads to another path; format: path-segment for city, an enum or a pattern`,
  ],
  [
    'a path that no request line can hold',
    ['path: /forecast/{city}', 'path: "/fore cast/{city}"'],
    `${FILE}:14:9: path holds " ", which no path can; write %20`,
  ],
  [
    'a path with half a character',
    ['path: /forecast/{city}', 'path: "/fore\\ud800cast/{city}"'],
    `${FILE}:14:9: path holds "\\ud800", which no path can; leave it out`,
  ],
  [
    'a path in letters that are not escaped',
    ['path: /forecast/{city}', 'path: /予報/{city}'],
    `${FILE}:14:9: path holds "予", which no path can; write %E4%BA%88`,
  ],
  [
    'braces that name no field',
    ['path: /forecast/{city}', 'path: "/forecast/{}/{city}"'],
    `${FILE}:14:9: path holds "{", which no path can; write %7B`,
  ],
  [
    'braces in braces',
    ['path: /forecast/{city}', 'path: "/forecast/{{city}}"'],
    `${FILE}:14:9: path holds "{", which no path can; write %7B`,
  ],
  [
    'a path of a job that no request line can hold',
    [
      'query: { days: days }',
      'poll: { path: "/the jobs/{id}", until: "days[0].max_c == `24`" }\n  query: { days: days }',
    ],
    `${FILE}:15:17: poll.path holds " ", which no path can; write %20`,
  ],
  [
    'a path of a job that leads nowhere',
    ['query: { days: days }', 'poll: { path: "jobs/{id}", until: "days[0].max_c == `24`" }\n  query: { days: days }'],
    `${FILE}:15:17: poll.path is no path; begin it with /, or write one place alone for a whole address: "{url}"`,
  ],
  [
    'a text of every call that no header can hold',
    ['query: { days: days }', 'query: { days: days }\n  headers: { x-shop: { value: "Café ☕" } }'],
    `${FILE}:16:22: a header takes printable ASCII alone, and this is sent: "Café ☕"; write it in other characters`,
  ],
  [
    'a renamed value that no header can hold',
    ['query: { days: days }', 'headers: { x-days: { from: days, values: { "2": "two\\nthree" } } }'],
    `${FILE}:15:22: a header takes printable ASCII alone, and this is sent: "two\\nthree"; write it in other characters`,
  ],
  [
    'a field with members in a query',
    ['days: { type: integer, default: 2 }', 'days: { type: object, properties: { a: { type: string } } }'],
    `${FILE}:15:18: a query takes texts, numbers, booleans and lists of them, and days may be an object; name its members in a body, or give it another type`,
  ],
  [
    'a list of objects in a query',
    ['days: { type: integer, default: 2 }', 'days: { type: [array, "null"], items: { type: object } }'],
    `${FILE}:15:18: a query takes texts, numbers, booleans and lists of them, and days may hold an object; name its members in a body, or give it another type`,
  ],
  [
    'a list of objects in a query, where it may be something else as well',
    [
      'days: { type: integer, default: 2 }',
      'days: { anyOf: [{ type: integer }, { type: array, items: { type: object } }] }',
    ],
    `${FILE}:15:18: a query takes texts, numbers, booleans and lists of them, and days may hold an object; name its members in a body, or give it another type`,
  ],
  [
    'a place in the path that a request may leave out',
    ['required: [city]', 'required: []'],
    `${FILE}:7:11: weather needs city in every call, and request may leave it out; city in required, or a default`,
  ],
  [
    'a header that cannot hold what a field takes',
    ['query: { days: days }', 'headers: { x-days: days, x-city: city }'],
    `${FILE}:15:36: a header takes printable ASCII alone, and city takes more; pattern: "^[ -~]*$" for city`,
  ],
  [
    'an example of which no result can be made',
    ['{ max_c: 25 }', '{ max_c: warm }'],
    `${FILE}:17:12: the answer does not fit the expression {warmest: max(days[].max_c)}; write an answer as the provider gives it`,
  ],
  [
    'an example in which nothing is found',
    ['{warmest: max(days[].max_c)}', '{warmest: hottest}'],
    `${FILE}:17:12: the answer holds nothing of {warmest: hottest}; write an answer as the provider gives it`,
  ],
  [
    'an example whose result does not fit',
    ['{warmest: max(days[].max_c)}', '{warmest: days}'],
    /^endpoints\/weather\/forecast.yaml:17:3: what is made of this answer does not fit result: warmest: .*number/,
  ],
  [
    'an expression that computes, without an example',
    ['  example: { days: [{ max_c: 24 }, { max_c: 25 }] }\n', ''],
    `${FILE}:16:11: the sandbox cannot make an answer of which this makes a result; add example: an answer of the provider, or sandbox: real to the upstream`,
  ],
  [
    'a body in a GET request',
    ['query: { days: days }', 'body: { days: days }'],
    `${FILE}:15:9: a GET request has no body; query, or another method`,
  ],
  [
    'a download of what the result does not have',
    ['query: { days: days }', 'download: [warmst]\n  query: { days: days }'],
    `${FILE}:15:14: download names warmst, which the result does not have; did you mean warmest? There are: warmest`,
  ],
  [
    'a download of what is inside a field of the result',
    ['query: { days: days }', 'download: ["warmest.url"]\n  query: { days: days }'],
    `${FILE}:15:14: download names warmest.url, which the result does not have; there are: warmest`,
  ],
  [
    'a job that is looked at after the call has ended',
    [
      'query: { days: days }',
      'poll: { path: "/jobs/{id}", until: "days[0].max_c == `24`", every: 1m }\n  query: { days: days }',
    ],
    `${FILE}:15:70: poll.every is 1m, and a call may end after 45s; write less than the deadline, or a longer deadline`,
  ],
  [
    'a job that no id leads to',
    ['query: { days: days }', 'poll: { path: /jobs/last, until: "days[0].max_c == `24`" }\n  query: { days: days }'],
    `${FILE}:15:17: poll asks for the same job every time; write {id} where its id is in the first answer, or in body`,
  ],
  [
    'a job whose body names it by what is no expression',
    [
      'query: { days: days }',
      'poll: { path: /jobs, body: { of: ["{job[}"] }, until: "days[0].max_c == `24`" }\n  query: { days: days }',
    ],
    /^endpoints\/weather\/forecast\.yaml:15:30: not JMESPath/,
  ],
  [
    'a job without an example of its end',
    ['query: { days: days }', 'query: { days: days }\n  poll: { path: "/jobs/{id}", until: done }'],
    `${FILE}:18:12: poll.until is not true of this answer; write the last answer, of a job that is done`,
  ],
  [
    'a job that is nowhere',
    ['query: { days: days }', 'poll: { until: "days[0].max_c == `24`" }\n  query: { days: days }'],
    `${FILE}:15:9: poll does not say where the job is; add path or header`,
  ],
  [
    'a job that is in two places',
    [
      'query: { days: days }',
      'poll: { path: "/jobs/{id}", header: location, until: "days[0].max_c == `24`" }\n  query: { days: days }',
    ],
    `${FILE}:15:39: poll says twice where the job is; write path or header`,
  ],
  [
    'a job whose result is elsewhere, without an example of its end',
    [
      'query: { days: days }',
      'poll: { path: "/jobs/{id}", resultAt: "/sets/{set}", until: done }\n  query: { days: days }',
    ],
    `${FILE}:15:41: the sandbox has no answer of a job whose result is elsewhere; add poll.done: an answer of a job that is done, or sandbox: real to the upstream`,
  ],
  [
    'a job whose end is none',
    [
      'query: { days: days }',
      'poll: { path: "/jobs/{id}", resultAt: "/sets/{set}", until: ready, done: { ready: no } }\n  query: { days: days }',
    ],
    `${FILE}:15:76: poll.until is not true of this answer; write an answer of a job that is done`,
  ],
  [
    'a job whose end does not say where its result is',
    [
      'query: { days: days }',
      'poll: { path: "/jobs/{id}", resultAt: "/sets/{set}", until: ready, done: { ready: true } }\n  query: { days: days }',
    ],
    `${FILE}:15:76: poll.resultAt takes set, which this answer does not have; write an answer as the provider gives it`,
  ],
  [
    'an end of a job that has its result itself',
    [
      'query: { days: days }',
      'poll: { path: "/jobs/{id}", until: "days[0].max_c == `24`", done: { id: 1 } }\n  query: { days: days }',
    ],
    `${FILE}:15:69: the job itself has the result; leave it out: example is the job's last answer`,
  ],
  [
    'a file in base64 of what the result does not have',
    ['query: { days: days }', 'decode: { map: image }\n  query: { days: days }'],
    [
      `${FILE}:15:11: the sandbox cannot put a file into an answer of which this makes a result; name members alone in result, or sandbox: real to the upstream`,
      `${FILE}:15:18: decode names map, which the result does not have; there are: warmest`,
    ],
  ],
  [
    'an example that tells of a failure',
    ['query: { days: days }', 'query: { days: days }\n  failed: days'],
    `${FILE}:18:12: failed is true of this answer; write an answer of a call that succeeded`,
  ],
  [
    'a failure in answers that the sandbox would have to invent',
    [
      '  result: "{warmest: max(days[].max_c)}"\n  example: { days: [{ max_c: 24 }, { max_c: 25 }] }\n',
      '  failed: error\n',
    ],
    `${FILE}:16:11: the sandbox cannot make an answer of which this makes a result; add example: an answer of the provider, or sandbox: real to the upstream`,
  ],
  [
    'a form that has no fields',
    ['method: GET', 'body: { from: days }\n  encoding: form'],
    `${FILE}:13:9: a form has fields, and this body has none; input, or a map of fields`,
  ],
  [
    'a way to write a body where there is none',
    ['method: GET', 'encoding: form'],
    `${FILE}:13:13: there is no body to be written; add body, or leave it out`,
  ],
  [
    'a form that is called otherwise',
    ['method: GET', 'body: { d: days }\n  encoding: multipart\n  headers: { Content-Type: { value: form } }'],
    `${FILE}:15:28: encoding says the type of the body; leave it out`,
  ],
  [
    'a file in JSON',
    ['  method: GET\n', '  upload: { page: city }\n'],
    [
      `${FILE}:13:11: a file is a part of a body; add encoding: multipart`,
      `${FILE}:13:19: upload reads the file at city, which may be "no address"; format: uri, and pattern: ^https:// for it`,
    ],
  ],
  [
    'a file at a number',
    ['method: GET', 'encoding: multipart\n  upload: { page: days }'],
    `${FILE}:14:19: upload reads the file at days, which may be number; name a field that is a text, or a list of texts`,
  ],
  [
    'a file at a field that the request does not have',
    ['method: GET', 'encoding: multipart\n  upload: { page: day }'],
    `${FILE}:14:19: upload.page takes the field day, which request does not have; did you mean days? There are: city, days`,
  ],
];

for (const [promise, [from, to], problem] of mistakes) {
  t.test(`is refused at its place: ${promise}`, async (t) => {
    const found = check(t, { forecast: replaced(forecast, from, to) });
    const problems = [problem].flat();
    t.match(found, problems);
    t.equal(found.length, problems.length, found.join());
  });
}

t.test('files that a list names have to be so many at most: each is read', async (t) => {
  const files = (most: string) =>
    changed(
      [
        'days: { type: integer, default: 2 }',
        `days: { type: array, ${most}items: { type: string, format: uri, pattern: "^https://" } }`,
      ],
      ['method: GET', 'encoding: multipart\n  upload: { page: days }'],
      ['  query: { days: days }\n', ''],
    );
  t.same(check(t, { forecast: files('') }), [
    `${FILE}:14:19: upload reads every file that days names, however many; maxItems for days`,
  ]);
  t.same(check(t, { forecast: files('maxItems: 9, ') }), []);
});

t.test('an answer that is a file tells of no failure', async (t) => {
  const file = changed(['result: "{warmest: max(days[].max_c)}"', 'result: { file: image }\n  failed: error']);
  const wrong = `${FILE}:17:11: an answer that is a file has no fields; leave it out: whatever is no such file has failed`;
  t.ok(check(t, { forecast: file }).includes(wrong));
});

t.test('a file in base64 is an address in the result, and its example too', async (t) => {
  const file = (schema: string, example: string) =>
    changed(
      [
        'result: { required: [warmest], properties: { warmest: { type: number } }, examples: [{ warmest: 20 }] }',
        schema,
      ],
      ['result: "{warmest: max(days[].max_c)}"', 'result: "{maps: maps}"\n  decode: { maps: image }'],
      ['example: { days: [{ max_c: 24 }, { max_c: 25 }] }', `example: { maps: ${example} }`],
    );
  const address = '{ type: string, format: uri, pattern: "^https?://" }';
  const resultOf = (schema: string, example: string) =>
    `result: { required: [maps], properties: { maps: ${schema} }, examples: [{ maps: ${example} }] }`;
  const one = resultOf(address, '"https://example.com/1.png"');
  const many = resultOf(`{ type: array, items: ${address} }`, '["https://example.com/1.png"]');
  t.same(check(t, { forecast: file(one, 'iVBORw0KGgo=') }), []);
  t.same(check(t, { forecast: file(many, '[iVBORw0KGgo=, iVBORw0KGgo=]') }), []);
  t.match(check(t, { forecast: file(many, 'iVBORw0KGgo=') }), [/what is made of this answer does not fit result/]);
});

t.test('what is read as a text is a text in the result, and an answer that is a file has none of it', async (t) => {
  const read = changed([
    'result: "{warmest: max(days[].max_c)}"',
    'asText: [max_c]\n  result: "{warmest: days[0].max_c}"',
  ]);
  t.match(check(t, { forecast: read }), [/:18:3: what is made of this answer does not fit result: .*warmest.*number/]);
  t.same(
    check(t, {
      forecast: replaced(
        read,
        '{ type: number } }, examples: [{ warmest: 20',
        '{ type: string } }, examples: [{ warmest: "20"',
      ),
    }),
    [],
  );
  const file = check(t, { forecast: replaced(read, '"{warmest: days[0].max_c}"', '{ file: image }') });
  t.ok(file.includes(`${FILE}:16:11: an answer that is a file has no members; leave it out`), file.join());
});

t.test('keys are never sent in clear to another machine, and are all named', async (t) => {
  const problems = check(t, { upstreams: replaced(upstreams, 'https://weather', 'http://weather') });
  t.same(problems, ['upstreams.yaml:12:12: http is for an upstream on this machine alone; write an https URL']);
  t.same(check(t, { upstreams: replaced(upstreams, 'https://weather.example', 'http://localhost:8080') }), []);
  const unnamed = replaced(upstreams, '{ bearer: key }', '{ basic: "{user}:{key}" }');
  t.same(check(t, { upstreams: unnamed }), [
    'upstreams.yaml:10:1: the adapter http needs the secret user; add keys: { user: NAME_OF_AN_ENVIRONMENT_VARIABLE }',
  ]);
});

t.test('a list that is paid for by the item and passed on as it is cannot hold the same twice', (t) => {
  const byCity = changed(
    ['fixed, amount', 'per-item, by: cities, amount'],
    ['required: [city]', 'required: [city, cities]'],
    ['    days: {', '    cities: { type: array, minItems: 1, maxItems: 5, items: { type: string } }\n    days: {'],
    ['{ city: Lisbon }', '{ city: Lisbon, cities: [Porto] }'],
    ['{ days: days }', '{ days: days, and: cities }'],
  );
  t.same(check(t, { forecast: byCity }), [
    `${FILE}:3:30: the price counts what stands twice in cities once, and weather is asked for it twice; uniqueItems: true for cities`,
  ]);
  t.same(check(t, { forecast: replaced(byCity, 'maxItems: 5', 'maxItems: 5, uniqueItems: true') }), []);
  t.end();
});

t.test('a key in braces without quotes is a map, and one mistake', async (t) => {
  const [found, ...others] = check(t, { upstreams: replaced(upstreams, '{ bearer: key }', '{ bearer: {key} }') });
  t.equal(
    found,
    'upstreams.yaml:14:36: {"key":null} is of the wrong type; write the name of one of keys, without braces',
  );
  t.same(others, []);
});

/** What is found where the upstream says so of who calls. */
const authorizing = (t: Test, authorize: string) =>
  check(t, { upstreams: replaced(upstreams, '{ bearer: key }', authorize) });

t.test('of a key that is said in another way than any of the ways, the nearest one is told', async (t) => {
  const saying = (authorize: string) => authorizing(t, authorize);
  const at = 'upstreams.yaml:14';
  t.same(saying('{ bearer: "{key}" }'), [
    `${at}:36: "{key}" does not fit; write the name of one of keys, without braces`,
  ]);
  t.same(saying('{ header: x-api-key }'), [`${at}:15: authorize lacks the key value; add value`]);
  t.same(saying('[{ bearer: key }, { header: x-key }]'), [`${at}:44: authorize.1 lacks the key value; add value`]);
  t.same(saying('{ token: key }'), [
    `${at}:26: {"token":"key"} fits none of the forms allowed; add bearer, or add header and add value, or add query and add value, or add path, or add basic, or add oauth, or add jwt and add key, or add aws and add region and add id and add key, or write array`,
  ]);
});

t.test('a map that has nothing of any form is told of each, and one with a name like another by itself', async (t) => {
  const reading = (from: string, to: string) => check(t, { forecast: replaced(forecast, from, to) });
  t.equal(
    reading('"{warmest: max(days[].max_c)}"', '{ warmest: hottest }')[0],
    `${FILE}:16:11: {"warmest":"hottest"} fits none of the forms allowed; write string, or add file`,
  );
  t.same(reading('{ days: days }', '{ d: { from: days, scal: 2 }, days: { value: 3, scale: 2 } }'), [
    `${FILE}:15:29: unknown key scal; did you mean scale? There are: from, values, first, scale, join`,
    `${FILE}:15:58: unknown key scale; there are: value`,
  ]);
});

t.test('of several places each key is known, and each mistake is told where it is', async (t) => {
  const several = (keys: string, authorize: string) =>
    check(t, {
      upstreams: replaced(
        replaced(upstreams, '{ key: WEATHER_KEY }', keys),
        'authorize: { bearer: key }',
        `authorize: ${authorize}`,
      ),
    });
  const both = '[{ query: app_id, value: "{id}" }, { bearer: key }]';
  t.same(several('{ id: WEATHER_ID, key: WEATHER_KEY }', both), []);
  t.same(several('{ key: WEATHER_KEY }', both), [
    'upstreams.yaml:10:1: the adapter http needs the secret id; add keys: { id: NAME_OF_AN_ENVIRONMENT_VARIABLE }',
  ]);
  t.match(several('{ key: WEATHER_KEY }', '[]'), [/^upstreams.yaml:14:26: /]);
  t.match(several('{ key: WEATHER_KEY }', '[{ header: x-key, value: none }]'), [/^upstreams.yaml:14:\d+: .*\{key\}/]);
});

t.test('a token is asked for by all keys that it needs, and never in clear', async (t) => {
  const asking = (authorize: string) => authorizing(t, authorize);
  t.same(asking('{ oauth: "https://accounts.example/token", client: "{key}:" }'), []);
  t.same(asking('{ oauth: /token, fields: { client_secret: "{key}", scope: read } }'), []);
  t.match(asking('{ oauth: /token, client: "{id}:{key}" }'), [/needs the secret id/]);
  t.match(asking('{ oauth: "http://accounts.example/token", client: "{key}:" }'), [/^upstreams.yaml:14:\d+: /]);
});

t.test('a token that is signed here is signed by a key that there is, in a way that there is', async (t) => {
  const signing = (authorize: string) => authorizing(t, authorize);
  t.same(signing('{ jwt: HS256, key: key, claims: { iss: shop, admin: false }, lasts: 20m }'), []);
  t.same(signing('{ oauth: /token, assertion: { jwt: RS256, key: key } }'), []);
  t.match(signing('{ jwt: HS256, key: key, claims: { iss: "{id}" } }'), [/needs the secret id/]);
  t.match(
    signing('{ jwt: HS256, key: key, claims: { iss: "{id}" }, header: { iss: "{key}" } }'),
    [/needs the secret id/],
    'also of a claim that stands in the header too',
  );
  t.match(signing('{ oauth: /token, assertion: { jwt: RS256, key: pem }, client: "{key}:" }'), [
    /needs the secret pem/,
  ]);
  t.match(signing('{ jwt: none, key: key }'), [/^upstreams\.yaml:14:\d+: .*HS256/]);
  t.match(signing('{ jwt: HS256, key: key, lasts: 30s }'), [/^upstreams\.yaml:14:\d+: .*minutes or hours/]);
});

t.test('where each request is signed, all its keys are there, and nothing is put into it after that', async (t) => {
  const signing = (authorize: string) => authorizing(t, authorize);
  const aws = 'aws: bedrock, region: eu-west-1';
  t.same(signing(`{ ${aws}, id: key, key: key }`), []);
  t.same(signing(`[{ ${aws}, id: key, key: key }, { header: x-tenant, value: "{key}" }]`), []);
  t.match(signing(`{ ${aws}, id: id, key: key }`), [/needs the secret id/]);
  t.match(signing(`{ ${aws}, id: key, key: key, session: token }`), [/needs the secret token/]);
  t.match(signing(`{ ${aws}, id: "{key}", key: key }`), [/^upstreams\.yaml:14:\d+: .*without braces/]);
  t.match(signing('{ aws: bedrock, id: key, key: key }'), [/^upstreams\.yaml:14:\d+: .*add region/]);
  t.match(signing('{ aws: Bedrock, region: eu-west-1, id: key, key: key }'), [/small letters/]);
  t.same(signing(`[{ query: app, value: "{key}" }, { ${aws}, id: key, key: key }, { path: "/{key}" }]`), [
    'upstreams.yaml:14:27: the query parameter app is signed, and a key would be put there after that; leave one of the two out',
    'upstreams.yaml:14:115: the path is signed, and a key would be put there after that; leave one of the two out',
  ]);
  t.match(signing(`[{ bearer: key }, { ${aws}, id: key, key: key }]`), [/the header authorization is filled already/]);
});

t.test('two ways that fill one place are refused, for one of them would not be sent', async (t) => {
  const sending = (...ways: string[]) => authorizing(t, `[${ways.join(', ')}]`);
  t.same(sending('{ bearer: key }', '{ header: x-key, value: "{key}" }', '{ query: key, value: "{key}" }'), []);
  t.same(sending('{ bearer: key }', '{ basic: "{key}:" }'), [
    'upstreams.yaml:14:44: the header authorization is filled already; leave one of the two out',
  ]);
  t.match(sending('{ header: X-Key, value: "{key}" }', '{ header: x-key, value: "id {key}" }'), [
    /the header x-key is filled already/,
  ]);
  t.match(sending('{ jwt: HS256, key: key }', '{ oauth: /token, client: "{key}:" }'), [/the header authorization/]);
  t.match(sending('{ header: Authorization, value: "Key {key}" }', '{ bearer: key }'), [/the header authorization/]);
});

t.test('a key that is sent nowhere is refused', async (t) => {
  t.same(check(t, { upstreams: replaced(upstreams, '  settings: { authorize: { bearer: key } }\n', '') }), [
    'upstreams.yaml:13:11: no setting says where key is sent; add settings: { authorize: { bearer: key } }, or leave it out',
  ]);
});

t.test('a key in the address of an upstream would be sent as it stands there, and is refused', async (t) => {
  t.same(check(t, { upstreams: replaced(upstreams, 'weather.example/v1', 'weather.example/v1/{key}') }), [
    'upstreams.yaml:12:12: the address holds {key}, which is sent as it stands; write the address without it, and settings: { authorize: { path: "/{key}" } }',
  ]);
});

const HEADER_NAME =
  'write the name of a header; those of the connection are not yours to set: host, connection, keep-alive, content-length, transfer-encoding, upgrade, expect, accept-encoding';

t.test("headers of the connection are nobody's to set: no call could be made, or no answer be read", async (t) => {
  const ofUpstream = (settings: string) => check(t, { upstreams: replaced(upstreams, '{ bearer: key } }', settings) });
  t.same(ofUpstream('{ bearer: key }, headers: { Content-Length: "3" } }'), [
    `upstreams.yaml:14:54: "Content-Length" does not fit; ${HEADER_NAME}`,
  ]);
  const header = (name: string) => changed(['query: { days: days }', `headers: { ${name}: days }`]);
  for (const name of ['CONNECTION', 'host', 'expect', 'Accept-Encoding'])
    t.same(check(t, { forecast: header(name) }), [`${FILE}:15:14: "${name}" does not fit; ${HEADER_NAME}`], name);
  t.same(check(t, { forecast: header('expected') }), []);
});

t.test('what an upstream is always sent in headers can stand there', async (t) => {
  const of = (headers: string) =>
    check(t, { upstreams: replaced(upstreams, '{ bearer: key } }', `{ bearer: key }, headers: { ${headers} } }`) });
  t.same(of('Accept: "text/plain; q=0.5", X_Shop: "one, two"'), []);
  t.same(of('"x shop": one'), [`upstreams.yaml:14:54: "x shop" does not fit; ${HEADER_NAME}`]);
  t.same(of('x-shop: "one\\ntwo"'), [
    'upstreams.yaml:14:62: "one\\ntwo" does not fit; write printable ASCII on one line',
  ]);
});

t.test('a header takes no field with members, and a query whatever is renamed or listed', async (t) => {
  const header = changed(
    ['days: { type: integer, default: 2 }', 'days: { type: object, properties: { a: { type: string } } }'],
    ['query: { days: days }', 'headers: { x-days: days }'],
  );
  t.same(check(t, { forecast: header }), [
    `${FILE}:15:22: a header takes texts, numbers, booleans and lists of them, and days may be an object; name its members in a body, or give it another type`,
  ]);
  for (const [field, source] of [
    ['{ type: array, items: { type: [integer, string] } }', 'days'],
    ['{ type: [array, "null"], items: { enum: [a, 1] } }', '{ from: days, join: ";" }'],
    ['{ type: [boolean, "null"] }', 'days'],
  ] as const) {
    const fits = changed(['{ type: integer, default: 2 }', field], ['{ days: days }', `{ days: ${source} }`]);
    t.same(check(t, { forecast: fits }), [], field);
  }
});

t.test('what a mapping renames in a list is a value of its items', async (t) => {
  const renamed = changed(
    ['{ type: integer, default: 2 }', '{ type: array, items: { type: string, enum: [one, two] } }'],
    ['{ days: days }', '{ days: { from: days, values: { one: 1, too: 2 } } }'],
  );
  t.same(check(t, { forecast: renamed }), [
    `${FILE}:15:50: request takes no too for days; did you mean two? There are: one, two`,
  ]);
});

t.test('a header takes no list whose texts it cannot hold, nor a field that may be such a text', async (t) => {
  const of = (field: string) =>
    check(t, {
      forecast: changed(
        ['{ type: integer, default: 2 }', field],
        ['query: { days: days }', 'headers: { x-days: days }'],
      ),
    });
  const refused = (column: number, where: string) => [
    `${FILE}:15:${column}: a header takes printable ASCII alone, and days takes more; pattern: "^[ -~]*$" for ${where}`,
  ];
  t.same(of('{ type: array, items: { type: string } }'), refused(22, 'the items of days'));
  t.same(of('{ type: [string, "null"] }'), refused(22, 'days'));
  t.same(of('{ type: array, items: { type: string, pattern: "^[ -~]*$" } }'), []);
  t.same(of('{ type: array, items: { enum: [one, two] } }'), []);
});

t.test(
  'a mapping multiplies numbers, and joins lists or takes their first: else the value would be sent as it came',
  async (t) => {
    const of = (field: string, taken: string) =>
      check(t, {
        forecast: changed(
          ['{ type: integer, default: 2 }', field],
          ['{ days: days }', `{ days: { from: days, ${taken} } }`],
        ),
      });
    const refused = (wrong: string) => [`${FILE}:15:32: ${wrong}; leave it out, or name another field`];
    const texts = '{ type: string, enum: ["1", "2"] }';
    t.same(of(texts, 'scale: 24'), refused('scale multiplies numbers, and days is string in request'));
    t.same(of(texts, 'join: ","'), refused('join makes one text of a list, and days is no list in request'));
    t.same(of(texts, 'first: true'), refused('first takes the first of a list, and days is no list in request'));
    t.same(
      of('{ type: array, items: { type: string } }', 'scale: 24'),
      refused('scale multiplies numbers, and days is string in request'),
    );
    t.same(of('{ type: array, items: { type: integer } }', 'scale: 24, join: ","'), []);
    t.same(of('{ type: [array, "null"], items: { type: string } }', 'first: true'), []);
    t.same(of('{ type: [integer, "null"] }', 'scale: 24'), []);
  },
);

t.test('a path is not led elsewhere by a field that takes other types as well, or long texts alone', async (t) => {
  const of = (field: string, city: string) =>
    check(t, {
      forecast: changed(['{ type: string, format: path-segment }', field], ['{ city: Lisbon }', `{ city: ${city} }`]),
    });
  const refused = (text: string) => [
    `${FILE}:14:9: path takes city, which may be ${JSON.stringify(text)}: that leads to another path; format: path-segment for city, an enum or a pattern`,
  ];
  t.same(of('{ type: [string, integer] }', 'Lisbon'), refused(''));
  t.same(of('{ anyOf: [{ type: string, minLength: 1 }, { type: integer }] }', 'Lisbon'), refused('.'));
  t.same(of('{ type: string, minLength: 9 }', 'Vila Nova de Gaia'), refused(`a/../${'b'.repeat(9)}`));
  t.same(of('{ anyOf: [{ type: string, pattern: "^[A-Z][a-z]+$" }, { type: integer }] }', 'Lisbon'), []);
});

t.test('a field of a path or a header whose own schema is wrong is reported for that alone', async (t) => {
  const inHeader = ['query: { days: days }', 'headers: { x-days: days }'] as [string, string];
  for (const [change, problem] of [
    [
      changed(['format: path-segment', 'maxlength: 80']),
      `${FILE}:7:27: maxlength is no JSON Schema keyword; did you mean maxLength?`,
    ],
    [changed(['format: path-segment', 'minLength: -1']), `${FILE}:7:38: not JSON Schema: -1 must be >= 0`],
    [
      changed(['type: integer, default: 2', 'type: string, pattern: "["'], inHeader),
      /^endpoints\/weather\/forecast.yaml:8:36: not a regular expression/,
    ],
  ] as const) {
    const [found, ...others] = check(t, { forecast: change });
    t.match(found, problem);
    t.same(others, []);
  }
});

t.test('a query is sent no object, neither in every call nor for a value', async (t) => {
  const of = (source: string) =>
    check(t, { forecast: changed(['query: { days: days }', `query: { days: days, more: ${source} }`]) });
  const refused = [
    `${FILE}:15:30: a query takes texts, numbers, booleans and lists of them, and not {"kind":"day"}; write it as a text, as the provider wants it`,
  ];
  t.same(of('{ value: { kind: day } }'), refused);
  t.same(of('{ from: days, values: { "2": { kind: day } } }'), refused);
  t.same(of('{ value: [1, two, true] }'), []);
});

t.test('a job is asked for at the host of its upstream', async (t) => {
  const of = (path: string) =>
    check(t, {
      forecast: changed([
        'query: { days: days }',
        `poll: { path: "${path}", until: "days != null" }\n  query: { days: days }`,
      ]),
    });
  t.same(of('https://jobs.example/{id}'), [
    `${FILE}:15:17: poll.path is at another host than its upstream, which is at https://weather.example: it would not be asked; write a path at that host`,
  ]);
  t.same(of('https://weather.example/jobs/{id}'), []);
});

t.test('what is downloaded may stand in one of the forms that a result has', (t) => {
  const of = (result: string) =>
    check(t, {
      forecast: changed(
        ['{ required: [warmest], properties: { warmest: { type: number } }, examples: [{ warmest: 20 }] }', result],
        ['query: { days: days }', 'download: [map]\n  query: { days: days }'],
      ),
    });
  const forms =
    'anyOf: [{ required: [warmest] }, { properties: { map: { type: string } } }], examples: [{ warmest: 20 }]';
  t.same(of(`{ ${forms} }`), []);
  t.same(of('{ examples: [{ warmest: 20 }] }'), [], 'nothing is said of its fields');
  t.end();
});

t.test('a job is looked at before each deadline that a call can have', (t) => {
  const polled = changed([
    'query: { days: days }',
    'poll: { path: "/jobs/{id}", until: "days[0].max_c == `24`" }\n  query: { days: days }',
  ]);
  const of = (deadline: string) =>
    check(t, {
      forecast: `deadline: ${deadline}\n${replaced(polled, '{ type: integer, default: 2 }', '{ enum: [1, 2], default: 2 }')}`,
    });
  t.same(of('3s'), []);
  const fault = (deadline: string) => [
    `${FILE}:16:3: poll.every is 2s, and a call may end after ${deadline}; write less than the deadline, or a longer deadline`,
  ];
  t.same(of('2s'), fault('2s'));
  t.same(of('{ by: days, values: { 1: 1500ms, 2: 1m } }'), fault('1.5s'));
  t.end();
});
