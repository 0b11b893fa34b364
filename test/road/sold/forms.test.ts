/** APIs that take forms, and files in them. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { json, serve } from '../../upstream/http/weather.ts';

const settings = (name: string) => readFileSync(join('catalogue', `${name}.yaml`), 'utf8');

const endpoint = (name: string, rest: string) => `summary: ${name}
path: /post/${name}
networks: [chain-c]
price: { rule: fixed, amount: "0.01" }
result: { required: [id], properties: { id: { type: string } }, examples: [{ id: m-1 }] }
${rest}`;

const filesFor = (origin: string) => ({
  'service.yaml': settings('service'),
  'networks.yaml': settings('networks'),
  'upstreams.yaml': `post: { adapter: http, baseUrl: "${origin}" }\n`,
  endpoints: {
    post: {
      'message.yaml': endpoint(
        'message',
        `request:
  required: [to, text]
  properties:
    to: { type: array, items: { type: string, maxLength: 40 }, maxItems: 3 }
    text: { type: string, maxLength: 200 }
    frame: { type: object, properties: { colour: { type: string, maxLength: 20 } } }
example: { to: [Ada], text: hello }
upstream: { via: post, path: /messages, body: { To: to, Body: text, Frame: frame, From: { value: us } }, encoding: form }
`,
      ),
      'letter.yaml': endpoint(
        'letter',
        `request:
  required: [pages]
  properties:
    pages: { type: array, maxItems: 2, items: { type: string, maxLength: 200, format: uri, pattern: "^https://" } }
    colour: { type: boolean, default: false }
example: { pages: ["https://example.com/page.png"] }
upstream: { via: post, path: /letters, body: input, encoding: multipart, upload: { "page[]": pages } }
`,
      ),
    },
  },
});

/** A service that keeps every form it is sent, as it is read there. */
async function open(t: Test) {
  const heard: FormData[] = [];
  const types: (string | undefined)[] = [];
  const { origin } = await serve(t, async (asked: IncomingMessage, response) => {
    const type = asked.headers['content-type'] ?? '';
    types.push(type.split(';')[0]);
    heard.push(await new Response(await buffer(asked), { headers: { 'content-type': type } }).formData());
    json(response, 200, { id: 'm-1' });
  });
  const catalogue = join(t.testdir({ catalogue: filesFor(origin) }), 'catalogue');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const buy = async (path: string, body: unknown) => {
    const answer = await payV2(gateway, 'chain-c', request(gateway, path, body));
    return { status: answer.status, body: await answer.json() };
  };
  return { heard, types, gateway, buy };
}

t.test('a form is filled from the request, and paid for like any other call', async (t) => {
  const { heard, types, gateway, buy } = await open(t);
  const before = await gateway.earned('chain-c');
  const message = { to: ['Ada', 'Grace & Co'], text: 'fog = 1\n+2', frame: { colour: 'red' } };
  t.same(await buy('/post/message', message), { status: 200, body: { id: 'm-1' } });
  t.same(types, ['application/x-www-form-urlencoded']);
  t.same(
    [...(heard[0] ?? [])],
    [
      ['To', 'Ada'],
      ['To', 'Grace & Co'],
      ['Body', 'fog = 1\n+2'],
      ['Frame[colour]', 'red'],
      ['From', 'us'],
    ],
  );
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);
});

t.test('files that the caller names are sent as parts, and one that is not there is not charged', async (t) => {
  const { heard, types, gateway, buy } = await open(t);
  const before = await gateway.earned('chain-c');
  const pages = ['https://example.com/one.png', 'https://example.com/two.jpg'];
  t.same(await buy('/post/letter', { pages }), { status: 200, body: { id: 'm-1' } });
  t.same(types, ['multipart/form-data']);
  const [form] = heard;
  t.same([...(form?.keys() ?? [])], ['colour', 'page[]', 'page[]']);
  t.equal(form?.get('colour'), 'false');
  const sent = form?.getAll('page[]') as File[];
  t.match(sent, [
    { name: 'file.png', type: 'image/png' },
    { name: 'file.jpg', type: 'image/jpeg' },
  ]);
  t.ok(sent.every(({ size }) => size > 100));
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);

  const missing = await buy('/post/letter', { pages: ['https://example.com/missing.png'] });
  t.match(missing, { status: 400, body: { error: { message: /address cannot be read/ } } });
  const inner = await buy('/post/letter', { pages: ['https://example.com/redirect-to-private.png'] });
  t.match(inner, { status: 400 });
  t.equal(heard.length, 1);
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);

  const unsaid = await fetch(`${gateway.url}/post/letter`, request(gateway, '', { pages: ['page.png'] }).init);
  t.equal(unsaid.status, 402);
  t.match(
    await unsaid.text(),
    /"invalidParams":\[\{"path":"\/pages\/0"/,
    'what is no address is named before anything is paid',
  );
});
