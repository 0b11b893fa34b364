/** Commands that move money where the database does what they ask, and its answer never comes. */
import { execFile } from 'node:child_process';
import t from 'tap';
import { openPostgresStore } from '../../src/store/postgres.ts';
import { startLossyRelay } from '../lossy-relay.ts';
import { startPostgres } from '../postgres.ts';
import { addFunded, keyOf } from '../store/credit-samples.ts';
import { wordsFor } from '../words-for.ts';

const { url, stop } = await startPostgres();
t.teardown(stop);
const relay = await startLossyRelay(t, url);
const store = await openPostgresStore(url);
t.teardown(() => store.close());

const run = (command: string, ...words: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const options = { env: { PATH: process.env.PATH, DATABASE_URL: relay.url } };
    execFile(process.execPath, [...wordsFor(`src/cli/${command}.ts`), ...words], options, (error, out, err) => {
      resolve({ code: error ? 1 : 0, out, err });
    });
  });

/** As a failed command says it. */
const reference = (err: string): string => /Repeat the command with (--reference) (\S+),/.exec(err)?.[2] ?? '';

t.test('a top-up is done once when it is repeated as the failure says', async (t) => {
  await addFunded(store, 1_000_000n);
  relay.loseNext('ledger');
  const failed = await run('keys', 'top-up', 'key', '50');
  t.match(failed, { code: 1, out: '', err: /it may be done, or not/ });
  t.equal((await keyOf(store)).balance, 51_000_000n);
  const again = await run('keys', 'top-up', 'key', '50', '--reference', reference(failed.err));
  t.match(again, { code: 0, out: 'key has 51 USD\n' });
  t.equal((await keyOf(store)).balance, 51_000_000n);
});
