import { existsSync, readdirSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { type PaidCall, request, sendProof, signProof } from '../../clients.ts';
import { type Gateway, startGateway } from '../../gateway.ts';

const DESCRIPTORS = '/proc/self/fd';

const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(gateway.stop);
const other = await gateway.startAnother();
const name = `${'ab'.repeat(16)}.mp4`;
const file = Buffer.alloc(20_000_000, 'media');
writeFileSync(join(gateway.directory, 'media', name), file);

const descriptors = () =>
  readdirSync(DESCRIPTORS).filter((descriptor) => {
    try {
      return readlinkSync(join(DESCRIPTORS, descriptor)).endsWith(name);
    } catch {
      return false;
    }
  }).length;

const leaveEarly = () =>
  new Promise<void>((resolve, reject) => {
    get(`${gateway.url}/media/${name}`, { agent: false }, (response) => {
      response.once('data', () => {
        response.destroy();
        resolve();
      });
    }).on('error', reject);
  });

t.test(
  'a reader who goes away in the middle of a file leaves no file open',
  { skip: !existsSync(DESCRIPTORS) && 'this system does not list what a process has open' },
  async (t) => {
    for (let reader = 0; reader < 10; reader += 1) await leaveEarly();
    while (descriptors() > 0) await delay(10);
    t.equal(descriptors(), 0);
  },
);

t.test('a reader who stays gets the whole file, or the part it asks for', async (t) => {
  const whole = await fetch(`${gateway.url}/media/${name}`);
  t.ok(Buffer.from(await whole.arrayBuffer()).equals(file));
  t.match(whole.headers.get('content-security-policy'), /sandbox/, 'and runs nothing at the origin of the gateway');
  t.equal(whole.headers.get('x-content-type-options'), 'nosniff');
  const part = await fetch(`${gateway.url}/media/${name}`, { headers: { range: 'bytes=5-9' } });
  t.equal(part.status, 206);
  t.equal(await part.text(), 'media');
});

t.test(
  'a download that broke off goes on where it stopped, in browsers as well, which do so by a tag alone',
  async (t) => {
    const ask = (headers: Record<string, string> = {}) => fetch(`${gateway.url}/media/${name}`, { headers });
    const first = await ask();
    await first.body?.cancel();
    const tag = first.headers.get('etag') ?? '';
    t.match(tag, /^"[^"]+"$/);
    const rest = await ask({ range: 'bytes=19999990-', 'if-range': tag });
    t.equal(rest.status, 206);
    t.equal(rest.headers.get('etag'), tag);
    t.equal(await rest.text(), 'mediamedia');
    const differing = await ask({ range: 'bytes=19999990-', 'if-range': '"of another file"' });
    t.equal(differing.status, 200, 'who has begun with something else is given all of it');
    t.equal((await differing.arrayBuffer()).byteLength, file.length);
    const known = await ask({ 'if-none-match': tag });
    t.equal(known.status, 304, 'who has it is not sent it again');
    t.equal((await known.arrayBuffer()).byteLength, 0);
  },
);

/** Runs while no file can be stored. */
async function withoutDirectory<Result>({ directory }: Gateway, run: () => Promise<Result>): Promise<Result> {
  const media = join(directory, 'media');
  renameSync(media, `${media}.away`);
  writeFileSync(media, 'a file where the directory was');
  try {
    return await run();
  } finally {
    rmSync(media);
    renameSync(`${media}.away`, media);
  }
}

for (const { path, body } of [
  { path: '/image/family-e-2', body: { prompt: 'a lighthouse on a full disk' } },
  { path: '/audio/x-text-to-speech', body: { text: 'The disk is full.' } },
  { path: '/image/designer', body: { prompt: 'a poster of a full disk' } },
  // What these are made of moves on between two attempts.
  { path: '/chain-c-main/token/news', body: { token: 'SOL' } },
  { path: '/chain-c-main/ai/x-news', body: { x_username: 'harbour' } },
])
  t.test(`what was made for ${path} and could not be stored is not bought again`, async (t) => {
    const call = request(gateway, path, body);
    const proof = await signProof(gateway, 'chain-c', call);
    const earned = await gateway.earned('chain-c');
    const before = await gateway.calls();
    const refused = await withoutDirectory(gateway, () => sendProof(call, proof));
    t.equal(refused.status, 503);
    t.match(refused.headers.get('retry-after'), /^\d+$/);
    t.match(await refused.json(), { error: { code: 'media_unavailable', message: /nothing was charged/ } });
    t.equal(await gateway.earned('chain-c'), earned);
    const bought = await gateway.calls();
    t.ok(bought.upstreamCalls > before.upstreamCalls);
    // Whichever instance the payer comes back to.
    const elsewhere: PaidCall = { ...call, url: call.url.replace(gateway.url, other) };
    const answer = await sendProof(elsewhere, proof);
    const result = await answer.text();
    t.equal(answer.status, 200, result);
    t.equal((await fetch(String(/http[^"]+[/]media[/][^"]+/.exec(result)))).status, 200);
    t.same((await gateway.calls()).upstreams, bought.upstreams);
    t.ok((await gateway.earned('chain-c')) > earned);
  });
