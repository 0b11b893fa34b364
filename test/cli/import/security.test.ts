import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { UsageProblem } from '../../../src/cli/command-line.ts';
import { writeCatalogue } from '../../catalogue/temporary-catalogue.ts';
import { documentOf, emptyCatalogue, imported, importedText, propertiesOf, UPSTREAMS } from './imported.ts';

const secured = (securitySchemes: object, security: readonly object[], more: object = {}): string =>
  documentOf({ security, ...more }, { components: { securitySchemes } });

t.test('each security scheme becomes what the upstream sends', async (t) => {
  const key = { key: 'THINGS_API_KEY' };
  const cases = [
    [{ type: 'http', scheme: 'Bearer' }, { bearer: 'key' }, key],
    [{ type: 'apiKey', in: 'header', name: 'X-Key' }, { header: 'X-Key', value: '{key}' }, key],
    [{ type: 'apiKey', in: 'query', name: 'appid' }, { query: 'appid', value: '{key}' }, key],
    [
      { type: 'http', scheme: 'basic' },
      { basic: '{user}:{password}' },
      { user: 'THINGS_USER', password: 'THINGS_PASSWORD' },
    ],
    [{ type: 'openIdConnect', openIdConnectUrl: 'https://id.example' }, { bearer: 'key' }, key],
  ] as const;
  for (const [scheme, authorize, keys] of cases) {
    const { report } = await importedText(t, secured({ way: scheme }, [{ way: [] }]));
    t.match(report.outcomes, [{ kind: 'written' }]);
    t.same(report.upstream.file, {
      adapter: 'http',
      baseUrl: 'https://api.things.example/v1',
      keys,
      settings: { authorize },
    });
  }
});

t.test('of a service of Amazon each request is signed, for the service and the region of its address', async (t) => {
  const hmac = (mark: string) => ({
    hmac: { type: 'apiKey', in: 'header', name: 'Authorization', 'x-amazon-apigateway-authtype': mark },
  });
  const server = (url: string) => ({
    servers: [{ url, variables: { region: { default: 'eu-west-1', enum: ['eu-west-1', 'us-east-1'] } } }],
  });
  const parameters = ['X-Amz-Date', 'X-Amz-Signature', 'X-Amz-Target'].map((name) => ({
    ...{ in: 'header', name, required: true, schema: { type: 'string', enum: ['Speech'] } },
  }));
  const importing = (mark: string, url: string, baseUrl?: string) => {
    const components = { components: { securitySchemes: hmac(mark) } };
    const text = documentOf({ security: [{ hmac: [] }], parameters }, { ...components, ...server(url) });
    return importedText(t, text, { baseUrl });
  };
  const { report, endpoint } = await importing('awsSigv4', 'https://polly.{region}.amazonaws.com');
  t.same(report.upstream.file, {
    adapter: 'http',
    baseUrl: 'https://polly.eu-west-1.amazonaws.com',
    keys: { id: 'POLLY_ACCESS_KEY_ID', key: 'POLLY_SECRET_ACCESS_KEY' },
    settings: { authorize: { aws: 'polly', region: 'eu-west-1', id: 'id', key: 'key' } },
  });
  t.match(Object.keys(endpoint('make').request.properties as object), ['X_Amz_Target']);
  for (const [url, baseUrl, region] of [
    ['https://polly.{region}.amazonaws.com', 'https://polly.ap-south-1.amazonaws.com', 'ap-south-1'],
    ['https://api.things.example/v1', 'https://polly.us-gov-west-1.amazonaws.com/', 'us-gov-west-1'],
    ['https://polly.{region}.amazonaws.com', 'https://voices.example', 'eu-west-1'],
  ] as const) {
    const elsewhere = (await importing('awsSigv4', url, baseUrl)).report;
    t.match(elsewhere.outcomes, [{ kind: 'written' }], baseUrl);
    t.match(elsewhere.upstream.file.settings, { authorize: { aws: 'polly', region } }, baseUrl);
    t.match(elsewhere.remarks.join(), `for the service polly in ${region}`);
  }
  const nowhere = await importing('awsSigv4', 'https://api.things.example/v1');
  t.match(nowhere.report.outcomes, [{ kind: 'left out' }]);
  // Gateways of Amazon's mark so a header that a function of their owner's, or a pool of users, looks at.
  for (const mark of ['custom', 'cognito_user_pools']) {
    const { report } = await importing(mark, 'https://a1.execute-api.{region}.amazonaws.com');
    t.match(report.outcomes, [{ kind: 'written' }], mark);
    t.match(report.upstream.file.settings, { authorize: { header: 'Authorization', value: '{key}' } }, mark);
  }
});

t.test('of several ways the first that can be sent is taken, and callers are not asked for the key', async (t) => {
  const schemes = {
    cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
    header: { type: 'apiKey', in: 'header', name: 'x-key' },
    bearer: { type: 'http', scheme: 'bearer' },
  };
  const parameters = [{ in: 'header', name: 'X-Key', required: true, schema: { type: 'string' } }];
  const text = secured(schemes, [{ cookie: [] }, { header: [] }, { bearer: [] }], { parameters });
  const { report, endpoint } = await importedText(t, text);
  t.same(report.upstream.file.settings, { authorize: { header: 'x-key', value: '{key}' } });
  t.same(endpoint('make').request, { properties: {} });
});

t.test('what needs an id beside its key is sent both, each by a variable of its own', async (t) => {
  const schemes = {
    appId: { type: 'apiKey', in: 'query', name: 'app_id' },
    appKey: { type: 'apiKey', in: 'header', name: 'X-App-Key' },
    bearer: { type: 'http', scheme: 'bearer' },
    basic: { type: 'http', scheme: 'basic' },
  };
  const parameters = ['app_id', 'q'].map((name) => ({ in: 'query', name, schema: { type: 'string' } }));
  const { report, endpoint } = await importedText(t, secured(schemes, [{ appId: [], appKey: [] }], { parameters }));
  t.match(report.outcomes, [{ kind: 'written' }]);
  t.same(report.upstream.file.keys, { app_id: 'THINGS_APP_ID', app_key: 'THINGS_APP_KEY' });
  t.same(report.upstream.file.settings, {
    authorize: [
      { query: 'app_id', value: '{app_id}' },
      { header: 'X-App-Key', value: '{app_key}' },
    ],
  });
  t.same(endpoint('make').request, { properties: { q: { type: 'string' } } });
  const { report: third } = await importedText(t, secured(schemes, [{ bearer: [], appId: [] }]));
  t.same(third.upstream.file.settings, { authorize: [{ bearer: 'bearer' }, { query: 'app_id', value: '{app_id}' }] });
  const { report: both } = await importedText(t, secured(schemes, [{ bearer: [], basic: [] }]));
  t.match(both.outcomes, [{ kind: 'left out', notes: ['needs bearer and basic, which cannot be sent'] }]);
});

t.test('of several flows of OAuth that are named as needed together, one access token opens all', async (t) => {
  const flow = { authorizationUrl: 'https://id.example', tokenUrl: 'https://id.example/token', scopes: {} };
  const schemes = {
    Oauth2: { type: 'oauth2', flows: { implicit: flow } },
    Oauth2c: { type: 'oauth2', flows: { authorizationCode: flow } },
    appId: { type: 'apiKey', in: 'query', name: 'app_id' },
  };
  const { report } = await importedText(t, secured(schemes, [{ Oauth2: [], Oauth2c: [] }]));
  t.match(report.outcomes, [{ kind: 'written' }]);
  t.same(report.upstream.file.keys, { key: 'THINGS_API_KEY' });
  t.same(report.upstream.file.settings, { authorize: { bearer: 'key' } });
  const { report: both } = await importedText(t, secured(schemes, [{ Oauth2: [], appId: [], Oauth2c: [] }]));
  t.same(both.upstream.file.settings, { authorize: [{ bearer: 'oauth2' }, { query: 'app_id', value: '{app_id}' }] });
});

t.test('a token that is handed out for client id and secret is asked for where the document says', async (t) => {
  const flows = (tokenUrl: string) => ({
    implicit: { authorizationUrl: 'https://id.example', scopes: {} },
    clientCredentials: { tokenUrl, scopes: { read: 'Reads', write: 'Writes' } },
  });
  const schemes = (tokenUrl: string) => ({
    login: { type: 'oauth2', flows: flows(tokenUrl) },
    appId: { type: 'apiKey', in: 'header', name: 'x-app' },
  });
  const { report } = await importedText(t, secured(schemes('https://id.example/token'), [{ login: ['read'] }]));
  t.same(report.upstream.file.keys, { id: 'THINGS_CLIENT_ID', secret: 'THINGS_CLIENT_SECRET' });
  t.same(report.upstream.file.settings, {
    authorize: { oauth: 'https://id.example/token', client: '{id}:{secret}' },
  });
  t.match(report.remarks.join(), /at https:\/\/id.example\/token: .*it knows read write/);
  t.match(report.remarks.join(), /in its form.*client_id: "\{id\}", client_secret: "\{secret\}"/);
  const both = secured(schemes('https://id.example/token'), [{ login: [], appId: [] }]);
  t.match((await importedText(t, both)).report.upstream.file.settings?.authorize, [
    { oauth: 'https://id.example/token' },
    { header: 'x-app', value: '{app_id}' },
  ]);
  for (const nowhere of ['http://id.example/token', '/token', 'https://{tenant}.example/token']) {
    const { report: plain } = await importedText(t, secured(schemes(nowhere), [{ login: [] }]));
    t.same(plain.upstream.file.settings, { authorize: { bearer: 'key' } }, nowhere);
  }
});

t.test('a key that a document asks callers for, and calls no security, is sent by the upstream', async (t) => {
  const asking = (place: string, name: string, more: object = {}) =>
    documentOf({
      parameters: [
        { in: place, name, required: true, schema: { type: 'string' }, ...more },
        { in: 'query', name: 'token', schema: { type: 'string' } },
      ],
    });
  const cases = [
    [asking('header', 'Authorization'), { header: 'Authorization', value: '{key}' }],
    [asking('header', 'X-API-Key'), { header: 'X-API-Key', value: '{key}' }],
    [asking('query', 'apikey'), { query: 'apikey', value: '{key}' }],
  ] as const;
  for (const [text, authorize] of cases) {
    const { report, endpoint } = await importedText(t, text);
    t.same(report.upstream.file.settings, { authorize });
    t.same(report.upstream.file.keys, { key: 'THINGS_API_KEY' });
    t.same(endpoint('make').request, { properties: { token: { type: 'string' } } });
    t.match(report.remarks.join(), /asked for as a parameter, and the document names no security/);
  }
  const { report: optional } = await importedText(t, asking('header', 'Authorization', { required: false }));
  t.same(optional.upstream.file.keys, undefined, 'what need not be sent is no key');
});

t.test(
  'of security schemes that a document describes, and no operation names, is said that nothing is sent',
  async (t) => {
    const schemes = { way: { type: 'apiKey', in: 'header', name: 'X-Key' }, other: { type: 'http', scheme: 'bearer' } };
    const components = { securitySchemes: schemes };
    const { report } = await importedText(t, documentOf({}, { components }));
    t.same(report.upstream.file.keys, undefined);
    t.same(report.remarks.slice(0, 1), [
      'it describes the security schemes way and other, and no operation names one: calls are sent without a key. Where they need it, write keys, and authorize under settings, of things in upstreams.yaml',
    ]);
    const { report: open } = await importedText(t, documentOf({ security: [{}] }, { components }));
    t.notMatch(open.remarks.join(), /security schemes/, 'it says that calls need none');
  },
);

t.test('an operation whose Authorization header the key of the others does not fill is left out', async (t) => {
  const parameters = [{ in: 'header', name: 'Authorization', required: true, schema: { type: 'string' } }];
  const one = {
    operationId: 'one',
    responses: { 200: { description: 'x', content: { 'application/json': { schema: {} } } } },
  };
  const withKey = (scheme: object) =>
    documentOf(
      {},
      {
        components: { securitySchemes: { way: scheme } },
        paths: {
          '/a': { get: { ...one, security: [{ way: [] }] } },
          '/b': { get: { ...one, operationId: 'two', parameters } },
          '/c': { get: { ...one, operationId: 'three', parameters, security: [{ way: [] }] } },
        },
      },
    );
  const { outcome } = await importedText(t, withKey({ type: 'apiKey', in: 'query', name: 'key' }));
  for (const name of ['two', 'three']) {
    t.match(outcome(name), {
      kind: 'left out',
      notes: ['needs the header Authorization, and the upstream authorizes with way'],
    });
  }
  const bearer = await importedText(t, withKey({ type: 'http', scheme: 'bearer' }));
  for (const name of ['two', 'three']) {
    t.equal(bearer.outcome(name).kind, 'written', 'a bearer token is sent in that header');
  }
});

t.test('an operation that the key of the others does not open is left out', async (t) => {
  const schemes = { cookie: { type: 'apiKey', in: 'cookie', name: 'sid' } };
  const { report } = await importedText(t, secured(schemes, [{ cookie: [] }]));
  t.match(report.outcomes, [{ kind: 'left out', notes: ['needs cookie, which cannot be sent'] }]);
  t.same(report.upstream.file.keys, undefined);
});

t.test('a security scheme that the document names and nowhere describes is told as such', async (t) => {
  const { report } = await importedText(t, secured({}, [{ way: [], other: [] }]));
  const cure = 'the document does not describe way and other: add them to its components.securitySchemes';
  t.match(report.outcomes, [{ kind: 'left out', notes: [`needs way and other, and ${cure}`] }]);
});

t.test('servers: variables are filled in, and an upstream of another provider is not taken over', async (t) => {
  const server = {
    url: 'https://{region}.api.things.example/{base}/',
    variables: { region: { default: 'eu' }, base: { default: 'v2' } },
  };
  const { report } = await importedText(t, documentOf({}, { servers: [server] }));
  t.equal(report.upstream.file.baseUrl, 'https://eu.api.things.example/v2');
  await t.rejects(
    importedText(t, documentOf({}, { servers: [{ url: '/v1' }] })),
    /the document's server is \/v1: add --base-url/,
  );
  await t.rejects(importedText(t, documentOf({}), { upstream: 'other' }), /an upstream other already.*--upstream/);
});

t.test('of the servers of a document, the first that can be an upstream is taken', async (t) => {
  const addressOf = async (...urls: string[]) => {
    const { report } = await importedText(t, documentOf({}, { servers: urls.map((url) => ({ url })) }));
    return report.upstream.file.baseUrl;
  };
  t.equal(await addressOf('http://things.example/v1', 'https://things.example/v1'), 'https://things.example/v1');
  t.equal(await addressOf('http://localhost:8080', 'https://things.example'), 'http://localhost:8080');
  await t.rejects(
    addressOf('http://things.example/v1'),
    /the document's server is http:\/\/things.example\/v1: add --base-url https/,
  );
});

t.test('no document has the key sent to its servers that another provider is called with', async (t) => {
  const bearer = { openapi: '3.1.0', components: { securitySchemes: { way: { type: 'http', scheme: 'bearer' } } } };
  const at = (url: string, title: string) =>
    documentOf({ security: [{ way: [] }] }, { ...bearer, servers: [{ url }], info: { title, version: '1' } });
  const directory = writeCatalogue(t, {
    'upstreams.yaml': `${UPSTREAMS}  keys: { key: THINGS_API_KEY }\n  settings: { authorize: { bearer: key } }\n`,
    'endpoints/image/oil.yaml': null,
  });
  const catalogue = join(directory, 'catalogue');
  const source = join(directory, 'document.json');
  for (const text of [at('https://things.example/v1', 'Any'), at('https://203.0.113.9/v1', 'Things')]) {
    writeFileSync(source, text);
    await t.rejects(imported(t, source, {}, catalogue), {
      constructor: UsageProblem,
      message: /THINGS_API_KEY is the key of other at https:\/\/other\.example.*--upstream/,
    });
  }
  const { report } = await imported(t, source, { upstream: 'objects' }, catalogue);
  t.match(report.upstream.file.keys, { key: 'OBJECTS_API_KEY' });
  writeFileSync(source, at('https://other.example/v2', 'Any'));
  const more = await imported(t, source, { upstream: 'things' }, catalogue);
  t.match(more.report.upstream.file.keys, { key: 'THINGS_API_KEY' }, 'the same provider has the same key');
});

t.test('no document has the keys of a provider sent to where tokens are handed out for another', async (t) => {
  const handing = (tokenUrl: string) => {
    const flows = { clientCredentials: { tokenUrl, scopes: {} } };
    return documentOf(
      { security: [{ way: [] }] },
      {
        components: { securitySchemes: { way: { type: 'oauth2', flows } } },
        servers: [{ url: 'https://other.example/v2' }],
      },
    );
  };
  const keys = '  keys: { id: THINGS_CLIENT_ID, secret: THINGS_CLIENT_SECRET }';
  const ways = '  settings: { authorize: { oauth: "https://id.example/token", client: "{id}:{secret}" } }';
  const directory = writeCatalogue(t, {
    'upstreams.yaml': `${UPSTREAMS}${keys}\n${ways}\n`,
    'endpoints/image/oil.yaml': null,
  });
  const catalogue = join(directory, 'catalogue');
  const source = join(directory, 'document.json');
  writeFileSync(source, handing('https://id.elsewhere.example/token'));
  await t.rejects(imported(t, source, { upstream: 'things' }, catalogue), {
    constructor: UsageProblem,
    message: /THINGS_CLIENT_ID is the key of other .* would be sent to https:\/\/id.elsewhere.example/,
  });
  writeFileSync(source, handing('https://id.example/token'));
  const { report } = await imported(t, source, { upstream: 'things' }, catalogue);
  t.match(report.upstream.file.keys, { id: 'THINGS_CLIENT_ID' });
});

t.test(
  'a document brings the files below its own directory along, and reads nothing else of this machine',
  async (t) => {
    const catalogue = emptyCatalogue(t);
    const directory = join(catalogue, '..', 'api');
    const secret = join(catalogue, '..', 'id.json');
    mkdirSync(join(directory, 'more'), { recursive: true });
    writeFileSync(join(directory, 'units.json'), '["metric", "imperial"]');
    writeFileSync(secret, '[12, 34, 56]');
    symlinkSync(secret, join(directory, 'more', 'linked.json'));
    const source = join(directory, 'things.json');
    const reading = (reference: string) => {
      const parameter = { in: 'query', name: 'unit', schema: { enum: { $ref: reference } } };
      writeFileSync(source, documentOf({ parameters: [parameter] }));
      return imported(t, source, {}, catalogue);
    };
    for (const reference of ['../id.json', secret, pathToFileURL(secret).href, 'more/linked.json']) {
      await t.rejects(
        reading(reference),
        { constructor: UsageProblem, message: /it refers to .*json: files outside of its own directory are not read/ },
        reference,
      );
    }
    const { endpoint } = await reading('units.json');
    t.match(propertiesOf(endpoint('make')), { unit: { enum: ['metric', 'imperial'] } });
  },
);
