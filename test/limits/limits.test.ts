import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readConfig } from '../../src/gateway/config.ts';
import { clientAddresses, readTrustedProxies } from '../../src/http/client-address.ts';
import { openBucket } from '../../src/limits/bucket.ts';
import { callerAt, cut } from '../../src/limits/cut.ts';
import { shareLimits } from '../../src/limits/share.ts';
import { weightOf } from '../../src/limits/weight.ts';
import { openStore } from '../../src/store/open.ts';
import { usualLimits } from './usual.ts';

t.test('a bucket lets through what it says in a period, at once or spread out, and no more', (t) => {
  const bucket = openBucket({ name: 'test', count: 10, periodMs: 1_000 });
  let passed = 0;
  for (let now = 0; now < 10_000; now += 7) {
    if (bucket.wait('a', now) > 0) continue;
    bucket.take('a', now);
    passed += 1;
  }
  t.ok(passed >= 108 && passed <= 110, `${passed}: ten at once, and ten in each second`);
  while (bucket.wait('a', 10_000) === 0) bucket.take('a', 10_000);
  const wait = bucket.wait('a', 10_000);
  t.ok(wait > 0 && wait <= 100, 'until there is one more');
  t.equal(bucket.wait('a', 10_000 + wait), 0);
  t.equal(bucket.wait('b', 10_000), 0, 'everybody has one');
  bucket.take('a', 10_000, -1);
  t.equal(bucket.wait('a', 10_000), 0, 'what is given back can be used');
  t.ok(bucket.wait('a', -1_000_000) <= 2_000, 'a clock that is set back keeps nobody out');
  t.equal(bucket.wait('a', -998_000), 0, 'for longer than two periods');
  t.end();
});

t.test('a body counts for what it takes to look at it, and no longer keeps its sender away than two periods', (t) => {
  t.equal(weightOf(Buffer.alloc(0)), 1);
  t.equal(weightOf(Buffer.from('{"prompt":"a lighthouse, a harbour"}')), 1);
  t.equal(weightOf(Buffer.alloc(1_048_576, 'x')), 65);
  t.equal(weightOf(Buffer.alloc(16_000, ',')), 81);
  const bucket = openBucket({ name: 'test', count: 10, periodMs: 1_000 });
  bucket.take('a', 0, 81);
  t.equal(bucket.wait('a', 0), 1_100);
  t.equal(bucket.wait('a', 1_100), 0);
  t.end();
});

t.test('many addresses do not grow memory, and who is limited stays so among them', (t) => {
  const limits = usualLimits(() => 1_000);
  const attacker = limits.gate('203.0.113.9');
  for (let times = 0; times < 6_000; times += 1) attacker.asks();
  t.throws(() => attacker.asks(), { code: 'rate_limited' });
  for (let at = 0; at < 100_000; at += 1) {
    const gate = limits.gate(`2001:db8:${(at >> 16).toString(16)}:${(at & 0xffff).toString(16)}::/64`);
    gate.asks();
    gate.arrives();
    gate.refused();
    gate.over();
    if (at % 5_000 === 0) t.throws(() => attacker.asks(), { code: 'rate_limited' });
  }
  for (const { name, size } of limits.buckets) t.ok(size <= 20_000, `${name}: ${size}`);
  t.end();
});

t.test('a payer whose settlements come to nothing is slowed down, and then refused for most of a day', (t) => {
  let now = 1_700_000_000_000;
  const limits = usualLimits(() => now);
  /** True where it is let in, and wastes it. */
  const wastes = () => {
    const gate = limits.gate(undefined);
    try {
      gate.identified('0xABC');
    } catch {
      return false;
    }
    gate.ended('wasted');
    gate.over();
    return true;
  };
  const inAnHour = () => {
    let wasted = 0;
    for (let minute = 0; minute < 60; minute += 1, now += 60_000) while (wastes()) wasted += 1;
    return wasted;
  };
  t.equal(inAnHour(), 59, 'thirty at once, and then one in two minutes');
  t.equal(inAnHour(), 30);
  const day = Array.from({ length: 22 }, inAnHour);
  t.ok(day.at(-1) === 4 || day.at(-1) === 5, 'a hundred in a day, in the end');
  while (wastes());
  const gate = limits.gate(undefined);
  t.throws(
    () => gate.identified('0xabc'),
    { code: 'rate_limited', headers: { 'retry-after': /^\d+$/ } },
    'by any spelling',
  );
  const honest = limits.gate(undefined);
  honest.identified('0xdef');
  for (let times = 0; times < 1_000; times += 1) honest.ended('paid');
  for (let times = 0; times < 29; times += 1) honest.ended('wasted');
  honest.over();
  t.doesNotThrow(() => limits.gate(undefined).identified('0xdef'));
  t.doesNotThrow(() => limits.gate(undefined).identified('0xabc', true), 'but the money that it has sent is taken');
  t.end();
});

t.test('what nobody is sure to have signed, and came to nothing, counts for its address', (t) => {
  const limits = usualLimits(() => 1_700_000_000_000);
  const open = () => limits.gate('203.0.113.7');
  for (let times = 0; times < 600; times += 1) {
    const gate = open();
    gate.arrives();
    gate.ended('wasted');
    gate.ended('paid');
    gate.over();
  }
  t.throws(() => open().arrives(), { code: 'rate_limited', message: /of this address/ });
  t.end();
});

t.test('instances over one database learn what a caller has taken of each other', async (t) => {
  const store = await openStore({ file: join(t.testdir({}), 'shared.sqlite') });
  t.teardown(() => store.close());
  const now = () => 1_000_000;
  const [one, other] = [0, 1].map(() => openBucket({ name: 'wasted', count: 30, periodMs: 3_600_000 }));
  if (!one || !other) throw new Error('no buckets');
  const taken = (bucket: typeof one, times: number) => {
    for (let at = 0; at < times; at += 1) bucket.take('0xabc', now());
  };
  taken(one, 30);
  t.ok(one.wait('0xabc', now()) > 0);
  await shareLimits([one], store, now);
  taken(other, 2);
  await shareLimits([other], store, now);
  t.equal(other.wait('0xabc', now()), 0, 'who has hardly used it is nobody else’s business');
  taken(other, 1);
  await shareLimits([other], store, now);
  t.ok(other.wait('0xabc', now()) > 3 * 120_000, 'thirty-three of thirty');
  taken(one, 1);
  await shareLimits([one], store, now);
  t.equal(one.wait('0xabc', now()), other.wait('0xabc', now()) + 120_000, 'the one learns when it counts again');

  const ahead = openBucket({ name: 'ahead', count: 30, periodMs: 3_600_000 });
  const setBack = now() - 100 * 3_600_000;
  for (const time of [now(), setBack, setBack + 2 * 3_600_000]) {
    for (let at = 0; at < 30; at += 1) ahead.take('0xabc', time);
    await shareLimits([ahead], store, () => time);
  }
  t.ok(
    ahead.wait('0xabc', setBack + 2 * 3_600_000) <= 120_000,
    'what was counted by a clock that was ahead does not stay in the database',
  );
  t.equal(ahead.wait('0xabc', setBack + 4 * 3_600_000), 0);
});

/** The buckets of two instances over one database, for a caller who may waste thirty an hour. */
async function openShared(t: Test) {
  const store = await openStore({ file: join(t.testdir({}), 'shared.sqlite') });
  t.teardown(() => store.close());
  let time = 1_000_000;
  const open = () => {
    const bucket = openBucket({ name: 'wasted', count: 30, periodMs: 3_600_000 });
    return {
      wait: () => bucket.wait('0xabc', time),
      /** So many have happened there, which the other is told; less than none is given back. */
      async happens(times: number) {
        for (let at = 0; at < Math.abs(times); at += 1) bucket.take('0xabc', time, Math.sign(times));
        await shareLimits([bucket], store, () => time);
      },
    };
  };
  const pass = (ms: number) => {
    time += ms;
  };
  return { one: open(), other: open(), pass };
}

t.test('what has come back by itself is not counted once more when instances tell each other', async (t) => {
  const { one, other, pass } = await openShared(t);
  for (let hour = 0; hour < 50; hour += 1) {
    await one.happens(1);
    pass(3_600_000);
  }
  await one.happens(3);
  t.equal(one.wait(), 0, 'one an hour, and then three of thirty');
  await other.happens(3);
  t.equal(other.wait(), 0, 'six');
  await other.happens(24);
  t.equal(other.wait(), 120_000, 'thirty');

  pass(3_600_000);
  await one.happens(2);
  pass(120_000);
  await one.happens(3);
  await other.happens(26);
  t.equal(other.wait(), 120_000, 'of two that came before, one has come back');
});

t.test('what paid calls have made good is made good at every instance over one database', async (t) => {
  const { one, other, pass } = await openShared(t);
  await one.happens(20);
  await one.happens(-20);
  await other.happens(20);
  t.equal(other.wait(), 0, 'twenty of thirty, for the first twenty are paid for');
  await one.happens(-50);
  await other.happens(10);
  t.equal(other.wait(), 120_000, 'and no more than was wasted is made good');

  pass(3_600_000);
  await one.happens(30);
  await other.happens(3);
  t.equal(other.wait(), 4 * 120_000, 'once: thirty-three of thirty');
});

t.test('an address is the one that the proxies which are believed say', (t) => {
  const from = (trusted: string | undefined, remoteAddress: string, forwarded?: string) =>
    clientAddresses(readTrustedProxies(trusted))({
      socket: { remoteAddress } as never,
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    });
  t.equal(from(undefined, '8.8.8.8', '1.2.3.4'), '8.8.8.8');
  t.equal(from(undefined, '::ffff:8.8.8.8'), '8.8.8.8');
  t.equal(from(undefined, '172.18.0.3', '1.2.3.4'), undefined, 'a proxy that nobody spoke of');
  t.equal(from('0', '172.18.0.3', '1.2.3.4'), '172.18.0.3');
  t.equal(from('1', '172.18.0.3', '9.9.9.9, 1.2.3.4'), '1.2.3.4');
  t.equal(from('2', '172.18.0.3', '9.9.9.9,1.2.3.4'), '9.9.9.9');
  t.equal(from('5', '172.18.0.3', '9.9.9.9'), '9.9.9.9', 'fewer than there should be');
  t.equal(from('1', '172.18.0.3'), '172.18.0.3');
  t.equal(from('1', '172.18.0.3', 'unknown'), '172.18.0.3');
  t.equal(from('1', '172.18.0.3', '1.2.3.4:5678'), '1.2.3.4');
  t.equal(from('1', '172.18.0.3', '[2001:db8::1]:443'), '2001:db8:0:0::/64');
  const both = 'loopback, 172.16.0.0/12, 2001:db8::/32';
  t.equal(from(both, '::1', '6.6.6.6, 1.2.3.4, 172.18.0.9'), '1.2.3.4');
  t.equal(from(both, '2001:db8::5', '1.2.3.4'), '1.2.3.4');
  t.equal(from(both, '8.8.8.8', '1.2.3.4'), '8.8.8.8', 'who is no proxy is not believed');
  t.equal(callerAt('fe80::1%eth0'), 'fe80:0:0:0::/64');
  t.equal(callerAt('2001:DB8::'), '2001:db8:0:0::/64');
  t.equal(callerAt('nonsense'), undefined);
  t.equal(cut('203.0.113.9'), '203.0.113.0/24');
  t.equal(cut('2001:db8:1:2::/64'), '2001:db8:1::/48');
  t.throws(() => readConfig({ TURNPIKE_TRUST_PROXY: 'my-proxy' }), {
    message: /TURNPIKE_TRUST_PROXY takes the number of proxies in front .*my-proxy is no address or network/,
  });
  for (const network of ['10.0.0.0/64', '10.0.0.0/', '10.0.0.0/8/24', '10.0.0.0/0x8', '10.0.0.0/1e1', '2001:db8::/']) {
    t.throws(() => readConfig({ TURNPIKE_TRUST_PROXY: network }), { message: `${network} is no address` }, network);
  }
  t.end();
});
