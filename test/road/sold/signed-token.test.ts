/** Providers that take a token which the operator's key signs, with each call or for a token of theirs. */
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { jwtVerify } from 'jose';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { json, serve } from '../../upstream/http/weather.ts';
import { musicFiles } from './music-catalogue.ts';

/** `letsIn`: whether a call with that in its header `authorization` is answered. */
async function open(
  t: Test,
  { authorize, key, letsIn }: { authorize: string; key: string; letsIn(authorization: string): Promise<boolean> },
  tokens: (form: URLSearchParams) => Promise<object> = async () => ({}),
) {
  const calls: string[] = [];
  const { origin } = await serve(t, async (asked, response) => {
    const body = await text(asked);
    if (asked.url === '/v1/token') return json(response, 200, await tokens(new URLSearchParams(body)));
    const { authorization = '' } = asked.headers;
    calls.push(authorization);
    if (!(await letsIn(authorization))) return json(response, 401, { error: `not with ${authorization}` });
    json(response, 200, { id: body.includes('Echo') ? `you are ${authorization}` : 's-1' });
  });
  const catalogue = join(t.testdir({ catalogue: musicFiles(origin, authorize) }), 'catalogue');
  const environment = { MUSIC_ID: 'studio-4711', MUSIC_SECRET: key };
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const gateway = await startGateway({ catalogue, environment, networks: ['chain-c'], log });
  t.teardown(gateway.stop);
  const buy = async (name: string) => {
    const answer = await payV2(gateway, 'chain-c', request(gateway, '/music/song', { name }));
    return { status: answer.status, text: await answer.text() };
  };
  return { gateway, calls, buy, logged: () => lines.join('') };
}

const bearer = (authorization: string): string => authorization.replace(/^Bearer /, '');

t.test('a token that a shared secret signs is sent with each call, and signed anew where it is refused', async (t) => {
  const secret = 'a-secret-of-the-studio-9d2c';
  let refusesOnce = false;
  const { gateway, calls, buy } = await open(t, {
    authorize: '{ jwt: HS256, key: secret, claims: { iss: "{id}", admin: false }, header: { kid: "{id}-1" } }',
    key: secret,
    async letsIn(authorization) {
      const asked = { issuer: 'studio-4711', algorithms: ['HS256'] };
      const { payload, protectedHeader } = await jwtVerify(bearer(authorization), Buffer.from(secret), asked);
      t.match(protectedHeader, { alg: 'HS256', typ: 'JWT', kid: 'studio-4711-1' });
      t.equal(payload.admin, false);
      t.equal(Number(payload.exp) - Number(payload.iat), 1800);
      const isRefused = refusesOnce;
      refusesOnce = false;
      return !isRefused;
    },
  });
  const before = await gateway.earned('chain-c');
  t.equal((await buy('one')).status, 200);
  t.equal((await buy('two')).status, 200);
  t.equal(new Set(calls).size, 1, 'one token serves them all');
  refusesOnce = true;
  t.match(await buy('Echo'), { status: 200, text: '{"id":"you are Bearer [secret]"}' });
  t.equal((await gateway.earned('chain-c')) - before, 30_000n);
});

t.test('a token is handed out for what a private key signs, written in one line', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ format: 'pem', type: 'pkcs1' }).toString();
  const forms: URLSearchParams[] = [];
  const { buy, calls } = await open(
    t,
    {
      authorize:
        '{ oauth: /token, assertion: { jwt: RS256, key: secret, claims: { iss: "{id}", scope: films }, lasts: 1h } }',
      key: ` ${pem.replaceAll('\n', '\\r\\n')}`,
      letsIn: async (authorization) => authorization === 'Bearer handed-out-1',
    },
    async (form) => {
      forms.push(form);
      const { payload } = await jwtVerify(form.get('assertion') ?? '', publicKey, { algorithms: ['RS256'] });
      t.match(payload, { iss: 'studio-4711', scope: 'films' });
      t.equal(Number(payload.exp) - Number(payload.iat), 3600, 'no longer than providers take');
      return { access_token: 'handed-out-1', expires_in: 3600 };
    },
  );
  t.equal((await buy('one')).status, 200);
  t.equal((await buy('two')).status, 200);
  t.same(
    forms.map((form) => form.get('grant_type')),
    ['urn:ietf:params:oauth:grant-type:jwt-bearer'],
  );
  t.equal(calls.length, 2);
});

t.test(
  'with a key that signs nothing of the sort no call is made, nothing is charged, and nobody reads it',
  async (t) => {
    for (const [way, key] of [
      ['RS256', 'no-pem-but-a-word-77'],
      [
        'ES256',
        generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }),
      ],
    ] as const) {
      const { gateway, calls, buy, logged } = await open(t, {
        authorize: `{ jwt: ${way}, key: secret, claims: { iss: "{id}" } }`,
        key: String(key),
        letsIn: async () => true,
      });
      const before = await gateway.earned('chain-c');
      const refused = await buy('one');
      t.equal(refused.status, 500, refused.text);
      t.notMatch(refused.text, /no-pem|PRIVATE|PEM/);
      t.same(calls, []);
      t.equal(await gateway.earned('chain-c'), before);
      t.match(logged(), new RegExp(`no token is signed by ${way}: its key has to be a private key for it, in PEM`));
      t.notMatch(logged(), /no-pem-but|BEGIN/);
    }
  },
);
