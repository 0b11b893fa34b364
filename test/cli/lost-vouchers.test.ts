/** What was drawn from channels and can be claimed by nobody any more is a difference between books and chain. */
import { join } from 'node:path';
import Database from 'libsql';
import t from 'tap';
import type { ChannelConfig } from '../../src/on-chain/channel-config.ts';
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
const reconcile = (period: readonly string[] = TODAY) => run('reconcile', period, { TURNPIKE_DATA: gateway.directory });

function configOf(id: string): ChannelConfig {
  const database = new Database(join(gateway.directory, 'turnpike.sqlite'));
  try {
    const { config } = database.prepare('SELECT config FROM channels WHERE id = ?').get(id) as { config: string };
    return JSON.parse(config);
  } finally {
    database.close();
  }
}

t.test(
  'a payer who had its deposit back before the claim leaves a difference, by channel and in atomic units',
  async (t) => {
    const [leaving, staying] = ['1', '2'].map((digit) => openChannel(gateway, { salt: `0x${digit.repeat(64)}` }));
    if (!leaving || !staying) throw new Error('two payers are needed');
    let id = '';
    for (let call = 0; call < 5; call += 1) id = toldOf(await leaving.buy(fresh(gateway))).extra.channelState.channelId;
    t.equal((await staying.buy(fresh(gateway))).status, 200);
    t.match(await reconcile(), { code: 0, out: /they agree\n.* 6 calls for 0\.36 USDC drawn from channels/ });

    const config = configOf(id);
    const { balance } = await leaving.onChain(id);
    await askForDeposit(leaving, config, balance - 3n * PRICE - 1n);
    t.match(await reconcile(), { code: 0, out: /they agree/ }, 'it is there yet, and can be claimed');
    await takeDeposit(leaving, config);

    const { code, out } = await reconcile();
    t.equal(code, 1);
    t.match(out, /: 1 difference$/m);
    const [difference, ...others] = out.split('\n').filter((line) => line.startsWith('  '));
    t.same(others, []);
    t.match(difference, new RegExp(`channel ${id} of ${leaving.account.address.toLowerCase()}: `));
    t.match(difference, `${2n * PRICE - 1n} atomic units (0.119999 USDC) of its calls`);
    t.match(difference, `cost ${5n * PRICE} in all, and it holds ${3n * PRICE + 1n}`);
    t.match(difference, /what is deposited in it again pays for them/);

    t.match(await reconcile(['--from', dayAfter(-3), '--to', dayAfter(-1)]), { code: 0, out: /they agree/ });
  },
);
