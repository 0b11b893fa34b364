/** A claim that its chain takes back is found, though nobody calls. */
import { pino } from 'pino';
import t from 'tap';
import { openChannelClaims } from '../../../src/payment/channels/claims.ts';
import type { ChannelClaim, ChannelOperator } from '../../../src/payment/channels/operator.ts';
import { usualIntervals } from '../../../src/payment/intervals.ts';
import type { PayableNetwork } from '../../../src/payment/networks.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { FOUND, ID, sold } from '../../store/channels/channels.ts';

const { afterMs, readEveryMs } = usualIntervals.claims;

t.test('a claim that its chain takes back is made again, and one that stays is not asked about for ever', async (t) => {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  await sold(store, 100);
  let [time, totalClaimed, reads, claims] = [2 + afterMs, 0n, 0, 0];
  const operator = {
    async read() {
      reads += 1;
      return { ...FOUND, totalClaimed: String(totalClaimed) };
    },
    async claim(rows: readonly ChannelClaim[]) {
      claims += 1;
      totalClaimed = rows[0]?.charged ?? 0n;
      return { claimed: rows, refused: [], unsent: [], transaction: '0xclaimed' };
    },
  } as unknown as ChannelOperator;
  const network = { asset: { decimals: 6 }, channels: { operator: async () => operator } } as unknown as PayableNetwork;
  const round = openChannelClaims({
    networks: { ids: ['chain-a'], find: () => network },
    channels: store.channels,
    metrics: { claimed() {} },
    intervals: usualIntervals,
    log: pino({ level: 'silent' }),
    now: () => time,
  });
  const claimedInAnHour = async () => {
    time += readEveryMs;
    await round();
    return claims;
  };
  await round();
  t.equal(claims, 1);
  totalClaimed = 0n;
  t.equal(await claimedInAnHour(), 1, 'that it fell back is seen within the hour');
  t.match(await store.channels.find(ID), { charged: '100', totalClaimed: '0', unclaimedSince: time });
  time += afterMs;
  await round();
  t.equal(claims, 2);
  t.equal(await claimedInAnHour(), 2);
  const asked = reads;
  t.equal(await claimedInAnHour(), 2);
  t.equal(reads, asked, 'seen twice, it is claimed');
});
