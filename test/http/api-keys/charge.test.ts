/** What a call holds of its key's balance, and what it is charged in the end. */
import { join } from 'node:path';
import Database from 'libsql';
import t, { type Test } from 'tap';
import {
  type ChargeParts,
  costOf,
  demandAllowance,
  openHold,
  ROUTE,
  type Use,
} from '../../../src/http/api-keys/charge.ts';
import type { ApiKeyProblem } from '../../../src/http/api-keys/problems.ts';
import type { ChatCall } from '../../../src/http/api-keys/request.ts';
import { usd } from '../../../src/money.ts';
import { createLeases } from '../../../src/payment/leases.ts';
import { priceModel } from '../../../src/pricing/tokens.ts';
import type { CreditStore, HoldRequest, NewApiKey } from '../../../src/store/credits/credit-store.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { addFunded, keyOf, sampleHold } from '../../store/credits/credit-samples.ts';

const DAY_MS = 86_400_000;
const LEASE_MS = 30_000;
/** A second and a half after midnight. */
const NOW = 20_000 * DAY_MS + 1_500;
const UNTIL_MIDNIGHT = { 'retry-after': '86399', 'x-should-retry': 'false' };

const model = { name: 'sage', cost: { input: '2', output: '8' }, maxOutput: 4_000, defaultOutput: 500, id: 'sage' };
const price = priceModel(new Map([['sage', model]]), 'sage', 0n, []);

/** A call that may cost so much. */
const callFor = (dollars: string, least = '0'): ChatCall => ({
  model: { name: 'sage', price, deadlineMs: 10_000, sources: [] },
  isStream: false,
  wantsUsage: false,
  promptTokens: 100,
  maxTokens: 500,
  bound: usd(dollars),
  leastBound: usd(least),
  temperature: undefined,
  reasoningEffort: undefined,
  parameters: {},
});

/** 100 tokens at 2 dollars a million and 200 at 8: 0.0018 dollars. */
const use: Use = { promptTokens: 100, completionTokens: 200, isEstimated: false, cost: undefined };

interface WorldOptions {
  readonly file?: string;
  readonly credit?: string;
  readonly key?: Partial<NewApiKey>;
}

async function openWorld(t: Test, { file = ':memory:', credit = '1', key = {} }: WorldOptions = {}) {
  let time = NOW;
  const now = () => time;
  const store = openSqliteStore(file, { now });
  t.teardown(() => store.close());
  await addFunded(store, usd(credit), key);
  const asked: HoldRequest[] = [];
  const prolonged: (readonly string[])[] = [];
  const lines: [level: string, details: object, message: string][] = [];
  const write = (level: string) => (details: object, message: string) => void lines.push([level, details, message]);
  const world = { onceHeld: async () => {} };
  const credits: CreditStore = store.credits;
  const parts: ChargeParts = {
    store: {
      ...credits,
      async hold(request) {
        asked.push(request);
        const outcome = await credits.hold(request);
        await world.onceHeld();
        return outcome;
      },
    },
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    owner: 'instance-1',
    leases: createLeases<string>({
      leaseMs: LEASE_MS,
      prolong(ids, leaseUntil) {
        prolonged.push(ids);
        return credits.renew('instance-1', ids, leaseUntil);
      },
      nameOf: (id) => id,
      now,
    }),
    creditsUrl: 'https://gateway.example/v1/credits',
    leaseMs: LEASE_MS,
    waitMs: 0,
    stopping: new AbortController().signal,
    now,
  };
  return {
    store,
    parts,
    asked,
    prolonged,
    lines,
    world,
    key: () => keyOf(store, 'key', time),
    async open(dollars: string, id = 'call') {
      const hold = await openHold(parts, await keyOf(store, 'key', time), callFor(dollars), id);
      if ('body' in hold) throw new Error('the call has no name');
      return hold;
    },
    pass: (ms: number) => {
      time += ms;
    },
    newest: async () => (await store.credits.entries('key', 1))[0],
  };
}

t.test('a call holds the most that it may cost, for as long as its instance lives', async (t) => {
  const { store, asked, prolonged, key, open } = await openWorld(t);
  await open('0.25');
  t.same(asked, [
    {
      id: 'call',
      keyId: 'key',
      amount: usd('0.25'),
      mostHolds: 32,
      route: ROUTE,
      model: 'sage',
      owner: 'instance-1',
      now: NOW,
      leaseUntil: NOW + LEASE_MS,
    },
  ]);
  t.match(await key(), { balance: usd('0.75'), held: usd('0.25') });
  t.same(prolonged, [], 'nobody has to be asked whether it is held still');
  t.equal(await store.credits.releaseExpired(NOW), 0);
});

t.test(
  'what may have been given back before the call began is held for nobody, also where none can be asked',
  async (t) => {
    const { parts, world, key, pass } = await openWorld(t);
    world.onceHeld = async () => pass(LEASE_MS - 5_000);
    const asked: (readonly string[])[] = [];
    const leases = createLeases<string>({
      leaseMs: LEASE_MS,
      async prolong(ids) {
        asked.push(ids);
        if (ids.length > 0) throw new Error('the database is gone');
        return ids;
      },
      nameOf: (id) => id,
      now: parts.now,
    });
    await t.rejects(openHold({ ...parts, leases }, await key(), callFor('0.25'), 'call'), /the database is gone/);
    await leases.renew();
    t.same(asked, [['call'], []], 'its lease runs out');
  },
);

t.test('a call is charged what it used, and the rest is given back', async (t) => {
  const { parts, prolonged, lines, key, open, newest } = await openWorld(t);
  const hold = await open('0.25');
  t.equal(await hold.settle({ ...use, cost: 1_200_000_000n }), usd('0.0018'));
  t.match(await key(), { balance: usd('0.9982'), held: 0n });
  t.match(await newest(), {
    kind: 'settle',
    price: usd('0.0018'),
    cost: 1_200_000_000n,
    note: '100 prompt and 200 completion tokens',
  });
  await parts.leases.renew();
  t.same(prolonged, [[]], 'and it is held no longer');
  t.same(lines, [
    [
      'info',
      { requestId: 'call', key: 'key', model: 'sage', usd: '0.0018', note: '100 prompt and 200 completion tokens' },
      'call charged',
    ],
  ]);
});

t.test('the ledger tells what was estimated, and no cost that the provider does not tell', async (t) => {
  const { open, newest } = await openWorld(t);
  const hold = await open('0.25');
  await hold.settle({ ...use, isEstimated: true });
  t.match(await newest(), { note: '100 prompt and 200 completion tokens as estimated', cost: undefined });
});

t.test('a call is never charged more than it holds', async (t) => {
  const { key, open } = await openWorld(t);
  const hold = await open('0.001');
  t.equal(await hold.settle(use), usd('0.001'));
  t.match(await key(), { balance: usd('0.999'), held: 0n });
});

t.test('a call that fails is charged nothing', async (t) => {
  const { parts, prolonged, lines, key, open, newest } = await openWorld(t);
  const hold = await open('0.25');
  await hold.release('upstream_timeout');
  t.match(await key(), { balance: usd('1'), held: 0n });
  t.match(await newest(), { kind: 'release', note: 'upstream_timeout' });
  await parts.leases.renew();
  t.same(prolonged, [[]]);
  t.match(lines, [['info', { requestId: 'call', note: 'upstream_timeout' }, 'call not charged']]);
});

t.test('a call whose hold the database knows nothing of is charged nothing, and the operator reads it', async (t) => {
  const file = join(t.testdir({}), 'turnpike.sqlite');
  const { lines, open } = await openWorld(t, { file });
  const hold = await open('0.25');
  const database = new Database(file);
  t.teardown(() => database.close());
  database.exec(`DELETE FROM holds; DELETE FROM ledger WHERE kind = 'hold'`);
  t.equal(await hold.settle(use), 0n);
  t.match(lines, [['error', { requestId: 'call', usd: '0' }, 'call not charged: nothing is known of its hold']]);
});

t.test('no call begins whose hold was given back before it could', async (t) => {
  const { store, parts, world, prolonged, key, open, pass } = await openWorld(t);
  world.onceHeld = async () => {
    pass(LEASE_MS + 1);
    await store.credits.releaseExpired(NOW + LEASE_MS + 1);
  };
  await t.rejects(open('0.25'), {
    code: 'store_unavailable',
    cause: { message: 'what the call held was given back before it began' },
  });
  t.match(await key(), { balance: usd('1'), held: 0n });
  await parts.leases.renew();
  t.same(prolonged, [['call'], []], 'and nothing is left of it');
});

t.test('a call that costs more than there is says how much is lacking, and where to top up', async (t) => {
  const { key, open } = await openWorld(t);
  await t.rejects(open('1.000001'), {
    name: 'ApiKeyProblem',
    code: 'insufficient_credits',
    message:
      'The call may cost up to 1.000001 USD, and the balance is 1 USD: ' +
      'lower max_tokens, or top up with POST https://gateway.example/v1/credits',
    facts: { needed_usd: '1.000001', balance_usd: '1', top_up_url: 'https://gateway.example/v1/credits' },
  });
  t.match(await key(), { balance: usd('1'), held: 0n });
  await open('1');
  t.match(await key(), { balance: 0n, held: usd('1') });
});

t.test('nobody is told to lower max_tokens where a call of one token costs more than there is', async (t) => {
  const { store, parts } = await openWorld(t);
  const opening = openHold(parts, await keyOf(store, 'key', NOW), callFor('2', '1.5'), 'call');
  await t.rejects(opening, {
    message:
      / is 1 USD: send less, or take a cheaper model, or top up with POST https:\/\/gateway\.example\/v1\/credits$/,
  });
});

t.test('nobody is sent to top up where no credits are sold', async (t) => {
  const { store, parts } = await openWorld(t);
  const opening = openHold({ ...parts, creditsUrl: undefined }, await keyOf(store, 'key', NOW), callFor('2'), 'call');
  const error = await opening.catch((refused: unknown) => refused);
  t.match(error, { code: 'insufficient_credits', message: /balance is 1 USD: lower max_tokens$/ });
  t.strictSame((error as ApiKeyProblem).facts, { needed_usd: '2', balance_usd: '1' });
});

const beyondDay = (dollars: string) => ({
  name: 'ApiKeyProblem',
  code: 'daily_limit_exceeded',
  message: `The call may cost up to ${dollars} USD, more than is left of what the API key may spend today (UTC)`,
  headers: UNTIL_MIDNIGHT,
});

t.test('a call beyond what its key may spend in a day comes again after midnight', async (t) => {
  const { open } = await openWorld(t, { key: { limits: { perDay: usd('0.3') } } });
  await open('0.2', 'first');
  await t.rejects(open('0.100001', 'second'), beyondDay('0.100001'));
  await open('0.1', 'third');
});

t.test('nothing is bought for a call beyond what its key may spend in a day', async (t) => {
  const { key, open } = await openWorld(t, { key: { limits: { perDay: usd('0.3') } } });
  await open('0.2');
  const found = await key();
  t.equal(demandAllowance(found, callFor('0.1'), NOW), undefined);
  t.throws(() => demandAllowance(found, callFor('0.100001'), NOW), beyondDay('0.100001'));
  t.equal(demandAllowance(found, callFor('0.3'), NOW + DAY_MS), undefined, 'the next day is another');
});

t.test('a key has so many calls under way and no more', async (t) => {
  const { store, open } = await openWorld(t);
  const own = { route: ROUTE, now: NOW, leaseUntil: NOW + LEASE_MS };
  for (let call = 0; call < 31; call += 1) await store.credits.hold(sampleHold(`call-${call}`, 1n, own));
  const last = await open('0.001');
  await t.rejects(open('0.001', 'another'), {
    code: 'too_many_calls',
    message: 'The API key has 32 calls under way, as many as it may have at a time: wait for one to end',
    headers: { 'retry-after': '1' },
  });
  await last.release('failed');
  await open('0.001', 'another');
});

t.test('a key that was disabled or has expired just now is good for no call', async (t) => {
  const invalid = { code: 'invalid_api_key', message: 'The API key was disabled or has expired just now' };
  const { store, parts, key, open, pass } = await openWorld(t, { key: { expiresAt: NOW + 1_000 } });
  const unknown = { ...(await key()), id: 'another' };
  await t.rejects(openHold(parts, unknown, callFor('0.1'), 'unknown'), invalid);
  await open('0.1');
  pass(1_000);
  await t.rejects(open('0.1', 'expired'), invalid);
  await store.credits.disableKey('key', NOW);
  await t.rejects(open('0.1', 'disabled'), invalid);
});

t.test('reads what the provider says that a call cost, and nothing into what it does not say', (t) => {
  const cases: readonly [usage: Readonly<Record<string, unknown>> | undefined, cost: bigint | undefined][] = [
    [{ cost: 0.00012 }, 120_000_000n],
    [{ cost: 0 }, 0n],
    [{ cost: 999.99 }, 99_999n * 10n ** 10n],
    [{ cost: 12_345_678 }, undefined],
    [{ cost: 1e21 }, undefined],
    [{ cost: -0.01 }, undefined],
    [{ cost: Number.NaN }, undefined],
    [{ cost: '5' }, undefined],
    [{ cost: null }, undefined],
    [{ cost: 0.002, is_byok: true, cost_details: { upstream_inference_cost: 0.04 } }, 42_000_000_000n],
    [{ cost: 0, is_byok: true, cost_details: { upstream_inference_cost: null } }, 0n],
    [{ cost: 0.04, is_byok: false, cost_details: { upstream_inference_cost: 0.04 } }, 40_000_000_000n],
    [{ cost_in_usd_ticks: 37_756_000 }, 3_775_600_000n],
    [{ cost_in_usd_ticks: '37756000' }, undefined],
    [{}, undefined],
    [undefined, undefined],
  ];
  for (const [usage, cost] of cases) t.equal(costOf(usage), cost, JSON.stringify(usage));
  t.end();
});
