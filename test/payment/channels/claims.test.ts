/** Which channels a round claims of, in which order, and what a chain that fails keeps waiting. */
import { pino } from 'pino';
import t from 'tap';
import { openChannelClaims } from '../../../src/payment/channels/claims.ts';
import type { ChannelClaim, ChannelOperator } from '../../../src/payment/channels/operator.ts';
import { FacilitatorUnreachable } from '../../../src/payment/facilitators/facilitator.ts';
import { usualIntervals } from '../../../src/payment/intervals.ts';
import type { PayableNetwork, PayableNetworks } from '../../../src/payment/networks.ts';
import type { Channel, ChannelState, ChannelStore } from '../../../src/store/channels/channel-store.ts';

const NOW = 1_000_000_000;
const { afterMs, readEveryMs, takenMs } = usualIntervals.claims;

const channelOf = (id: string, charged: number, given: Partial<Channel> = {}): Channel => ({
  id,
  network: 'chain-a',
  payer: '0xpayer',
  config: '{}',
  charged: String(charged),
  balance: '9000000',
  totalClaimed: '0',
  withdrawRequestedAt: 0,
  refundNonce: '0',
  voucher: { max: String(charged), signature: '0xsigned' },
  pending: undefined,
  syncedAt: NOW,
  unclaimedSince: NOW,
  createdAt: NOW,
  updatedAt: NOW,
  ...given,
});

/** Channels that somebody keeps, and chains that claim all they are asked to unless they are told otherwise. */
function scene(
  charged: readonly Channel[],
  given: {
    read?: Partial<ChannelState>;
    /** Of which the chain does not tell how it stands. */
    unread?: string;
    fail?: (network: string, claims: readonly ChannelClaim[]) => void;
    /** Whose claims the contract would turn down. */
    refuses?: readonly string[];
    /** Receivers that their token sends nothing now. */
    frozen?: readonly string[];
    /** Who has claimed by the time that this round takes the channel. */
    claimedMeanwhile?: readonly string[];
  } = {},
) {
  const listed = [...charged];
  const channels = new Map(listed.map((channel) => [channel.id, channel]));
  const [batches, reads, taken]: [string[][], string[], Set<string>] = [[], [], new Set()];
  const takes: (readonly string[])[] = [];
  const asked: ChannelClaim[] = [];
  const counted: string[] = [];
  const all: { network?: string; reason?: string; msg?: string; level: number }[] = [];
  const store: Pick<ChannelStore, 'unclaimed' | 'unclaimedSums' | 'take' | 'letGo' | 'sync'> = {
    unclaimedSums: async () =>
      new Map(
        [...channels.values()].flatMap(({ network, unclaimedSince }) =>
          unclaimedSince === undefined ? [] : [[network, 1n] as const],
        ),
      ),
    unclaimed: async (network, limit) =>
      [...channels.values()]
        .filter((each) => each.network === network && each.unclaimedSince !== undefined)
        .slice(0, limit),
    async take(ids, purpose, until) {
      if (purpose !== 'claim' || until !== NOW + takenMs) throw new Error(`nobody takes for ${purpose} until ${until}`);
      takes.push(ids);
      for (const id of ids) taken.add(id);
      return ids.flatMap((id) => channels.get(id) ?? []);
    },
    async letGo(ids) {
      for (const id of ids) taken.delete(id);
    },
    async sync(id, state) {
      const known = channels.get(id);
      if (!known) throw new Error(`${id} is not kept`);
      const isClaimed = known.charged === state.totalClaimed;
      channels.set(id, { ...known, ...state, syncedAt: NOW, ...(isClaimed && { unclaimedSince: undefined }) });
    },
  };
  const claimedOnChain = new Set<string>(given.claimedMeanwhile);
  const idOf = ({ charged }: ChannelClaim) =>
    listed.find((channel) => channel.charged === charged.toString())?.id ?? 'unknown';
  const operator = (network: string) =>
    ({
      async read(id: string) {
        reads.push(id);
        if (id === given.unread) throw new FacilitatorUnreachable('the chain does not tell');
        const known = channels.get(id) ?? channelOf(id, 0);
        const { balance, withdrawRequestedAt, refundNonce } = known;
        const totalClaimed = claimedOnChain.has(id) ? known.charged : known.totalClaimed;
        return { balance, totalClaimed, withdrawRequestedAt, refundNonce, ...given.read };
      },
      async claim(claims: readonly ChannelClaim[]) {
        given.fail?.(network, claims);
        asked.push(...claims);
        batches.push(claims.map(idOf));
        const refused = claims.filter((claim) => given.refuses?.includes(idOf(claim)));
        const claimed = claims.filter((claim) => !refused.includes(claim));
        for (const claim of claimed) claimedOnChain.add(idOf(claim));
        const unsent = claimed.flatMap(({ config }) => given.frozen?.filter((each) => each === config.receiver) ?? []);
        return { claimed, refused, unsent, transaction: claimed.length === 0 ? undefined : '0xclaimed' };
      },
    }) as unknown as ChannelOperator;
  const networks: Pick<PayableNetworks, 'ids' | 'find'> = {
    ids: ['chain-a', 'chain-b', 'chain-without'],
    find: (id) =>
      ({
        asset: { decimals: 6 },
        channels: id === 'chain-without' ? undefined : { operator: async () => operator(id) },
      }) as unknown as PayableNetwork,
  };
  const round = openChannelClaims({
    networks,
    channels: store,
    metrics: { claimed: ({ network, outcome }) => void counted.push(`${network} ${outcome}`) },
    intervals: usualIntervals,
    log: pino({ level: 'info' }, { write: (line: string) => void all.push(JSON.parse(line)) }),
    now: () => NOW,
  });
  return {
    ...{ round, batches, reads, taken, takes, asked, counted },
    charge(channel: Channel) {
      listed.push(channel);
      channels.set(channel.id, channel);
    },
    kept: (id: string) => channels.get(id),
    /** What somebody should look at. */
    get lines() {
      return all.filter(({ level }) => level > 30);
    },
    get successes() {
      return all.filter(({ level }) => level === 30);
    },
  };
}

t.test('what comes to a dollar, has waited for six hours or is asked back is claimed, the most first', async (t) => {
  const { round, batches, taken } = scene([
    channelOf('small', 999_999),
    channelOf('old', 10, { unclaimedSince: NOW - afterMs }),
    channelOf('young', 11, { unclaimedSince: NOW - afterMs + 1 }),
    channelOf('large', 1_000_000),
    channelOf('asked back', 20, { withdrawRequestedAt: 1 }),
    channelOf('claimed', 30, { totalClaimed: '30', unclaimedSince: NOW - afterMs }),
  ]);
  await round();
  t.same(batches, [['large', 'asked back', 'old']]);
  t.equal(taken.size, 0);
  await round();
  t.equal(batches.length, 1, 'once');
});

t.test('no transaction claims of more than eight channels', async (t) => {
  const many = Array.from({ length: 20 }, (_, at) => channelOf(`channel ${at}`, 2_000_000 - at));
  const { round, batches } = scene(many);
  await round();
  t.same(
    batches.map(({ length }) => length),
    [8, 8, 4],
  );
});

t.test('the chain is asked about a channel once an hour, and a payer who wants its deposit is heard', async (t) => {
  const { round, batches, reads } = scene(
    [
      channelOf('stale', 10, { syncedAt: NOW - readEveryMs }),
      channelOf('fresh', 20, { syncedAt: NOW - readEveryMs + 1 }),
      channelOf('ahead', 30, { syncedAt: NOW + readEveryMs }),
    ],
    { read: { withdrawRequestedAt: 5 } },
  );
  await round();
  t.same(batches, [['ahead', 'stale']]);
  t.notOk(reads.includes('fresh'));
});

t.test('a channel that cannot be read keeps none of those waiting that are known to be due', async (t) => {
  const channels = [channelOf('stale', 10, { syncedAt: NOW - readEveryMs }), channelOf('large', 1_000_000)];
  const claims = scene(channels, { unread: 'stale' });
  await claims.round();
  t.same(claims.batches, [['large']]);
  t.match(claims.lines, [{ reason: 'the chain does not tell' }]);
});

t.test(
  'a chain that fails keeps its own channels waiting, and no others: told once, let go and tried again',
  async (t) => {
    let isDown = true;
    const made = scene([channelOf('one', 3_000_000), channelOf('two', 2_000_000, { network: 'chain-b' })], {
      fail(network) {
        if (network === 'chain-a' && isDown) throw new FacilitatorUnreachable('the chain has not confirmed the claims');
      },
    });
    const { round, batches, taken } = made;
    await round();
    await round();
    t.same(batches, [['two']]);
    t.match(made.lines, [{ level: 40, network: 'chain-a', reason: 'the chain has not confirmed the claims' }]);
    t.equal(made.lines.length, 1);
    t.equal(taken.size, 0);
    isDown = false;
    await round();
    t.same(batches, [['two'], ['one']]);
  },
);

t.test('vouchers that no key can claim are told of', async (t) => {
  const made = scene([channelOf('left', 10, { network: 'chain-without' })]);
  await made.round();
  t.match(made.lines, [{ level: 40, network: 'chain-without', reason: /key/ }]);
});

t.test('vouchers on a network that is not configured any more are told of, once', async (t) => {
  const made = scene([channelOf('left', 3_000_000, { network: 'chain-gone' }), channelOf('one', 2_000_000)]);
  await made.round();
  await made.round();
  t.same(made.batches, [['one']]);
  t.match(made.lines, [{ level: 40, network: 'chain-gone', reason: /not a network of networks.yaml any more/ }]);
  t.equal(made.lines.length, 1);
});

t.test('what is not worth its gas waits with all that is worth less, and what is worth it does not', async (t) => {
  const rich = Array.from({ length: 8 }, (_, at) => channelOf(`rich ${at}`, 2_000_000 + at));
  const poor = Array.from({ length: 9 }, (_, at) => channelOf(`poor ${at}`, 1 + at, { withdrawRequestedAt: 1 }));
  let asked = 0;
  const { round, batches } = scene([...poor, ...rich], {
    fail(_, claims) {
      asked += 1;
      const worth = claims.reduce((sum, { due }) => sum + due, 0n);
      if (worth < 1_000n) throw new FacilitatorUnreachable('settling costs more than half the price');
    },
  });
  await round();
  t.equal(batches.length, 1);
  t.ok(batches[0]?.every((id) => id.startsWith('rich')));
  t.equal(asked, 2);
});

t.test('a chain that is in reach again and fails again is told of again, and so is another reason', async (t) => {
  let reason: string | undefined = 'the chain has not confirmed the claims';
  const made = scene([channelOf('one', 3_000_000), channelOf('two', 2_000_000, { unclaimedSince: NOW - afterMs })], {
    fail() {
      if (reason !== undefined) throw new FacilitatorUnreachable(reason);
    },
    refuses: ['one', 'two'],
  });
  const reasons = () => made.lines.flatMap((line) => line.reason ?? []);
  await made.round();
  reason = 'settling costs more than half the price';
  await made.round();
  t.same(reasons(), ['the chain has not confirmed the claims', 'settling costs more than half the price']);
  reason = undefined;
  await made.round();
  reason = 'settling costs more than half the price';
  await made.round();
  t.equal(reasons().length, 3);
});

t.test('what is claimed is what is due by the newest voucher, and it is kept that it was', async (t) => {
  const config = { payer: '0xpayer', salt: '0x01' };
  const made = scene([
    channelOf('large', 5_000_000, {
      config: JSON.stringify(config),
      totalClaimed: '1000000',
      voucher: { max: '6000000', signature: '0xnewest' },
    }),
    channelOf('small', 1_500_000),
  ]);
  await made.round();
  t.same(made.asked, [
    { config, max: 6_000_000n, signature: '0xnewest', charged: 5_000_000n, due: 4_000_000n },
    { config: {}, max: 1_500_000n, signature: '0xsigned', charged: 1_500_000n, due: 1_500_000n },
  ]);
  t.match(made.kept('large'), { totalClaimed: '5000000', unclaimedSince: undefined });
  t.match(made.kept('small'), { totalClaimed: '1500000', unclaimedSince: undefined });
  t.same(made.counted, ['chain-a claimed', 'chain-a claimed']);
  t.match(made.successes, [{ network: 'chain-a', channels: 2, amount: /^5500000$/, transaction: '0xclaimed' }]);
  t.equal(made.successes.length, 1);
});

t.test('what another has claimed meanwhile is not claimed again', async (t) => {
  const made = scene([channelOf('gone', 3_000_000), channelOf('there', 2_000_000)], { claimedMeanwhile: ['gone'] });
  await made.round();
  t.same(made.batches, [['there']]);
  t.match(made.kept('gone'), { totalClaimed: '3000000', unclaimedSince: undefined });
  const alone = scene([channelOf('gone', 3_000_000)], { claimedMeanwhile: ['gone'] });
  await alone.round();
  t.same([alone.batches, alone.counted, alone.taken.size], [[], [], 0]);
});

t.test('a channel without a voucher is left alone', async (t) => {
  const made = scene([channelOf('unsigned', 3_000_000, { voucher: undefined }), channelOf('signed', 2_000_000)]);
  await made.round();
  t.same(made.batches, [['signed']]);
});

t.test('what the contract would turn down is told of once, and counted each time', async (t) => {
  const made = scene([channelOf('bad', 3_000_000), channelOf('good', 2_000_000)], { refuses: ['bad'] });
  await made.round();
  t.same(made.counted, ['chain-a refused', 'chain-a claimed']);
  t.match(made.kept('good'), { totalClaimed: '2000000' });
  t.match(made.successes, [{ channels: 1, amount: /^2000000$/ }]);
  t.same(made.reads, ['bad', 'good', 'good'], 'only what was claimed is looked at again');
  await made.round();
  t.same(made.counted, ['chain-a refused', 'chain-a claimed', 'chain-a refused']);
  t.equal(made.successes.length, 1, 'where nothing was claimed nothing is said to be');
  t.equal(made.taken.size, 0);
  const { lines } = made;
  t.match(lines, [
    { level: 50, network: 'chain-a', channel: 'bad', payer: '0xpayer', due: '3000000', charged: '3000000' },
  ]);
  t.equal(lines.length, 1);
});

t.test('a receiver that its token sends nothing is told of once, until it is sent again', async (t) => {
  const frozen: string[] = ['0xfrozen'];
  const made = scene([], { frozen });
  for (const [round, isFrozen] of [true, true, false, true].entries()) {
    frozen.splice(0, 1, isFrozen ? '0xfrozen' : '0xnobody');
    const config = JSON.stringify({ receiver: '0xfrozen' });
    made.charge(channelOf(`channel ${round}`, 1_000_000 + round, { config }));
    await made.round();
  }
  t.match(made.lines, [
    { level: 50, network: 'chain-a', receiver: '0xfrozen' },
    { level: 50, network: 'chain-a', receiver: '0xfrozen' },
  ]);
  t.equal(made.lines.length, 2);
  t.equal(made.counted.length, 4, 'its vouchers are claimed all the same');
});

t.test('who has nothing to claim takes no channel', async (t) => {
  const exactly = scene(Array.from({ length: 8 }, (_, at) => channelOf(`channel ${at}`, 2_000_000 + at)));
  await exactly.round();
  t.same(
    exactly.takes.map(({ length }) => length),
    [8],
  );
  const none = scene([
    channelOf('young', 10),
    channelOf('claimed', 30, { totalClaimed: '30', unclaimedSince: NOW - afterMs }),
    channelOf('claimed beyond what is known', 40, { totalClaimed: '50', unclaimedSince: NOW - afterMs }),
  ]);
  await none.round();
  t.same(none.takes, []);
});

t.test('a mistake of ours is no chain that fails: the round ends with it', async (t) => {
  const made = scene([channelOf('one', 3_000_000)], {
    fail() {
      throw new TypeError('undefined is not a function');
    },
  });
  await t.rejects(made.round(), TypeError);
  t.same(made.lines, []);
  t.equal(made.taken.size, 0, 'and nobody waits for the channel');
});
