/** APIs that answer with a job, whose result is at a third address, and those that put files into their JSON. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { writePdf } from '../../../src/sandbox/files/pdf.ts';
import { drawPicture } from '../../../src/sandbox/files/png.ts';
import { payV2, request, sendProof, signProof } from '../../clients.ts';
import { deadlinesOf } from '../../deadlines.ts';
import { startGateway } from '../../gateway.ts';
import { json, serve } from '../../upstream/http/weather.ts';

const settings = (name: string) => readFileSync(join('catalogue', `${name}.yaml`), 'utf8');

const endpoint = (name: string, result: string, upstream: string) => `summary: ${name}
path: /studio/${name}
networks: [chain-c]
deadline: 47s
price: { rule: fixed, amount: "0.01" }
request: { required: [text], properties: { text: { type: string, maxLength: 40 } } }
result: ${result}
example: { text: fog }
upstream: { via: studio, body: input, ${upstream} }
`;

const FILE =
  '{ required: [image_url, type, bytes], properties: { image_url: { type: string }, type: { type: string }, bytes: { type: integer } }, examples: [{ image_url: "https://shop.example/1.png", type: image/png, bytes: 1 }] }';
const LETTER =
  '{ required: [document_url, type, bytes], properties: { document_url: { type: string }, type: { const: application/pdf }, bytes: { type: integer } }, examples: [{ document_url: "https://shop.example/1.pdf", type: application/pdf, bytes: 1 }] }';
const TEXT = '{ required: [words], properties: { words: { type: string } }, examples: [{ words: fog }] }';
const PICTURES =
  '{ required: [pictures], properties: { pictures: { type: array, items: { type: string } }, cover: { type: string } }, examples: [{ pictures: ["https://shop.example/1.png"] }] }';

const filesFor = (origin: string) => ({
  'service.yaml': settings('service'),
  'networks.yaml': settings('networks'),
  'upstreams.yaml': `studio: { adapter: http, baseUrl: "${origin}/v1" }\n`,
  endpoints: {
    studio: {
      'poster.yaml': endpoint(
        'poster',
        FILE,
        `path: /posters, poll: { header: Operation-Location, until: "state == 'done'", failed: "state == 'lost'", every: 1ms, resultAt: "{poster_url}" }, result: { file: image }`,
      ),
      'caption.yaml': endpoint(
        'caption',
        TEXT,
        `path: /captions, poll: { path: "/captions/{id}", until: "state == 'done'", every: 1ms, resultAt: "/sets/{set}" }, result: "{words: text}", status: { 422: invalid-input }`,
      ),
      'letter.yaml': endpoint('letter', LETTER, 'path: /letters, result: { file: document }'),
      'title.yaml': endpoint(
        'title',
        TEXT,
        `path: "/titles:start", poll: { path: "/titles:look", body: { operation: "{name}" }, until: done, every: 1ms, result: "{words: title}" }`,
      ),
      'clips.yaml': endpoint(
        'clips',
        PICTURES,
        `path: /clips, poll: { path: "/clips/{id}", until: "state == 'done'", every: 1ms }, result: "{pictures: files}", download: [pictures]`,
      ),
      'pictures.yaml': endpoint(
        'pictures',
        PICTURES,
        'path: /pictures, result: "{pictures: data[].b64_json, cover: cover}", decode: { pictures: image, cover: image }',
      ),
    },
  },
});

/** What resolves once the function beside it is called. */
function openNotice(): [Promise<void>, () => void] {
  let notice = () => {};
  const noticed = new Promise<void>((resolve) => {
    notice = resolve;
  });
  return [noticed, notice];
}

const LARGE = Buffer.alloc(33 * 1024 * 1024);

/** `noticed`: called where a job is asked for that is not done, or a request left without an answer, or without the rest of one. */
async function open(t: Test, noticed = () => {}) {
  const picture = await drawPicture({ seed: 'studio', width: 64, height: 48, label: 'studio', format: 'png' });
  const base64 = picture.toString('base64');
  const asked: string[] = [];
  const looks = new Map<string, number>();
  const slow = { isDone: false };
  const { origin } = await serve(t, async (heard, response) => {
    const body = await text(heard);
    const line = `${heard.method} ${heard.url}`;
    asked.push(line);
    const seen = (looks.get(line) ?? 0) + 1;
    looks.set(line, seen);
    const fate = ['lost', 'large', 'silent', 'slow'].find((one) => body.includes(one)) ?? 'p1';
    switch (line) {
      case 'POST /v1/posters':
        return response.writeHead(202, { 'operation-location': `/v1/posters/${fate}` }).end();
      case 'GET /v1/posters/p1':
        return json(response, 200, seen < 3 ? { state: 'drawn' } : { state: 'done', poster_url: `${origin}/p1.png` });
      case 'GET /v1/posters/large':
        return json(response, 200, { state: 'done', poster_url: `${origin}/large.png` });
      case 'GET /v1/posters/silent':
        if (seen > 2) return json(response, 200, { state: 'done', poster_url: `${origin}/p1.png` });
        if (seen === 2) response.writeHead(200).write('{');
        return noticed();
      case 'GET /v1/posters/slow':
        json(response, 200, slow.isDone ? { state: 'done', poster_url: `${origin}/p1.png` } : { state: 'drawn' });
        return noticed();
      case 'GET /v1/posters/lost':
        return json(response, 200, { state: 'lost' });
      case 'GET /large.png':
        return response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.concat([picture, LARGE]));
      case 'GET /p1.png':
        return response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
      case 'POST /v1/captions':
        return json(response, 200, { id: body.includes('rude') ? 'c2' : 'c1', state: 'new' });
      case 'GET /v1/captions/c1':
        return json(response, 200, { id: 'c1', state: 'done', set: 77 });
      case 'GET /v1/captions/c2':
        return json(response, 200, { id: 'c2', state: 'done', set: 78 });
      case 'GET /v1/sets/78':
        return json(response, 422, { detail: 'not such words' });
      case 'GET /v1/sets/77':
        return json(response, 200, { text: 'fog at dawn' });
      case 'POST /v1/letters': {
        const letter = body.includes('broken') ? '<p>no letter</p>' : writePdf({ text: 'fog' });
        return response.writeHead(200, { 'content-type': 'application/pdf' }).end(letter);
      }
      case 'POST /v1/titles:start':
        return json(response, 200, { name: 'operations/t1' });
      case 'POST /v1/titles:look':
        if (JSON.parse(body).operation !== 'operations/t1') return json(response, 404, {});
        return json(response, 200, seen < 3 ? { done: false } : { done: true, title: 'Fog' });
      case 'POST /v1/clips':
        return json(response, 200, { id: 'k1', state: 'new' });
      case 'GET /v1/clips/k1':
        return json(response, 200, { state: 'done', files: [`${origin}/slow.png`] });
      case 'GET /slow.png':
        return slow.isDone ? response.writeHead(200, { 'content-type': 'image/png' }).end(picture) : noticed();
      case 'POST /v1/pictures': {
        const broken = body.includes('broken') ? [{ b64_json: 'no picture' }] : [];
        const data = [{ b64_json: `data:image/png;base64,${base64}` }, ...broken];
        return json(response, 200, { data, cover: base64 });
      }
      default:
        return json(response, 404, { error: 'no such path' });
    }
  });
  const catalogue = join(t.testdir({ catalogue: filesFor(origin) }), 'catalogue');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const buy = async (path: string, words: string) => {
    const answer = await payV2(gateway, 'chain-c', request(gateway, path, { text: words }));
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const bytesAt = async (url: unknown) => Buffer.from(await (await fetch(String(url))).arrayBuffer());
  return { gateway, picture, asked, buy, bytesAt, slow };
}

t.test('what a job came to is refused as its status says, where its result would be', async (t) => {
  const { gateway, asked, buy } = await open(t);
  const before = await gateway.earned('chain-c');
  const { status, body } = await buy('/studio/caption', 'rude');
  t.equal(status, 400);
  t.match(body, { error: { message: /The provider does not take these values/ } });
  t.same(asked, ['POST /v1/captions', 'GET /v1/captions/c2', 'GET /v1/sets/78']);
  t.equal(await gateway.earned('chain-c'), before);
});

t.test('a job that a header names is waited for, and the file where it says is kept', async (t) => {
  const { gateway, picture, asked, buy, bytesAt } = await open(t);
  const before = await gateway.earned('chain-c');
  const { status, body } = await buy('/studio/poster', 'fog');
  t.equal(status, 200);
  t.match(body, { type: 'image/png', bytes: picture.length, image_url: `${gateway.url}/media/` });
  t.same(await bytesAt(body.image_url), picture);
  t.same(asked, ['POST /v1/posters', ...Array(3).fill('GET /v1/posters/p1'), 'GET /p1.png']);
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);
  t.match(await buy('/studio/poster', 'lost'), { status: 500, body: { error: { code: 'upstream_failed' } } });
  t.equal((await gateway.earned('chain-c')) - before, 10_000n, 'a job that came to nothing is not charged');
});

t.test('a job is asked for once more where nothing comes on a connection that nobody has closed', async (t) => {
  const pass = deadlinesOf(t, 30_000, 60_000);
  const { gateway, asked, buy } = await open(t, pass);
  const before = await gateway.earned('chain-c');
  t.equal((await buy('/studio/poster', 'silent')).status, 200);
  t.same(asked, ['POST /v1/posters', ...Array(3).fill('GET /v1/posters/silent'), 'GET /p1.png'], 'and is begun once');
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);
});

t.test(
  'a job is begun once: where an instance is stopped meanwhile, another goes on with it for the same payment',
  async (t) => {
    const [isAskedFor, noticed] = openNotice();
    const { gateway, asked, slow } = await open(t, noticed);
    const before = await gateway.earned('chain-c');
    const call = (url: string) => request({ ...gateway, url }, '/studio/poster', { text: 'slow' });
    const first = call(await gateway.startAnother());
    const proof = await signProof(gateway, 'chain-c', first);
    const stopped = sendProof(first, proof);
    await isAskedFor;
    await gateway.stopOthers();
    t.equal((await stopped).status, 503);
    slow.isDone = true;
    t.equal((await sendProof(call(gateway.url), proof)).status, 200);
    t.equal(asked.filter((line) => line.startsWith('POST')).length, 1);
    t.equal((await gateway.earned('chain-c')) - before, 10_000n);
  },
);

for (const [promise, path, words] of [
  ['a job that is not done at the deadline is waited for by the next attempt of the payment', '/studio/poster', 'slow'],
  [
    'what was made in time is not bought twice where its file comes no more before the deadline',
    '/studio/clips',
    'fog',
  ],
] as const) {
  t.test(promise, async (t) => {
    const pass = deadlinesOf(t, 47_000);
    const [isAskedFor, noticed] = openNotice();
    const { gateway, asked, slow } = await open(t, noticed);
    const before = await gateway.earned('chain-c');
    const call = request(gateway, path, { text: words });
    const proof = await signProof(gateway, 'chain-c', call);
    const late = sendProof(call, proof);
    await isAskedFor;
    pass();
    t.match(await (await late).json(), { error: { code: 'upstream_timeout' } });
    slow.isDone = true;
    t.equal((await sendProof(call, proof)).status, 200);
    t.equal(asked.filter((line) => line.startsWith('POST')).length, 1);
    t.equal((await gateway.earned('chain-c')) - before, 10_000n);
  });
}

t.test(
  'a job is asked for where it was begun alone: another provider has one of somebody else by that name',
  async (t) => {
    const pass = deadlinesOf(t, 47_000);
    const [isAskedFor, noticed] = openNotice();
    const asked: string[] = [];
    const begun = (at: string) => (heard: IncomingMessage, response: ServerResponse) => {
      const line = `${at} ${heard.method} ${heard.url}`;
      asked.push(line);
      switch (line) {
        case 'spare POST /v1/captions':
          return json(response, 200, { id: 'c1', state: 'new' });
        case 'spare GET /v1/captions/c1':
          json(response, 200, { state: 'new' });
          return noticed();
        case 'studio POST /v1/captions':
          // Its first one is refused.
          return asked.length === 1 ? json(response, 500, {}) : json(response, 200, { id: 'c2', state: 'new' });
        case 'studio GET /v1/captions/c1':
          return json(response, 200, { state: 'done', set: '66' });
        case 'studio GET /v1/captions/c2':
          return json(response, 200, { state: 'done', set: '77' });
        default:
          return json(response, 200, { text: line });
      }
    };
    const [studio, spare] = await Promise.all([serve(t, begun('studio')), serve(t, begun('spare'))]);
    const { endpoints, ...settings } = filesFor(studio.origin);
    const [one = ''] = /via: studio.*(?= })/.exec(endpoints.studio['caption.yaml']) ?? [];
    const caption = endpoints.studio['caption.yaml'].replace(
      /upstream: .*/,
      `upstream: [{ ${one} }, { ${one.replace('studio', 'spare')} }]`,
    );
    const files = {
      ...settings,
      'upstreams.yaml': `${settings['upstreams.yaml']}spare: { adapter: http, baseUrl: "${spare.origin}/v1" }\n`,
      endpoints: { studio: { 'caption.yaml': caption } },
    };
    const catalogue = join(t.testdir({ catalogue: files }), 'catalogue');
    const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
    t.teardown(gateway.stop);
    const call = request(gateway, '/studio/caption', { text: 'fog' });
    const proof = await signProof(gateway, 'chain-c', call);
    const late = sendProof(call, proof);
    await isAskedFor;
    pass();
    t.match(await (await late).json(), { error: { code: 'upstream_timeout' } });
    const answer = await sendProof(call, proof);
    t.same(await answer.json(), { words: 'studio GET /v1/sets/77' });
    t.notOk(asked.includes('studio GET /v1/captions/c1'));
  },
);

t.test('a file may be larger than any other answer', async (t) => {
  const { buy, picture } = await open(t);
  const { status, body } = await buy('/studio/poster', 'large');
  t.equal(status, 200);
  t.equal(body.bytes, picture.length + LARGE.length);
});

t.test('a job may say in its last answer alone where its result is', async (t) => {
  const { asked, buy } = await open(t);
  t.same(await buy('/studio/caption', 'fog'), { status: 200, body: { words: 'fog at dawn' } });
  t.same(asked, ['POST /v1/captions', 'GET /v1/captions/c1', 'GET /v1/sets/77']);
});

t.test('a job that is asked for by POST is billed, and paid for, once', async (t) => {
  const { gateway, asked, buy } = await open(t);
  const before = await gateway.earned('chain-c');
  t.same(await buy('/studio/title', 'fog'), { status: 200, body: { words: 'Fog' } });
  t.same(asked, ['POST /v1/titles:start', ...Array(3).fill('POST /v1/titles:look')]);
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);
});

t.test('a PDF is kept, and given to be saved: nothing of it runs at the address of the gateway', async (t) => {
  const { gateway, buy } = await open(t);
  const before = await gateway.earned('chain-c');
  const { status, body } = await buy('/studio/letter', 'fog');
  t.equal(status, 200);
  const kept = await fetch(String(body.document_url));
  t.match(String(body.document_url), /\/media\/[0-9a-f]{32}\.pdf$/);
  t.equal(kept.headers.get('content-type'), 'application/pdf');
  t.equal(kept.headers.get('content-disposition'), 'attachment');
  t.match(kept.headers.get('content-security-policy'), /sandbox/);
  t.same(Buffer.from(await kept.arrayBuffer()), writePdf({ text: 'fog' }));
  t.equal((await buy('/studio/letter', 'broken')).status, 500, 'a page that is called one is none');
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);
});

t.test('files within an answer are kept, and what is none is not charged', async (t) => {
  const { gateway, picture, buy, bytesAt } = await open(t);
  const before = await gateway.earned('chain-c');
  const { status, body } = await buy('/studio/pictures', 'fog');
  t.equal(status, 200);
  for (const url of [body.cover, ...(body.pictures as string[])]) t.same(await bytesAt(url), picture);
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);
  t.match(await buy('/studio/pictures', 'broken'), {
    status: 500,
    body: { error: { code: 'upstream_invalid_result' } },
  });
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);
});
