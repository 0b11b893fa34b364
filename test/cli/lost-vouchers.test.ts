/** What was drawn from channels and is lost, with its money or with its database, is a difference between books and chain. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import t from 'tap';
import type { ChannelConfig } from '../../src/on-chain/channel-config.ts';
import { usualIntervals } from '../../src/payment/intervals.ts';
import { writeRunning } from '../../src/start/running.ts';
import { askForDeposit, openChannel, takeDeposit, toldOf } from '../channels.ts';
import { openCommands } from '../commands.ts';
import { startGateway } from '../gateway.ts';
import { fresh, picturesWith } from '../settling-first.ts';

const PRICE = 60_000n;
const DAY_MS = 86_400_000;
const dayAfter = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
const TODAY = ['--from', dayAfter(-1), '--to', dayAfter(2)];

const gateway = await startGateway({ catalogue: picturesWith(t, '{ channels: true }'), networks: ['chain-c'] });
t.teardown(gateway.stop);
t.teardown(writeRunning(gateway.directory, { pid: process.pid, url: gateway.url }));

const run = openCommands(t);
const reconcile = (period: readonly string[] = TODAY, data = gateway.directory) =>
  run('reconcile', period, { TURNPIKE_DATA: data });
const differencesIn = (out: string) => out.split('\n').filter((line) => line.startsWith('  '));

/** As an administrator has it. */
function administer<Done>(data: string, work: (database: Database.Database) => Done): Done {
  const database = new Database(join(data, 'turnpike.sqlite'));
  try {
    database.exec('PRAGMA busy_timeout = 5000');
    return work(database);
  } finally {
    database.close();
  }
}

const configOf = (id: string): ChannelConfig =>
  administer(gateway.directory, (database) => {
    const { config } = database.prepare('SELECT config FROM channels WHERE id = ?').get(id) as { config: string };
    return JSON.parse(config);
  });

t.test('of a database that was put back it is told what was claimed of calls that it has forgotten', async (t) => {
  t.teardown(gateway.stopOthers);
  const payer = openChannel(gateway, { salt: `0x${'3'.repeat(64)}` });
  const id = toldOf(await payer.buy(fresh(gateway))).extra.channelState.channelId;
  const copy = mkdtempSync(join(gateway.directory, 'copy-'));
  // As `npm run backup` does.
  administer(gateway.directory, (database) => database.exec(`VACUUM INTO '${join(copy, 'turnpike.sqlite')}'`));
  t.teardown(writeRunning(copy, { pid: process.pid, url: gateway.url }));
  for (let more = 0; more < 2; more += 1) t.equal((await payer.buy(fresh(gateway))).status, 200);
  const claims = { ...usualIntervals.claims, everyMs: 50, afterMs: 0 };
  await gateway.startAnother(undefined, undefined, gateway.directory, { claims });
  while ((await payer.onChain(id)).totalClaimed !== 3n * PRICE) await delay(50);
  await gateway.stopOthers();
  const mine = (out: string) => differencesIn(out).filter((line) => line.includes(`channel ${id} `));
  t.same(mine((await reconcile()).out), [], 'who kept the database knows them all');

  const forgotten = `${2n * PRICE} atomic units (0.12 USDC) were claimed of it that no call explains`;
  const { code, out } = await reconcile(TODAY, copy);
  t.equal(code, 1);
  t.match(mine(out), [forgotten]);
  t.match(mine(out), [/what else was charged by then is lost, unless a file of npm run export -- --vouchers has it/]);

  administer(copy, (database) => database.exec('UPDATE channels SET synced_at = 0'));
  const restored = { ...gateway, url: await gateway.startAnother(undefined, undefined, copy) };
  t.equal((await payer.buy(fresh(restored))).status, 200);
  t.match(mine((await reconcile(TODAY, copy)).out), [forgotten], 'also after the next call');
});

// The last one: it moves the chain's clock.
t.test(
  'a payer who had its deposit back before the claim leaves a difference, by channel and in atomic units',
  async (t) => {
    const [leaving, staying] = ['1', '2'].map((digit) => openChannel(gateway, { salt: `0x${digit.repeat(64)}` }));
    if (!leaving || !staying) throw new Error('two payers are needed');
    let id = '';
    for (let call = 0; call < 5; call += 1) id = toldOf(await leaving.buy(fresh(gateway))).extra.channelState.channelId;
    t.equal((await staying.buy(fresh(gateway))).status, 200);
    t.match(await reconcile(), { code: 0, out: /they agree\n.* 9 calls for 0\.54 USDC drawn from channels/ });

    const config = configOf(id);
    const { balance } = await leaving.onChain(id);
    await askForDeposit(leaving, config, balance - 3n * PRICE - 1n);
    t.match(await reconcile(), { code: 0, out: /they agree/ }, 'it is there yet, and can be claimed');
    await takeDeposit(leaving, config);

    const { code, out } = await reconcile();
    t.equal(code, 1);
    t.match(out, /: 1 difference$/m);
    const [difference, ...others] = differencesIn(out);
    t.same(others, []);
    t.match(difference, new RegExp(`channel ${id} of ${leaving.account.address.toLowerCase()}: `));
    t.match(difference, `${2n * PRICE - 1n} atomic units (0.119999 USDC) of its calls`);
    t.match(difference, `cost ${5n * PRICE} in all, and it holds ${3n * PRICE + 1n}`);
    t.match(difference, /what is deposited in it again pays for them/);

    t.match(await reconcile(['--from', dayAfter(-3), '--to', dayAfter(-1)]), { code: 0, out: /they agree/ });
  },
);
