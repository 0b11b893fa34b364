import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { startGateway } from '../gateway.ts';

const DESCRIPTORS = '/proc/self/fd';

const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(gateway.stop);
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
