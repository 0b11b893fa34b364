import t from 'tap';
import { readConfig } from '../../src/gateway/config.ts';

t.test('a sandbox that listens at an address of IPv6 is reached under a whole address', async (t) => {
  t.equal(readConfig({ HOST: '::1', PORT: '4733' }).publicUrl, 'http://[::1]:4733');
  t.equal(readConfig({ HOST: '127.0.0.1', PORT: '4733' }).publicUrl, 'http://127.0.0.1:4733');
});
