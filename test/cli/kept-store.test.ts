import { join } from 'node:path';
import t from 'tap';
import { loadNetworks } from '../../src/catalogue/load.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
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
