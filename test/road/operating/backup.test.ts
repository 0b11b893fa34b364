/** What was paid for outlives the machine. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'libsql';
import t from 'tap';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { payV2, request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { wordsFor } from '../../words-for.ts';

const run = promisify(execFile);
const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(gateway.stop);

const backUp = (directory: string, data = gateway.directory) =>
  run(process.execPath, [...wordsFor('src/cli/backup.ts'), directory], {
    env: { PATH: process.env.PATH, TURNPIKE_DATA: data },
  });

t.test('what was paid before a backup can be had from the restored gateway, files included', async (t) => {
  const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse' });
  const proof = await signProof(gateway, 'chain-c', call);
  const first = await sendProof(call, proof);
  const bought = (await first.json()) as { image_url: string };
  const directory = join(t.testdir({}), "it's safe");
  t.match((await backUp(directory)).stdout, /has the database and the files of/);
  t.equal(statSync(join(directory, 'turnpike.sqlite')).mode & 0o077, 0, 'nobody else can read it');
  await payV2(gateway, 'chain-c', request(gateway, '/image/family-e-2', { prompt: 'after the backup' }));
  const earned = await gateway.earned('chain-c');
  const { upstreamCalls } = await gateway.calls();

  const restored = await gateway.startAnother(undefined, undefined, directory);
  const again = await sendProof({ ...call, url: call.url.replace(gateway.url, restored) }, proof);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(again.headers.get('payment-response'), first.headers.get('payment-response'));
  t.same(await again.json(), bought);
  const [before, after] = await Promise.all(
    [gateway.url, restored].map(async (origin) => {
      const file = await fetch(`${origin}/media/${bought.image_url.split('/').at(-1)}`);
      return { status: file.status, bytes: Buffer.from(await file.arrayBuffer()).toString('base64') };
    }),
  );
  t.equal(before?.status, 200);
  t.same(after, before);
  t.equal(await gateway.earned('chain-c'), earned, 'nobody pays twice');
  t.equal((await gateway.calls()).upstreamCalls, upstreamCalls);
});

t.test('what was broken off is no backup, and keeps nobody from making one there', async (t) => {
  const root = t.testdir({ data: { media: {} } });
  const data = join(root, 'data');
  await openSqliteStore(join(data, 'turnpike.sqlite')).close();
  const unreadable = join(data, 'media', 'unreadable.png');
  symlinkSync(unreadable, unreadable);
  const directory = join(root, 'copy');
  await t.rejects(backUp(directory, data), /the command failed/);
  t.notOk(existsSync(join(directory, 'turnpike.sqlite')), 'a database whose files are missing has no name yet');
  rmSync(unreadable);
  await backUp(directory, data);
  t.same(readdirSync(directory).sort(), ['media', 'turnpike.sqlite']);
});

t.test('no backup is written over, and none is made of nothing', async (t) => {
  const directory = t.testdir({});
  await backUp(directory);
  await t.rejects(backUp(directory), /is there already/);
  await t.rejects(backUp(join(directory, 'other'), join(directory, 'nowhere')), /there is no database at/);
});

t.test('what the gateway stores and takes away meanwhile ends no backup', async (t) => {
  const root = t.testdir({ data: { media: {} } });
  const data = join(root, 'data');
  await openSqliteStore(join(data, 'turnpike.sqlite')).close();
  const media = join(data, 'media');
  const names = Array.from({ length: 2_000 }, (_, at) => `${at.toString(16).padStart(32, '0')}.png`);
  for (const name of names) writeFileSync(join(media, name), name);
  writeFileSync(join(media, '.half.part'), 'half');
  const directory = join(root, 'copy');
  const copied = join(directory, 'media');
  let isOver = false;
  const backedUp = backUp(directory, data).finally(() => {
    isOver = true;
  });
  while (!isOver && (!existsSync(copied) || readdirSync(copied).length === 0)) await new Promise(setImmediate);
  for (const name of readdirSync(media)) rmSync(join(media, name));
  t.match((await backedUp).stdout, /has the database and the files of/);
  t.notOk(readdirSync(copied).includes('.half.part'), 'what is no file yet is none there');
});

t.test('a backup waits for a gateway that has the database for itself, as while it starts or ends', async (t) => {
  const root = t.testdir({ data: {} });
  const data = join(root, 'data');
  const file = join(data, 'turnpike.sqlite');
  const holder = new Database(file);
  holder.exec('PRAGMA journal_mode = WAL; PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE held (id INTEGER)');
  const directory = join(root, 'copy');
  const backedUp = backUp(directory, data);
  while (!existsSync(directory)) await new Promise(setImmediate);
  holder.exec('PRAGMA locking_mode = NORMAL; SELECT 1 FROM held');
  holder.close();
  t.match((await backedUp).stdout, /has the database/);
});
