/** Services of Amazon, which want each request signed (AWS Signature Version 4). Their own library says whether it is. */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { SignatureV4 } from '@smithy/signature-v4';
import { pino } from 'pino';
import t from 'tap';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { json, serve } from '../../upstream/http/weather.ts';

const ID = 'AKIDSTUDIO4711';
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const SESSION = 'session+of/the=studio';

const settings = (name: string) => readFileSync(join('catalogue', `${name}.yaml`), 'utf8');

const endpoint = (name: string, request: string, upstream: string) => `summary: Asks a model of ${name}
path: /cloud/${name}
networks: [chain-c]
price: { rule: fixed, amount: "0.01" }
request: ${request}
result: { required: [said], properties: { said: { type: string } }, examples: [{ said: fog }] }
example: { question: fog }
upstream: { via: cloud, ${upstream} }
`;

const QUESTION =
  '{ required: [question], properties: { question: { type: string, minLength: 1, maxLength: 40, format: path-segment } } }';

const files = (baseUrl: string) => ({
  'service.yaml': settings('service'),
  'networks.yaml': settings('networks'),
  'upstreams.yaml': `cloud:
  adapter: http
  baseUrl: ${baseUrl}
  keys: { access_key_id: CLOUD_ID, secret_access_key: CLOUD_SECRET, session: CLOUD_SESSION }
  settings:
    authorize: { aws: bedrock, region: eu-west-1, id: access_key_id, key: secret_access_key, session: session }
    headers: { X-Amz-Client: turnpike }
`,
  endpoints: {
    cloud: {
      'chat.yaml': endpoint(
        'chat',
        QUESTION,
        'path: /model/vendor.large-2026:0/converse, body: { messages: question }, headers: { X-Amz-Target: { value: Runtime.Converse }, content-type: { value: application/x-amz-json-1.1 } }',
      ),
      'search.yaml': endpoint('search', QUESTION, 'method: GET, path: "/search/{question}", query: { q: question }'),
      'listed.yaml': endpoint('listed', QUESTION, 'method: GET, path: "/of[all]|it/{question}?filter[kind]=a|b"'),
    },
  },
});

/** As their library wants it. */
class Sha256 {
  private readonly made: Hash | Hmac;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.made =
      secret === undefined
        ? createHash('sha256')
        : createHmac('sha256', typeof secret === 'string' ? secret : Buffer.from(secret as Uint8Array));
  }
  update(part: string | Uint8Array): void {
    this.made.update(part);
  }
  async digest(): Promise<Uint8Array> {
    return this.made.digest();
  }
  reset(): void {}
}

/** What the header `authorization` has to say of a request that came. */
async function signatureOf(asked: IncomingMessage, body: Buffer): Promise<string | undefined> {
  const { authorization = '', 'x-amz-date': date = '', host = '' } = asked.headers;
  const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? [];
  const url = new URL(asked.url ?? '/', `http://${host}`);
  const signer = new SignatureV4({
    service: 'bedrock',
    region: 'eu-west-1',
    credentials: { accessKeyId: ID, secretAccessKey: SECRET, sessionToken: SESSION },
    sha256: Sha256,
    applyChecksum: false,
  });
  const signed = await signer.sign(
    {
      method: asked.method ?? '',
      protocol: 'http:',
      hostname: host,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: Object.fromEntries(names.map((name) => [name, String(asked.headers[name])])),
      body,
    },
    { signingDate: new Date(String(date).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5')) },
  );
  return signed.headers.authorization;
}

t.test('each call is signed with its path, its query, its body and the headers that say what is asked', async (t) => {
  const calls: IncomingMessage[] = [];
  let refuses = false;
  const { origin } = await serve(t, async (asked, response) => {
    calls.push(asked);
    const expected = await signatureOf(asked, await buffer(asked));
    const { authorization, 'x-amz-security-token': session } = asked.headers;
    if (authorization !== expected || refuses) return json(response, 403, { message: `no: ${session}, ${expected}` });
    json(response, 200, { said: String(asked.url) });
  });
  const catalogue = join(t.testdir({ catalogue: files(`${origin}/v1`) }), 'catalogue');
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const environment = { CLOUD_ID: ID, CLOUD_SECRET: SECRET, CLOUD_SESSION: SESSION };
  const gateway = await startGateway({ catalogue, environment, networks: ['chain-c'], log });
  t.teardown(gateway.stop);
  const buy = async (path: string, question: string) => {
    const answer = await payV2(gateway, 'chain-c', request(gateway, path, { question }));
    return { status: answer.status, text: await answer.text() };
  };
  const before = await gateway.earned('chain-c');
  t.same(await buy('/cloud/chat', 'why + "fog"?'), {
    status: 200,
    text: '{"said":"/v1/model/vendor.large-2026:0/converse"}',
  });
  t.match(await buy('/cloud/search', "fog & café's (1+1)*~!"), { status: 200 });
  t.match(calls[1]?.url, /\?q=fog%20%26%20caf%C3%A9%27s%20%281%2B1%29/);
  t.match(
    await buy('/cloud/listed', 'fog'),
    { status: 200 },
    'characters that no address has are signed as they are sent',
  );
  t.equal(calls[2]?.url, '/v1/of%5Ball%5D%7Cit/fog?filter%5Bkind%5D=a%7Cb');
  t.match(calls[0]?.headers, { 'x-amz-target': 'Runtime.Converse', 'x-amz-client': 'turnpike' });
  const covered = /SignedHeaders=[^,]*content-type;[^,]*x-amz-client;x-amz-date;x-amz-security-token;x-amz-target,/;
  t.match(calls[0]?.headers.authorization, covered);
  t.equal((await gateway.earned('chain-c')) - before, 30_000n);

  refuses = true;
  t.equal((await buy('/cloud/chat', 'a second one')).status, 500);
  t.equal((await gateway.earned('chain-c')) - before, 30_000n, 'what is refused is not charged');
  for (const secret of [SECRET, SESSION]) t.notOk(lines.join('').includes(secret), 'nobody reads a key');
});

t.test('the sandbox sells it', async (t) => {
  const catalogue = join(t.testdir({ catalogue: files('https://runtime.eu-west-1.example.com') }), 'catalogue');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
  t.teardown(gateway.stop);
  for (const path of ['/cloud/chat', '/cloud/search', '/cloud/listed']) {
    const answer = await payV2(gateway, 'chain-c', request(gateway, path, { question: 'fog & rain' }));
    t.equal(await answer.text(), '{"said":"fog"}', path);
  }
});
