import { join } from 'node:path';
import Database from 'libsql';
import t from 'tap';
import { loadNetworks } from '../../src/catalogue/load.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { schemaVersion } from '../../src/store/migrations/migrations.ts';
import { demandMode } from '../../src/store/of-one-mode.ts';
import { openCommands } from '../commands.ts';
import { won } from '../store/arrivals.ts';
import { claimAt, sampleFacts, sampleReceipt } from '../store/samples.ts';

const command = openCommands(t);

t.test('commands are in the mode of the database, where the environment says nothing of it', async (t) => {
  const dataDirectory = t.testdir({});
  const store = openSqliteStore(join(dataDirectory, 'turnpike.sqlite'));
  t.teardown(() => store.close());
  const run = (name: string, ...words: string[]) => command(name, words, { TURNPIKE_DATA: dataDirectory });
  t.match(await run('keys', 'create', '--label', 'early'), { code: 0, out: /^tp_sandbox_/ }, 'no gateway has begun it');
  await demandMode(store, 'live', { dataDirectory, databaseUrl: undefined });
  t.match(await run('keys', 'create', '--label', 'the lab'), { code: 0, out: /^tp_live_/ });

  const claim = await won(store, sampleFacts('paid', { network: 'chain-c' }), claimAt(1));
  await store.settle(claim, sampleReceipt(), 2);
  const { live } = [...loadNetworks('catalogue')].find(({ id }) => id === 'chain-c') ?? {};
  const { out } = await run('export', '--from', '2020-01-01', '--to', '2030-01-01', '--format', 'jsonl');
  t.equal(JSON.parse(out).network, live?.caip2);
});

t.test(
  'a command leaves the database of an earlier release as it is, whose gateway could not start again',
  async (t) => {
    const dataDirectory = t.testdir({});
    const file = join(dataDirectory, 'turnpike.sqlite');
    await openSqliteStore(file).close();
    const database = new Database(file);
    t.teardown(() => database.close());
    database.exec(`PRAGMA user_version = ${schemaVersion - 1}`);
    for (const words of [['payments'], ['keys', 'create', '--label', 'late'], ['refund', '--list']]) {
      const [name = '', ...others] = words;
      const { code, out, err } = await command(name, others, { TURNPIKE_DATA: dataDirectory });
      t.match({ code, out }, { code: 1, out: '' }, name);
      t.match(err, /of an earlier release.*run this command of that release, or start the gateway of this one first/);
    }
    t.same(database.pragma('user_version'), [{ user_version: schemaVersion - 1 }]);
  },
);
