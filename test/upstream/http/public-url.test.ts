import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import t from 'tap';
import {
  AddressRefused,
  guardedLookup,
  openResolve,
  type ResolvedAddress,
  urlRefusal,
} from '../../../src/upstream/http/public-url.ts';
import { serveNames } from '../../name-server.ts';

t.test('says what is wrong with an address, or nothing', async (t) => {
  const inside = 'must be on the public internet';
  const cases: [url: string, refusal: string | undefined][] = [
    ['https://example.com/a.png?x=1#y', undefined],
    ['https://example.com:8443/', undefined],
    ['https://8.8.8.8/', undefined],
    ['https://[2606:4700::1111]/', undefined],
    ['https://local.example.com/', undefined],
    ['https://lan.example/', undefined],
    ['https://notlocal.example.lanes/', undefined],
    ['', 'is not a URL'],
    ['example.com', 'is not a URL'],
    ['/a.png', 'is not a URL'],
    ['http://example.com/', 'must start with https://'],
    ['data:,a', 'must start with https://'],
    ['https://user@example.com/', 'must not carry a user name or password'],
    ['https://:word@example.com/', 'must not carry a user name or password'],
    ['https://10.0.0.1/', inside],
    ['https://[fd00::1]/', inside],
    ['https://gateway/', inside],
    ...['a.localhost', 'a.local', 'a.internal', 'a.home.arpa', 'a.lan', 'a.lan.'].map((host): [string, string] => [
      `https://${host}/`,
      inside,
    ]),
  ];
  for (const [url, refusal] of cases) t.equal(urlRefusal(url), refusal, url);
});

/** What a connection would be told. */
const lookUp = (addresses: readonly ResolvedAddress[] | Error, all: boolean) =>
  new Promise<unknown[]>((resolve) => {
    const look = guardedLookup(async (hostname) => {
      if (addresses instanceof Error) throw addresses;
      return addresses.map((address) => ({ ...address, hostname }));
    });
    look('files.example', { all }, (...told: [Error | null, string | LookupAddress[], number?]) => resolve(told));
  });

const open4 = { address: '93.184.215.14', family: 4 };
const open6 = { address: '2606:4700::1111', family: 6 };

t.test('connects to what the name was looked up to: all of it, or the first', async (t) => {
  const hostname = 'files.example';
  t.same(await lookUp([open6, open4], true), [null, [open6, open4].map((address) => ({ ...address, hostname }))]);
  t.same(await lookUp([open6, open4], false), [null, open6.address, 6]);
});

t.test('connects to nothing where one of the addresses is inside, or none is known', async (t) => {
  for (const all of [true, false]) {
    for (const addresses of [[], [{ address: '10.0.0.1', family: 4 }], [open4, { address: '::1', family: 6 }]]) {
      const [error, ...rest] = await lookUp(addresses, all);
      t.ok(error instanceof AddressRefused);
      t.match(error, { message: 'must be on the public internet' });
      t.same(rest, ['', 0]);
    }
  }
});

t.test('says that a name cannot be looked up', async (t) => {
  const unknown = new Error('no such name');
  t.same(await lookUp(unknown, true), [unknown, '', 0]);
});

t.test('looks up all addresses of a name', async (t) => {
  const [both, one] = [['93.184.215.14', '2606:4700::1111'], ['2606:4700::2222']];
  const server = await serveNames({ 'both.example': both, 'one.example': one, 'none.example': [] });
  t.teardown(server.stop);
  const resolve = openResolve([server.address]);
  t.same(await resolve('both.example'), [open4, open6]);
  t.same(await resolve('one.example'), [{ address: '2606:4700::2222', family: 6 }]);
  await t.rejects(resolve('none.example'), { code: 'ENODATA' });
});

t.test('names whose servers are silent keep no other name waiting, whoever looks it up', async (t) => {
  const server = await serveNames({ 'files.example': [open4.address] });
  t.teardown(server.stop);
  const resolve = openResolve([server.address]);
  const silent = Array.from({ length: 40 }, (_, at) => resolve(`silent-${at}.example`));
  const ended: unknown[] = [];
  for (const each of silent) each.catch((error: unknown) => ended.push(error));
  t.same(await resolve('files.example'), [open4]);
  t.match(await lookup('localhost'), { family: /[46]/ }, 'by the system');
  t.equal(ended.length, 0, 'they are asked for still');
  await Promise.allSettled(silent);
  t.equal(server.unanswered.size, silent.length);
  t.match(ended, Array(silent.length).fill({ code: 'ETIMEOUT' }));
});
