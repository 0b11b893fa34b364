import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { addFunded, keyOf, ledgerSum, sampleHold } from '../store/credits/credit-samples.ts';
import { wordsFor } from '../words-for.ts';

/** A process that spends; what it says is durable by then. */
function startSpender(t: Test, file: string, owner: string) {
  const child = spawn(process.execPath, [...wordsFor('test/credits/spender.ts'), file, owner], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return {
    lines: createInterface({ input: child.stdout }),
    ended: once(child, 'exit'),
    kill: () => child.kill('SIGKILL'),
  };
}

t.test('explains every amount after kill -9, and gives back what the dead held', async (t) => {
  const file = join(t.testdir({}), 'turnpike.sqlite');
  const start = 1_000_000_000n;
  const store = openSqliteStore(file);
  t.teardown(() => store.close());
  await addFunded(store, start);
  for (const round of [1, 2, 3]) {
    const { lines, ended, kill } = startSpender(t, file, `spender-${round}`);
    const promised = new Map<string, bigint>();
    for await (const line of lines) {
      const [state, id = '', price = '0'] = line.split(' ');
      promised.set(id, state === 'settled' ? BigInt(price) : 0n);
      if (promised.size === 400) kill();
    }
    t.same(await ended, [null, 'SIGKILL']);

    const before = await keyOf(store);
    t.equal(before.balance, await ledgerSum(store));
    await store.credits.releaseExpired(2_000);
    const after = await keyOf(store);
    t.equal(after.held, 0n);
    t.equal(after.balance, before.balance + before.held, 'what the dead held is there again');
    t.equal(after.balance, await ledgerSum(store));

    const entries = await store.credits.entries('key', 1_000_000);
    const settled = new Map(
      entries.filter(({ kind }) => kind === 'settle').map(({ reference, price }) => [reference, price]),
    );
    t.same(
      [...promised].filter(([id, price]) => (settled.get(id) ?? 0n) !== price),
      [],
      'what was said to be charged was charged',
    );
    const charged = [...settled.values()].reduce<bigint>((sum, price) => sum + (price ?? 0n), 0n);
    t.equal(after.balance, start - charged);
    const ends = entries.filter(({ kind }) => kind === 'settle' || kind === 'release').length;
    t.equal(ends, entries.filter(({ kind }) => kind === 'hold').length, 'every hold has one end');
  }
});

t.test('goes on with the keys of the dead', async (t) => {
  const file = join(t.testdir({}), 'turnpike.sqlite');
  const store = openSqliteStore(file);
  t.teardown(() => store.close());
  await addFunded(store, 1_000n);
  const dead = openSqliteStore(file);
  await dead.credits.hold(sampleHold('left', 900n, { owner: 'dead' }));
  await dead.close();
  t.match(await store.credits.hold(sampleHold('next', 900n)), { held: false, because: 'balance' });
  await store.credits.releaseExpired(2_000);
  t.match(await store.credits.hold(sampleHold('next', 900n)), { held: true });
});
