/** PgBouncer that lends a server's connection for one transaction and keeps no prepared statements. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { openPostgresStore } from '../../../src/store/engines/postgres.ts';
import type { Store } from '../../../src/store/store.ts';
import { missing } from '../../debian.ts';
import { freePort } from '../../free-port.ts';
import { startPostgres } from '../../postgres.ts';
import { existing, finished } from '../arrivals.ts';

/** From 1.21 on it can keep them; before, it does not know the setting. */
function settingsFor(version: string): string {
  const [, minor = 0] = /PgBouncer 1\.(\d+)/.exec(version) ?? [];
  return Number(minor) < 21 ? '' : 'max_prepared_statements = 0\n';
}

/** The same database behind the pooler. */
async function startPooler(t: Test, database: string): Promise<string> {
  const { username, password, hostname, port: server, pathname } = new URL(database);
  const port = await freePort();
  const folder = t.testdir();
  const file = join(folder, 'pgbouncer.ini');
  const version = execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' });
  const [name, at] = [pathname.slice(1), `host=${hostname} port=${server} user=${username} password=${password}`];
  writeFileSync(
    file,
    `[databases]
${name} = ${at}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
${settingsFor(version)}`,
  );
  chmodSync(file, 0o644);
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const pooler = spawn('pgbouncer', [...user, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(pooler, 'exit');
  t.teardown(async () => {
    pooler.kill('SIGKILL');
    await ended;
  });
  const heard: string[] = [];
  for await (const line of createInterface({ input: pooler.stderr })) {
    heard.push(line);
    if (line.includes('process up')) break;
  }
  t.match(heard.at(-1), /process up/);
  pooler.stderr.resume();
  return `postgres://anybody@127.0.0.1:${port}${pathname}`;
}

t.test(
  'two instances behind a pooler that keeps no prepared statements sell as everywhere',
  { skip: missing('pgbouncer') },
  async (t) => {
    const { url, stop } = await startPostgres();
    t.teardown(stop);
    const pooled = await startPooler(t, url);
    const stores = [await openPostgresStore(pooled), await openPostgresStore(pooled)];
    t.teardown(() => Promise.all(stores.map((store) => store.close())));
    for (const round of ['a', 'b', 'c']) {
      const ids = Array.from({ length: 12 }, (_, at) => `${round}${at}`);
      await Promise.all(ids.map((id, at) => finished(stores[at % 2] as Store, id)));
      const kept = await Promise.all(ids.map((id, at) => existing(stores[(at + 1) % 2] as Store, id)));
      t.same(
        kept.map(({ id, state }) => `${id} ${state}`),
        ids.map((id) => `${id} settled`),
      );
    }
  },
);
