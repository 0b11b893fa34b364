/** Keys as providers quote them: none of it may reach a log or an error. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { openUpstreamHttp } from '../../../src/upstream/http/client.ts';
import { redact, snippet } from '../../../src/upstream/http/redact.ts';
import { problemOf } from '../providers/contract.ts';

/** With all that encodings write otherwise. */
const KEY = 'sk-"quoted"\\back/slash+plus=eq&amp<tag>\'ap ü漢🔑~!*()%41z';
const PASSPHRASE = 'sk-"quoted"\\back';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const everyByte = (text: string, prefix: string) =>
  [...Buffer.from(text)].map((byte) => prefix + byte.toString(16).padStart(2, '0')).join('');
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const inAscii = (text: string) =>
  inJson(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const entities: Record<string, string> = { '"': '&quot;', '&': '&amp;', "'": '&apos;', '<': '&lt;', '>': '&gt;' };

const encodings: Record<string, (key: string) => string> = {
  'as it is': (key) => key,
  'in other letters': (key) => key.toUpperCase(),
  'URL-encoded': encodeURIComponent,
  'URL-encoded in small letters': (key) => encodeURIComponent(key).replace(/%../g, (byte) => byte.toLowerCase()),
  'URL-encoded byte by byte': (key) => everyByte(key, '%'),
  'URL-encoded twice': (key) => encodeURIComponent(encodeURIComponent(key)),
  'as a form': (key) => new URLSearchParams({ key }).toString().slice('key='.length),
  'JSON-escaped': inJson,
  'JSON-escaped with slashes': (key) => inJson(key).replaceAll('/', '\\/'),
  'JSON-escaped in ASCII': inAscii,
  'JSON-escaped in ASCII and capitals': (key) =>
    inAscii(key).replace(/u[0-9a-f]{4}/g, (code) => `u${code.slice(1).toUpperCase()}`),
  'JSON in JSON': (key) => inJson(inJson(key)),
  'JSON in JSON in JSON': (key) => inJson(inJson(inJson(key))),
  'HTML-escaped': (key) => key.replace(/["&'<>]/g, (character) => entities[character] ?? ''),
  'HTML-escaped by number': (key) => [...key].map((character) => `&#${character.codePointAt(0)};`).join(''),
  'HTML-escaped in hex': (key) => [...key].map((character) => `&#x${character.codePointAt(0)?.toString(16)};`).join(''),
  'in base64': base64,
  'in base64 for URLs': (key) => Buffer.from(key).toString('base64url'),
  'in base64 in a URL': (key) => encodeURIComponent(base64(key)),
  'in base64 in JSON': (key) => base64(key).replaceAll('/', '\\/'),
  'as a user name': (key) => base64(`${key}:`),
  'as a password': (key) => base64(`user:${key}`),
  'as a password of another': (key) => base64(`users:${key}`),
  'as a password of a third': (key) => base64(`a user:${key}`),
};

/** Ways in which only who refuses a key writes it: an answer that is good is not looked through for them. */
const OF_REFUSALS = ['in other letters', 'URL-encoded byte by byte', 'HTML-escaped by number', 'HTML-escaped in hex'];

/** What the provider answers, and with which status. */
let answer: { status: number; body: string | Buffer } = { status: 400, body: '' };
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(answer.status, { 'content-type': 'text/plain' }).end(answer.body);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const http = openUpstreamHttp({
  upstream: { name: 'weather', adapter: 'weather', baseUrl: 'https://weather.example' },
  adapter: {},
  baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  secrets: { passphrase: PASSPHRASE, key: KEY, none: '' },
});
t.teardown(async () => {
  await http.close();
  server.close();
});

const request = { method: 'POST', path: '/', json: {}, signal: new AbortController().signal } as const;

for (const [encoding, encode] of Object.entries(encodings)) {
  t.test(`takes out a key ${encoding}`, async (t) => {
    for (const key of [KEY, PASSPHRASE]) {
      const written = encode(key);
      // The first and last letters of base64 belong to what stands beside the key, too.
      const clean =
        /^refused: [\w=%+/-]{0,12}\[secret\][\w=%]{0,9} \(said twice: [\w=%+/-]{0,12}\[secret\][\w=%]{0,9}\)$/;
      answer = { status: 400, body: `refused: ${written} (said twice: ${written})` };

      const problem = await problemOf(http.request(request));
      t.match(problem.providerMessage, clean);
      t.notMatch(problem.message, '[secret]');

      const read = await http.request({ ...request, accept: [400] });
      t.match(read.body.toString(), clean, 'where an adapter reads the refusal itself');

      const { body } = await http.stream({ ...request, accept: [400] });
      let streamed = '';
      for await (const chunk of body) streamed += chunk;
      t.match(streamed, clean, 'where the refusal comes in place of a stream');

      answer = { ...answer, status: 200 };
      const good = await http.request(request);
      t.match(good.body.toString(), OF_REFUSALS.includes(encoding) ? answer.body : clean, 'where nothing is refused');
    }
  });
}

t.test('takes a key out of what should have been JSON', async (t) => {
  answer = { status: 200, body: `not JSON: ${encodeURIComponent(KEY)}` };
  const response = await http.request(request);
  t.equal((await problemOf(Promise.resolve().then(() => response.json()))).providerMessage, 'not JSON: [secret]');
});

t.test('shows no part of a key that the cut of a long answer goes through', async (t) => {
  for (const shown of [1, 10, 20]) {
    answer = { status: 500, body: `too long${' '.repeat(16_384 - 8 - shown)}${KEY}` };
    t.equal((await problemOf(http.request(request))).providerMessage, 'too long');
  }
});

t.test('leaves an answer as it came where no key is in it, and a file that has a part of one', async (t) => {
  for (const body of ['{"echo":"+ \\u00e4"}', Buffer.from('\xff\0quoted\xfe', 'latin1')]) {
    answer = { status: 200, body };
    t.same((await http.request(request)).body, Buffer.from(body));
  }
});

t.test('takes the secret out, all of it and nothing beside it', async (t) => {
  const [key, other] = ['Key-123', 'Pass-456'];
  const cases: [text: string, clean: string][] = [
    ['no key here', 'no key here'],
    ['Key-123', '[secret]'],
    ['Key-123 is wrong', '[secret] is wrong'],
    ['wrong: Key-123', 'wrong: [secret]'],
    ['Key-123Key-123', '[secret][secret]'],
    ['Pass-456 is not for Key-123, but Pass-456', '[secret] is not for [secret], but [secret]'],
    ['<b>Key-123 &amp; more</b>', '<b>[secret] &amp; more</b>'],
    ['&lt;b&gt;KEY-123&lt;/b&gt;', '&lt;b&gt;[secret]&lt;/b&gt;'],
    ['a\\nb \\"Key-123\\" c\\nd', 'a\\nb \\"[secret]\\" c\\nd'],
    ['?a=%20%26&key=%4bey%2D12%33&b=%20', '?a=%20%26&key=[secret]&b=%20'],
    ['GET /?a=1+2&key=Key-123', 'GET /?a=1+2&key=[secret]'],
  ];
  for (const [text, clean] of cases) t.equal(redact(text, [key, other]), clean, text);
});

t.test('an answer that is nothing but quotes of a key is looked through once, and keeps nobody waiting', async (t) => {
  const quotes = 200_000;
  t.equal(redact('Key-123%20'.repeat(quotes), ['Key-123']), '[secret]%20'.repeat(quotes));
});

t.test('leaves every text as it is where there is no secret', async (t) => {
  for (const secrets of [[], [''], ['\\'], ['Key-123']]) {
    for (const text of ['', 'a + b', 'İ \\n &lt;p&gt; %20 \\\\ c']) t.equal(redact(text, secrets), text);
  }
});

t.test('shows nothing of secrets that are parts of each other, or overlap', async (t) => {
  t.equal(redact('refused: Key-123!', ['123', 'Key-123', 'Key']), 'refused: [secret]!');
  t.equal(redact('refused: Key-123-456!', ['Key-123', '123-456']), 'refused: [secret]!');
});

t.test('finds a secret beside letters that are longer when they are written small', async (t) => {
  t.equal(redact('İzmir İl: Key-123 İ', ['Key-123']), 'İzmir İl: [secret] İ');
  t.equal(redact('İzmir: KEY-İ3 İ', ['Key-İ3']), 'İzmir: [secret] İ');
});

t.test('takes out what is escaped together with the ends of a secret', async (t) => {
  const secret = 'ükeyä';
  t.equal(redact(`a ${encodeURIComponent('éükeyäö')} z`, [secret]), 'a [secret] z');
  t.equal(redact(`a é${secret}ö z`, [secret]), 'a é[secret]ö z');
});

t.test('goes on where an entity stands for no character, and to the last that there is', async (t) => {
  const secret = 'Key\u{10ffff}';
  for (const number of ['1114112', '999999999', 'x110000', 'xfffffffff']) {
    t.equal(redact(`&#${number}; Key\u{10ffff}`, [secret]), `&#${number}; [secret]`);
  }
  for (const number of ['1114111', 'x10ffff', 'X10FFFF']) t.equal(redact(`Key&#${number}; z`, [secret]), '[secret] z');
});

t.test('looks for a secret in base64 from eight letters on: fewer could stand in any text', async (t) => {
  t.equal(redact(base64('sekret'), ['sekret']), '[secret]');
  t.equal(redact(base64('sekre'), ['sekre']), base64('sekre'));
  t.equal(redact('sekre', ['sekre']), '[secret]');
});

t.test('shows an answer in one line, and of a longer one only what is surely whole', async (t) => {
  t.equal(snippet(Buffer.from('\n  no \r\n\t such   Key-123 \n'), ['Key-123']), 'no such [secret]');
  const bytes = 16_384;
  t.equal(snippet(Buffer.from('end'.padStart(bytes, '.')), []), 'end'.padStart(bytes, '.'));
  t.equal(snippet(Buffer.from('ends'.padStart(bytes + 1, '.')), []), '.'.repeat(bytes - 2048));
});
