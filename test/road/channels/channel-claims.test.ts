/** What vouchers are worth is claimed in time, all of it and once. */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import Database from 'libsql';
import pg from 'pg';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { type Address, createWalletClient, type Hex, http, parseAbi } from 'viem';
import { baseSepolia as chain } from 'viem/chains';
import { createLog } from '../../../src/log.ts';
import type { ChannelConfig } from '../../../src/on-chain/channel-config.ts';
import { BATCH_SETTLEMENT } from '../../../src/on-chain/escrow-contracts.ts';
import { type ClaimIntervals, usualIntervals } from '../../../src/payment/intervals.ts';
import { openStore } from '../../../src/store/open.ts';
import {
  askForDeposit as askContract,
  CHANNELS_ON,
  isIncluded,
  nodeOf,
  openChannel,
  type Payer,
  takeDeposit,
  toldOf,
} from '../../channels.ts';
import { type PaidCall, request } from '../../clients.ts';
import { freePort } from '../../free-port.ts';
import { type Gateway, startGateway } from '../../gateway.ts';
import { startPostgres } from '../../postgres.ts';
import { fresh, picturesWith, termsOf } from '../../settling-first.ts';
import { wordsFor } from '../../words-for.ts';

const PRICE = 60_000n;
const DOLLAR = 1_000_000n;
const HOUR_MS = 3_600_000;

const catalogue = picturesWith(t, '{ channels: true }', 'audio/elevenlabs-music', 'llm/vendor3-5.6-terra');
const lines: Record<string, unknown>[] = [];
const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
const gateway = await startGateway({ catalogue, networks: ['chain-c'], log });
t.teardown(gateway.stop);

/** The account that claims. */
async function operatorOf(seller: Gateway): Promise<Address> {
  const { url, init } = fresh(seller);
  const { v2 } = await termsOf(await fetch(url, init));
  const offer = v2.accepts.find(({ scheme, network }) => scheme === 'batch-settlement' && network === CHANNELS_ON);
  if (!offer) throw new Error('channels are not offered');
  return (offer.extra as { receiverAuthorizer: Address }).receiverAuthorizer;
}

let opened = 0;
/** A channel that nobody has used before. */
function another(seller: Gateway): Payer {
  opened += 1;
  return openChannel(seller, { salt: `0x${opened.toString(16).padStart(64, '0')}` });
}

/** What such a call was charged, in atomic units, and its channel. */
async function bought(payer: Payer, call: PaidCall): Promise<{ id: string; charged: bigint }> {
  const answer = await payer.buy(call);
  if (answer.status !== 200) throw new Error(await answer.text());
  const { channelState, chargedAmount } = toldOf(answer).extra;
  return { id: channelState.channelId, charged: BigInt(chargedAmount) };
}

const song = (seller: Gateway): PaidCall =>
  request(seller, '/audio/elevenlabs-music', { prompt: `waves, part ${Math.random()}`, music_length_ms: 120_000 });

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(50);
}
const claimedIs = (payer: Payer, id: string, amount: bigint) =>
  until(async () => (await payer.onChain(id)).totalClaimed === amount);

/** An instance that only sells, and those that claim what it has sold: by the usual intervals but those that are given. */
async function shop(t: Test, of = gateway) {
  t.teardown(of.stopOthers);
  const data = mkdtempSync(join(of.directory, 'shop-'));
  const seller: Gateway = { ...of, url: await of.startAnother(undefined, undefined, data) };
  return {
    data,
    seller,
    claimer: (claims: Partial<ClaimIntervals>) =>
      of.startAnother(undefined, undefined, data, {
        claims: { ...usualIntervals.claims, everyMs: 50, ...claims },
      }),
    /** As an administrator has it. */
    run(sql: string): unknown[] {
      const database = new Database(join(data, 'turnpike.sqlite'));
      try {
        database.exec('PRAGMA busy_timeout = 5000');
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    },
  };
}

/** What happens meanwhile: atomic units that the receiver gets, and transactions of the gateway's account. */
async function change(seller: Gateway, payer: Payer, happens: () => Promise<unknown>) {
  const address = await operatorOf(seller);
  const sent = () => payer.reader.getTransactionCount({ address });
  const [before, sentBefore] = [await seller.earned('chain-c'), await sent()];
  await happens();
  return { earned: (await seller.earned('chain-c')) - before, transactions: (await sent()) - sentBefore };
}

t.test('a dollar is claimed at once, less is not', async (t) => {
  const { seller, claimer } = await shop(t);
  const [small, large] = [another(seller), another(seller)];
  const left = await bought(small, fresh(seller));
  const dear = await bought(large, song(seller));
  t.equal(dear.charged, DOLLAR);
  const changed = await change(gateway, large, async () => {
    await claimer({});
    await claimedIs(large, dear.id, DOLLAR);
  });
  t.same(changed, { earned: DOLLAR, transactions: 1 });
  t.equal((await small.onChain(left.id)).totalClaimed, 0n);
});

t.test('what has waited long enough is claimed, whatever it is: eight channels in one transaction', async (t) => {
  const { seller, claimer, run } = await shop(t);
  const payers = Array.from({ length: 8 }, () => another(seller));
  const channels: { payer: Payer; id: string }[] = [];
  for (const payer of payers) channels.push({ payer, ...(await bought(payer, fresh(seller))) });
  const [first] = channels;
  if (!first) throw new Error('nothing was bought');
  await bought(first.payer, fresh(seller));
  const changed = await change(gateway, first.payer, async () => {
    await claimer({ afterMs: 0 });
    for (const { payer, id } of channels) await claimedIs(payer, id, id === first.id ? 2n * PRICE : PRICE);
  });
  t.same(changed, { earned: 9n * PRICE, transactions: 1 });
  await until(async () => run('SELECT id FROM channels WHERE charged <> total_claimed').length === 0);
});

t.test('of a call that is priced by use the use is claimed, not the bound', async (t) => {
  const { seller, claimer } = await shop(t);
  const payer = another(seller);
  const call = request(seller, '/llm/vendor3-5.6-terra', { prompt: `why does fog lift? ${Math.random()}` });
  const terms = await termsOf(await fetch(call.url, call.init));
  const bound = terms.v2.accepts.find(({ scheme }) => scheme === 'batch-settlement') as { amount?: string } | undefined;
  const { id, charged } = await bought(payer, call);
  t.ok(charged > 0n && charged < BigInt(bound?.amount ?? 0), `${charged} of ${bound?.amount}`);
  const changed = await change(gateway, payer, async () => {
    await claimer({ afterMs: 0 });
    await claimedIs(payer, id, charged);
  });
  t.same(changed, { earned: charged, transactions: 1 });
});

t.test('vouchers after a claim are claimed by the next, and only what is new', async (t) => {
  const { seller, claimer } = await shop(t);
  const payer = another(seller);
  const changed = await change(gateway, payer, async () => {
    await claimer({ afterMs: 200 });
    for (const total of [PRICE, 2n * PRICE]) {
      const { id } = await bought(payer, fresh(seller));
      await claimedIs(payer, id, total);
    }
  });
  t.same(changed, { earned: 2n * PRICE, transactions: 3 }, 'a deposit and two claims');
});

t.test('one voucher that the contract turns down does not keep the others waiting, and is told once', async (t) => {
  const { seller, claimer, run } = await shop(t);
  const channels: { payer: Payer; id: string }[] = [];
  for (let made = 0; made < 3; made += 1) {
    const payer = another(seller);
    channels.push({ payer, ...(await bought(payer, fresh(seller))) });
  }
  const [first, bad, last] = channels;
  if (!first || !bad || !last) throw new Error('nothing was bought');
  const forged = `0x${'33'.repeat(64)}1b`;
  run(`UPDATE channels SET voucher_signature = '${forged}' WHERE id = '${bad.id}' RETURNING id`);
  const from = lines.length;
  const changed = await change(gateway, first.payer, async () => {
    await claimer({ afterMs: 0 });
    for (const { payer, id } of [first, last]) await claimedIs(payer, id, PRICE);
  });
  t.same(changed, { earned: 2n * PRICE, transactions: 1 });

  const payer = another(seller);
  const { id } = await bought(payer, fresh(seller));
  await claimedIs(payer, id, PRICE);
  t.equal((await bad.payer.onChain(bad.id)).totalClaimed, 0n);
  const told = lines.slice(from).filter(({ channel }) => channel === bad.id);
  t.match(told, [{ level: 50, network: 'chain-c', due: String(PRICE), msg: /export -- --vouchers/ }]);
  t.equal(told.length, 1, 'it was turned down again meanwhile');
  t.notMatch(JSON.stringify(lines), forged.slice(2), 'no log line has a signature');
});

t.test('an instance that died before it claimed leaves everything to the next', async (t) => {
  const { seller, claimer, run } = await shop(t);
  const payer = another(seller);
  const { id } = await bought(payer, fresh(seller));
  const freeAt = Date.now() + 1_000;
  run(`UPDATE channels SET claiming_until = ${freeAt} RETURNING id`);
  const changed = await change(gateway, payer, async () => {
    await claimer({ afterMs: 0 });
    await claimedIs(payer, id, PRICE);
  });
  t.ok(Date.now() >= freeAt, "what it had taken is another's when its time is over");
  t.same(changed, { earned: PRICE, transactions: 1 });
});

t.test('who starts claims what fell due while nothing ran, and does not wait for its next round', async (t) => {
  const { seller, claimer } = await shop(t);
  const payer = another(seller);
  const { id, charged } = await bought(payer, song(seller));
  await claimer({ everyMs: 24 * HOUR_MS });
  await claimedIs(payer, id, charged);
});

t.test(
  'who finds its node out of reach at its start claims once that is back, long before its next round',
  async (t) => {
    let isSilent = false;
    const own = await startGateway({
      catalogue,
      networks: ['chain-c'],
      between: async ({ facilitators }) => ({
        facilitators: facilitators.map(({ name, facilitator }) => ({
          name,
          facilitator: {
            ...facilitator,
            supported: () =>
              isSilent ? Promise.reject(new Error('its node does not answer')) : facilitator.supported(),
          },
        })),
      }),
      log,
    });
    t.teardown(own.stop);
    const { data, seller } = await shop(t, own);
    const payer = another(seller);
    const { id, charged } = await bought(payer, song(seller));
    const from = lines.length;
    isSilent = true;
    const claims = { ...usualIntervals.claims, everyMs: 24 * HOUR_MS };
    await own.startAnother(undefined, undefined, data, { claims, reconcileEveryMs: 50 });
    await until(async () => lines.slice(from).some(({ reason }) => /no key .* in reach/.test(String(reason))));
    isSilent = false;
    await claimedIs(payer, id, charged);
  },
);

t.test('an instance that died right after it claimed: the chain is asked, and nothing is sent again', async (t) => {
  const { seller, claimer, run } = await shop(t);
  const payer = another(seller);
  const { id } = await bought(payer, fresh(seller));
  const [before] = run('SELECT unclaimed_since FROM channels') as { unclaimed_since: number }[];
  await claimer({ afterMs: 0 });
  await until(async () => run('SELECT id FROM channels WHERE charged <> total_claimed').length === 0);
  const changed = await change(gateway, payer, async () => {
    run(`UPDATE channels SET total_claimed = '0', unclaimed_since = ${before?.unclaimed_since} RETURNING id`);
    await until(async () => run('SELECT id FROM channels WHERE charged <> total_claimed').length === 0);
  });
  t.same(changed, { earned: 0n, transactions: 0 });
  t.same(run('SELECT total_claimed, charged FROM channels'), [
    { total_claimed: String(PRICE), charged: String(PRICE) },
  ]);
  t.equal((await payer.onChain(id)).totalClaimed, PRICE);
});

t.test('two instances on one Postgres claim each voucher once', async (t) => {
  const { url, stop } = await startPostgres();
  t.teardown(stop);
  const claims = { everyMs: 20, afterMs: HOUR_MS, readEveryMs: HOUR_MS, takenMs: 300_000 };
  const shared = await startGateway({
    catalogue,
    networks: ['chain-c'],
    environment: { DATABASE_URL: url },
    intervals: { claims },
  });
  t.teardown(shared.stop);
  await shared.startAnother(undefined, undefined, undefined, { claims });
  const store = await openStore({ file: ':memory:', databaseUrl: url, log: createLog('silent') });
  t.teardown(() => store.close());
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  t.teardown(() => database.end());
  const payers = Array.from({ length: 5 }, () => another(shared));
  const [first] = payers;
  if (!first) throw new Error('nobody buys');
  const isTold = async () => (await store.channels.unclaimedSums()).get('chain-c') === PRICE;
  const changed = await change(shared, first, async () => {
    for (const payer of payers) {
      const { id } = await bought(payer, fresh(shared));
      await until(isTold);
      // It has waited for long.
      await database.query('UPDATE channels SET unclaimed_since = 0 WHERE unclaimed_since IS NOT NULL');
      await claimedIs(payer, id, PRICE);
      await until(async () => !(await isTold()));
    }
  });
  t.same(changed, { earned: 5n * PRICE, transactions: 10 }, 'a deposit and a claim of each channel');
});

t.test('what is not claimed yet, and what was, is in the metrics', async (t) => {
  const port = await freePort();
  const selling = await startGateway({
    catalogue,
    networks: ['chain-c'],
    environment: { TURNPIKE_ADMIN_PORT: String(port) },
    intervals: { claims: { ...usualIntervals.claims, everyMs: 50 } },
  });
  t.teardown(selling.stop);
  const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  await bought(another(selling), fresh(selling));
  const text = await scrape();
  t.ok(text.split('\n').includes('turnpike_channel_unclaimed_usd{network="chain-c"} 0.06'));
  for (const outcome of ['claimed', 'refused']) {
    const begins = `turnpike_channel_claims_total{network="chain-c",outcome="${outcome}"} 0`;
    t.ok(text.split('\n').includes(begins), 'a counter that came with its first count would not be seen to grow');
  }
  t.notMatch(text, 'turnpike_settled_first_total{', 'it was charged after the work');
  await bought(another(selling), song(selling));
  await until(async () =>
    (await scrape()).split('\n').includes('turnpike_channel_claims_total{network="chain-c",outcome="claimed"} 1'),
  );
});

const abi = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }',
  'struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }',
  'function claim(VoucherClaim[] voucherClaims)',
  'function settle(address receiver, address token)',
]);
const address = BATCH_SETTLEMENT as Address;
type Struct = Record<Exclude<keyof ChannelConfig, 'withdrawDelay'>, Hex> & { readonly withdrawDelay: number };
const transport = http(gateway.state.evm['chain-c']?.rpcUrl);

/** The payer asks the contract for the deposit of its channel. */
async function askForDeposit(payer: Payer, id: string, run: (sql: string) => unknown[], amount?: bigint) {
  const [row] = run('SELECT config FROM channels') as { config: string }[];
  const config: ChannelConfig = JSON.parse(row?.config ?? '');
  const { balance } = await payer.onChain(id);
  await askContract(payer, config, amount ?? balance);
  return { config, balance };
}

/** What `npm run export -- --vouchers` writes. */
const exporting = (data: string) => {
  const env = { PATH: process.env.PATH, TURNPIKE_DATA: data };
  return async (...words: string[]) => {
    const command = [...wordsFor('src/cli/export.ts'), '--vouchers', ...words];
    return (await promisify(execFile)(process.execPath, command, { env })).stdout;
  };
};

t.test('what is exported is all that a claim by hand needs', async (t) => {
  const { seller, data, claimer, run } = await shop(t);
  const payer = another(seller);
  const { id } = await bought(payer, fresh(seller));
  const vouchers = exporting(data);
  const row = JSON.parse(await vouchers('--format', 'jsonl')) as Record<string, string>;
  t.match(row, { network: CHANNELS_ON, channel: id, charged: String(PRICE), claimed: '0', withdrawal_asked_at: null });
  const account = await operatorOf(seller);
  await nodeOf(payer, 'anvil_impersonateAccount', [account]);
  const channel: Struct = JSON.parse(row.config ?? '');
  const voucher = { channel, maxClaimableAmount: BigInt(row.voucher_max ?? '') };
  const each = { voucher, signature: row.voucher_signature as Hex, totalClaimed: BigInt(row.charged ?? '') };
  const wallet = createWalletClient({ account, chain, transport });
  const claiming = { abi, address, functionName: 'claim', args: [[each]] } as const;
  const paying = { abi, address, functionName: 'settle', args: [channel.receiver, channel.token] } as const;
  const earned = await seller.earned('chain-c');
  t.ok(await isIncluded(payer, await wallet.writeContract(claiming)));
  t.ok(await isIncluded(payer, await wallet.writeContract(paying)));
  t.equal((await seller.earned('chain-c')) - earned, PRICE);
  await nodeOf(payer, 'anvil_stopImpersonatingAccount', [account]);

  await claimer({ readEveryMs: 0 });
  await until(async () => run('SELECT id FROM channels WHERE charged <> total_claimed').length === 0);
  t.equal((await vouchers()).trim().split('\n').length, 1, 'the head alone');
  await t.rejects(vouchers('--from', '2026-11-01'), { message: /leave out --from/ });
});

t.test(
  'a payer who asks for its deposit buys nothing more, though a clock that was ahead was right after that',
  async (t) => {
    const { data, seller, run } = await shop(t);
    const payer = another(seller);
    const { id } = await bought(payer, fresh(seller));
    // By its clock what was drawn has waited for three days: it is left to others to claim that.
    const claims = { ...usualIntervals.claims, afterMs: 96 * HOUR_MS };
    const ahead = await gateway.startAnother(() => Date.now() + 72 * HOUR_MS, undefined, data, { claims });
    t.equal((await payer.buy(fresh({ ...seller, url: ahead }))).status, 200);
    await askForDeposit(payer, id, run);
    const { upstreamCalls } = await seller.calls();
    const refused = await payer.buy(fresh(seller));
    t.equal(refused.status, 402, 'what was read by that clock is not taken for new');
    t.match(await refused.text(), /asked for the deposit/);
    t.equal((await seller.calls()).upstreamCalls, upstreamCalls);
  },
);

t.test('of a payer who asks for its deposit what is due is claimed first, and nothing more is sold', async (t) => {
  const { seller, claimer, run } = await shop(t);
  const payer = another(seller);
  const { id } = await bought(payer, fresh(seller));
  const asked = await askForDeposit(payer, id, run);
  const changed = await change(seller, payer, async () => {
    await claimer({ readEveryMs: 0 });
    await claimedIs(payer, id, PRICE);
  });
  t.same(changed, { earned: PRICE, transactions: 1 });

  const { upstreamCalls } = await seller.calls();
  const refused = await payer.buy(fresh(seller));
  t.equal(refused.status, 402);
  t.match(await refused.text(), /asked for the deposit/);
  t.equal((await seller.calls()).upstreamCalls, upstreamCalls);

  const spendable = await gateway.spendable('chain-c');
  await takeDeposit(payer, asked.config);
  t.equal((await gateway.spendable('chain-c')) - spendable, asked.balance - PRICE, "the rest is its payer's");
});

t.test(
  'of a channel whose payer had some of it back before a claim what is left is claimed, and the rest told',
  async (t) => {
    const own = await startGateway({ catalogue, networks: ['chain-c'], log });
    t.teardown(own.stop);
    const { seller, data, claimer, run } = await shop(t, own);
    const vouchers = exporting(data);
    const payer = another(seller);
    const { id } = await bought(payer, fresh(seller));
    for (let more = 0; more < 4; more += 1) await bought(payer, fresh(seller));
    const { balance } = await payer.onChain(id);
    const { config } = await askForDeposit(payer, id, run, balance - 3n * PRICE);
    await takeDeposit(payer, config);
    await claimer({ readEveryMs: 0, afterMs: HOUR_MS });
    await until(async () => run(`SELECT id FROM channels WHERE balance = '${3n * PRICE}'`).length === 1);
    await own.stopOthers();
    t.match(JSON.parse(await vouchers('--format', 'jsonl')), { charged: String(3n * PRICE), claimed: '0' });
    const changed = await change(own, payer, async () => {
      await claimer({ afterMs: 0 });
      await until(async () => lines.some(({ channel }) => channel === id));
    });
    t.same(changed, { earned: 3n * PRICE, transactions: 1 }, 'all that its channel holds');
    t.match(
      lines.find(({ channel }) => channel === id),
      {
        level: 50,
        due: String(2n * PRICE),
        charged: String(5n * PRICE),
        msg: /charged more than it holds.*nobody can claim/,
      },
    );
    t.equal((await vouchers()).trim().split('\n').length, 1, 'what nobody can claim is not waited for');
  },
);
