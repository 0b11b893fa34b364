import t from 'tap';
import { readConfig } from '../../src/gateway/config.ts';

t.test('a sandbox that listens at an address of IPv6 is reached under a whole address', async (t) => {
  t.equal(readConfig({ HOST: '::1', PORT: '4733' }).publicUrl, 'http://[::1]:4733');
  t.equal(readConfig({ HOST: '127.0.0.1', PORT: '4733' }).publicUrl, 'http://127.0.0.1:4733');
});

t.test('no drain is as long as timers cannot be: Node would end it at once', async (t) => {
  for (const wanted of ['2147484', '1e9', 'Infinity']) {
    t.throws(() => readConfig({ TURNPIKE_DRAIN_SECONDS: wanted }), /TURNPIKE_DRAIN_SECONDS is \S+: it takes .* 86400/);
  }
  t.equal(readConfig({ TURNPIKE_DRAIN_SECONDS: '86400' }).drainMs, 86_400_000);
});
