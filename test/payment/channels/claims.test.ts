/** Which channels a round claims of, in which order, and what a chain that fails keeps waiting. */
import { pino } from 'pino';
import t from 'tap';
import { openChannelClaims } from '../../../src/payment/channels/claims.ts';
import type { ChannelClaim, ChannelOperator } from '../../../src/payment/channels/operator.ts';
import { FacilitatorUnreachable } from '../../../src/payment/facilitators/facilitator.ts';
import { usualIntervals } from '../../../src/payment/intervals.ts';
import type { PayableNetwork, PayableNetworks } from '../../../src/payment/networks.ts';
import type { Channel, ChannelState, ChannelStore } from '../../../src/store/channel-store.ts';

const NOW = 1_000_000_000;
const { afterMs, readEveryMs } = usualIntervals.claims;

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
  listed: readonly Channel[],
  given: { read?: Partial<ChannelState>; fail?: (network: string, claims: readonly ChannelClaim[]) => void } = {},
) {
  const channels = new Map(listed.map((channel) => [channel.id, channel]));
  const [batches, reads, taken]: [string[][], string[], Set<string>] = [[], [], new Set()];
  const lines: { network?: string; reason?: string; level: number }[] = [];
  const store: Pick<ChannelStore, 'unclaimed' | 'take' | 'letGo' | 'sync'> = {
    unclaimed: async (network, limit) =>
      [...channels.values()]
        .filter((each) => each.network === network && each.unclaimedSince !== undefined)
        .slice(0, limit),
    async take(ids) {
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
  const claimedOnChain = new Set<string>();
  const idOf = ({ charged }: ChannelClaim) =>
    listed.find((channel) => channel.charged === charged.toString())?.id ?? 'unknown';
  const operator = (network: string) =>
    ({
      async read(id: string) {
        reads.push(id);
        const { charged = '0', balance, withdrawRequestedAt, refundNonce } = channels.get(id) ?? channelOf(id, 0);
        const totalClaimed = claimedOnChain.has(id) ? charged : '0';
        return { balance, totalClaimed, withdrawRequestedAt, refundNonce, ...given.read };
      },
      async claim(claims: readonly ChannelClaim[]) {
        given.fail?.(network, claims);
        const ids = claims.map(idOf);
        batches.push(ids);
        for (const id of ids) claimedOnChain.add(id);
        return { claimed: claims, refused: [], transaction: '0xclaimed' };
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
    metrics: { claimed: () => {} },
    intervals: usualIntervals,
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    now: () => NOW,
  });
  return { round, batches, reads, taken, lines };
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
    ],
    { read: { withdrawRequestedAt: 5 } },
  );
  await round();
  t.same(batches, [['stale']]);
  t.notOk(reads.includes('fresh'));
});

t.test(
  'a chain that fails keeps its own channels waiting, and no others: told once, let go and tried again',
  async (t) => {
    let isDown = true;
    const { round, batches, taken, lines } = scene(
      [channelOf('one', 3_000_000), channelOf('two', 2_000_000, { network: 'chain-b' })],
      {
        fail(network) {
          if (network === 'chain-a' && isDown)
            throw new FacilitatorUnreachable('the chain has not confirmed the claims');
        },
      },
    );
    await round();
    await round();
    t.same(batches, [['two']]);
    t.match(lines, [{ level: 40, network: 'chain-a', reason: 'the chain has not confirmed the claims' }]);
    t.equal(lines.length, 1);
    t.equal(taken.size, 0);
    isDown = false;
    await round();
    t.same(batches, [['two'], ['one']]);
  },
);

t.test('vouchers that no key can claim are told of', async (t) => {
  const { round, lines } = scene([channelOf('left', 10, { network: 'chain-without' })]);
  await round();
  t.match(lines, [{ level: 40, network: 'chain-without', reason: /key/ }]);
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
