import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openStore } from '../../src/store/open.ts';
import { startPostgres } from '../postgres.ts';
import { claimAt, sampleFacts } from './samples.ts';

t.test('keeps its state in the file when no database is named', async (t) => {
  const file = join(t.testdir({}), 'data', 'turnpike.sqlite');
  const store = await openStore({ file });
  t.teardown(() => store.close());
  t.match(await store.claim(sampleFacts('local'), claimAt(1)), { won: true });
  t.ok(existsSync(file));
});

t.test('keeps its state in Postgres, and makes no file, when a database is named', async (t) => {
  const file = join(t.testdir({}), 'data', 'turnpike.sqlite');
  const { url, stop } = await startPostgres();
  t.teardown(stop);
  const store = await openStore({ databaseUrl: url, file });
  t.match(await store.claim(sampleFacts('shared'), claimAt(1)), { won: true });
  await store.close();
  const again = await openStore({ databaseUrl: url, file });
  t.match(await again.find('shared'), { state: 'claimed' });
  await again.close();
  t.notOk(existsSync(file));
});
