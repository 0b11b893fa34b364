import t from 'tap';
import { type Config, doubtful, readConfig } from '../../src/gateway/config.ts';

t.test('a sandbox that listens at an address of IPv6 is reached under a whole address', async (t) => {
  t.equal(readConfig({ HOST: '::1', PORT: '4733' }).publicUrl, 'http://[::1]:4733');
  t.equal(readConfig({ HOST: '127.0.0.1', PORT: '4733' }).publicUrl, 'http://127.0.0.1:4733');
  for (const HOST of ['0.0.0.0', '::']) {
    const { publicUrl } = readConfig({ HOST, PORT: '4733' });
    t.equal(publicUrl, 'http://localhost:4733', `${HOST} is where it listens, and no address to ask`);
  }
});

t.test('a host is an address or a name alone', async (t) => {
  for (const HOST of ['127.0.0.1:80', '[::1]', 'http://127.0.0.1', 'localhost/x', '999.1.1.1', 'a host']) {
    t.throws(() => readConfig({ HOST }), {
      message: new RegExp(`HOST is ${HOST.replaceAll(/[.[\]]/g, '\\$&')}: it takes`),
    });
  }
  for (const HOST of ['localhost', '::', '0.0.0.0', 'shop.example']) t.equal(readConfig({ HOST }).host, HOST);
});

t.test('the public address is an origin, with its scheme and without a path', async (t) => {
  const withUrl = (TURNPIKE_PUBLIC_URL: string) => () => readConfig({ TURNPIKE_PUBLIC_URL });
  t.throws(withUrl('shop.example:443'), /TURNPIKE_PUBLIC_URL is not a URL: give one such as https:/);
  for (const url of ['https://shop.example/x', 'https://ada@shop.example', 'https://shop.example/?a=b']) {
    t.throws(withUrl(url), /TURNPIKE_PUBLIC_URL has more than an origin.*: give https:\/\/shop\.example$/m);
  }
  t.equal(withUrl('https://shop.example/')().publicUrl, 'https://shop.example');
  t.equal(withUrl('https://Shop.example:443')().publicUrl, 'https://Shop.example:443');
});

t.test('an address without encryption is told in live mode, unless it is this machine', async (t) => {
  const told = (publicUrl: string, live = {}) => doubtful({ publicUrl, live } as Config);
  t.match(told('http://shop.example'), [/^TURNPIKE_PUBLIC_URL is http:\/\/shop\.example: .* its https address$/]);
  t.same(told('https://shop.example'), []);
  for (const here of ['http://localhost:4020', 'http://127.0.0.1:4020', 'http://[::1]:4020']) t.same(told(here), []);
  t.same(doubtful(readConfig({ TURNPIKE_PUBLIC_URL: 'http://shop.example' })), [], 'a sandbox sells nothing');
});

t.test('a proxy for what goes out is told in live mode not to be used', async (t) => {
  const told = (environment: Record<string, string>, live = {}) =>
    doubtful({ publicUrl: 'https://shop.example', live } as Config, environment);
  const proxy = 'http://proxy.example:3128';
  for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'ALL_PROXY']) {
    t.match(told({ [name]: proxy }), [
      new RegExp(`^${name} is set, and nothing goes through it: .* reached directly$`),
    ]);
  }
  t.same(told({ HTTPS_PROXY: ' ', NO_PROXY: 'localhost' }), []);
  t.same(doubtful(readConfig({}), { HTTPS_PROXY: proxy }), [], 'nothing leaves the machine of a sandbox');
});

t.test('no drain is as long as timers cannot be: Node would end it at once', async (t) => {
  for (const wanted of ['2147484', '1e9', 'Infinity']) {
    t.throws(() => readConfig({ TURNPIKE_DRAIN_SECONDS: wanted }), /TURNPIKE_DRAIN_SECONDS is \S+: it takes .* 86400/);
  }
  t.equal(readConfig({ TURNPIKE_DRAIN_SECONDS: '86400' }).drainMs, 86_400_000);
});

t.test('a number is written in digits: 0x10 and 1e3 are none', async (t) => {
  for (const name of ['PORT', 'TURNPIKE_ADMIN_PORT']) {
    for (const given of ['0x10', '1e3', '+80', '-1', '80.5', '65536']) {
      const told = `${name} is ${given}: it takes a number from 0 to 65535`;
      t.throws(() => readConfig({ [name]: given }), new RegExp(told.replaceAll(/[.+]/g, '\\$&')));
    }
  }
  t.throws(() => readConfig({ TURNPIKE_DRAIN_SECONDS: '0x10' }), /TURNPIKE_DRAIN_SECONDS is 0x10: it takes/);
  t.throws(() => readConfig({ TURNPIKE_LOG_UNPAID: '0b1' }), /TURNPIKE_LOG_UNPAID must be a number from 0 to 1/);
  t.throws(() => readConfig({ TURNPIKE_WORKERS: '0x1' }), /TURNPIKE_WORKERS must be auto .*, or a number/);
  t.equal(readConfig({ PORT: '0080', TURNPIKE_DRAIN_SECONDS: '2.5' }).drainMs, 2500);
});

t.test(
  'quotes that a file of settings was read with are told, in place of a directory whose name has them',
  async (t) => {
    const read = (variables: Record<string, string>) => () => readConfig(variables);
    const told = (name: string) =>
      new RegExp(`has 1 problem\\(s\\):\\n  ${name} has quotes around its value.*without them$`);
    t.throws(read({ TURNPIKE_DATA: '"/var/lib/turnpike"' }), { message: told('TURNPIKE_DATA') });
    t.throws(read({ PORT: "'4733'\r" }), { message: told('PORT') });
    t.throws(read({ DATABASE_URL: '"postgres://a:b@db/x"' }), { message: told('DATABASE_URL') });
    t.equal(readConfig({ TURNPIKE_DATA: '/srv/the "new" one' }).dataDirectory, '/srv/the "new" one');
  },
);
