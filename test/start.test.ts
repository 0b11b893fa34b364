import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import t from 'tap';
import { readConfig } from '../src/gateway/config.ts';
import { encodeBase58 } from '../src/on-chain/base58.ts';
import { startProblem } from '../src/start/start-problem.ts';
import { catalogueOf } from './few-endpoints.ts';
import { freePort } from './free-port.ts';
import { groupOf, printed, start, startMain } from './started.ts';
import { COMPILED, isCompiled } from './words-for.ts';

const SOLD = ['image/family-e-2', 'credits/credits', 'llm/vendor3-5.6-luna', 'tokens-api/resolve'];
const catalogue = catalogueOf(t, SOLD);
/** What one start finds sound in the catalogue, the next need not check again. */
const data = join(catalogue, '..', 'data');

t.test('npm start gets ready on PORT, tells a first paid call that works, and Ctrl-C stops all of it', async (t) => {
  const port = String(await freePort());
  const run = start({ PORT: port, TURNPIKE_DATA: data, TURNPIKE_CATALOGUE: catalogue, LOG_LEVEL: 'warn' });
  const leader = run.child.pid ?? 0;
  t.teardown(() => {
    if (groupOf(leader).length > 0) process.kill(-leader, 'SIGKILL');
  });
  const text = await printed(run, /^pay .*$/m);
  t.match(text, new RegExp(`^ready http://127\\.0\\.0\\.1:${port}$`, 'm'));

  const [, command] = /^pay +npm (run pay -- .*)$/m.exec(text) ?? [];
  const paid = execFileSync('sh', ['-c', `npm --silent ${command}`], { encoding: 'utf8' });
  for (const part of [
    /^quote .*0\.1 USD/m,
    /^payment .*100000 atomic units/m,
    /^receipt .*transaction/m,
    /image_url/,
  ]) {
    t.match(paid, part);
  }

  process.kill(-leader, 'SIGINT');
  await run.ended;
  t.same(groupOf(leader), []);
});

t.test('a bad catalogue is refused at start with file, line and column', async (t) => {
  const directory = catalogueOf(t, ['image/family-e-2']);
  const file = join(directory, 'endpoints/image/family-e-2.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^price:/m, 'prise:'));
  const run = startMain({
    PORT: String(await freePort()),
    TURNPIKE_DATA: dirname(directory),
    TURNPIKE_CATALOGUE: directory,
  });
  t.equal(await run.ended, 1);
  t.match(run.output(), /family-e-2\.yaml:\d+:\d+: .*prise.*price/);
});

t.test('live mode names every missing variable at once and has no sandbox in it', async (t) => {
  const run = startMain({ TURNPIKE_MODE: 'live' });
  t.equal(await run.ended, 1);
  for (const name of [
    'TURNPIKE_PAY_TO_EVM',
    'TURNPIKE_FACILITATOR_URL',
    'TURNPIKE_MPP_SECRET',
    'TURNPIKE_PUBLIC_URL',
  ]) {
    t.match(run.output(), new RegExp(name));
  }
  t.notMatch(run.output(), /\n +at /);
});

t.test('a sandbox without its packages says what to install, and nothing else', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-start-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  // Copied, as what a link leads to finds its packages where it is itself.
  const program = isCompiled ? [COMPILED] : ['src', 'test', 'generated', 'tsconfig.json'];
  for (const name of [...program, 'package.json']) {
    cpSync(name, join(directory, name), { recursive: true, filter: (file) => !/\.map$|\.test\.[jt]s$/.test(file) });
  }
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
  for (const name of Object.keys(dependencies)) {
    const link = join(directory, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve('node_modules', name), link);
  }
  const environment = {
    PORT: String(await freePort()),
    TURNPIKE_DATA: resolve(data),
    TURNPIKE_CATALOGUE: resolve(catalogue),
    LOG_LEVEL: 'warn',
  };
  const run = startMain(environment, directory);
  t.equal(await run.ended, 1);
  t.equal(run.output(), 'The sandbox needs the development packages: run npm install, or set TURNPIKE_MODE to live\n');
});

const live = {
  TURNPIKE_MODE: 'live',
  TURNPIKE_PUBLIC_URL: 'https://gateway.example',
  TURNPIKE_PAY_TO_EVM: `0x${'ab'.repeat(20)}`,
  TURNPIKE_FACILITATOR_URL: 'http://127.0.0.1:9',
  TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
  HOST: '127.0.0.1',
  TURNPIKE_CATALOGUE: catalogue,
  TURNPIKE_DATA: join(data, 'live'),
};

const withoutMedia = join(data, 'without-media');
mkdirSync(withoutMedia, { recursive: true });
writeFileSync(join(withoutMedia, 'media'), 'a file');

/** Each half is one of a key pair, and not of the same. */
const MIXED_PAIR = encodeBase58(Buffer.concat([Buffer.alloc(32, 7), Buffer.alloc(32, 9)]));

for (const [promise, more, line] of [
  ['a key that is none', { TURNPIKE_SIGNER_EVM: '0x12' }, /TURNPIKE_SIGNER_EVM is not a private key/],
  [
    'a number that is no key of the curve',
    { TURNPIKE_SIGNER_EVM: `0x${'ff'.repeat(32)}` },
    /SIGNER_EVM is not a private/,
  ],
  [
    'a seed with the public key of another',
    { TURNPIKE_SIGNER_SOLANA: MIXED_PAIR },
    /SIGNER_SOLANA is not a private key/,
  ],
  ['a database that is none', { DATABASE_URL: 'mysql://host/name' }, /DATABASE_URL is not the address of a Postgres/],
  ['a password with # in it', { DATABASE_URL: 'postgres://a:b#c@db/name' }, /DATABASE_URL is not .* has %23 for #/],
  ['one port for buyers and operators', { PORT: '4071', TURNPIKE_ADMIN_PORT: '4071' }, /PORT and PORT are both 4071/],
] as const) {
  t.test(`${promise} is reported in one line, with its variable`, async (t) => {
    const environment = { ...live, ...more };
    let told = '';
    try {
      readConfig(environment);
    } catch (error) {
      told = startProblem(error, environment);
    }
    t.match(told, line);
    t.notMatch(told, /\n +at /);
  });
}

for (const [promise, more, line] of [
  [
    'a database that does not answer',
    { DATABASE_URL: 'postgres://u:secret-word@127.0.0.1:9/x' },
    /^The Postgres database cannot be used.*DATABASE_URL$/m,
  ],
  [
    'a data directory that is a file',
    { TURNPIKE_DATA: 'package.json' },
    /TURNPIKE_DATA is package\.json, which is no directory: give this user a directory of its own/,
  ],
  [
    'a media folder that is a file',
    { TURNPIKE_DATA: withoutMedia },
    /TURNPIKE_DATA is \S+, of which \S+media is no directory: give this user a directory of its own/,
  ],
  [
    'a data directory in which the system makes none',
    { TURNPIKE_DATA: '/proc/turnpike' },
    /TURNPIKE_DATA is \/proc\/turnpike, which cannot be written \(\w+\): give this user a directory of its own/,
  ],
  ['a host that is not of this machine', { HOST: '192.0.2.1' }, /^HOST is 192\.0\.2\.1, which is no address/],
  [
    'a host of the operator’s port that is not of this machine',
    { HOST: '0.0.0.0', TURNPIKE_ADMIN_PORT: '0', TURNPIKE_ADMIN_HOST: '192.0.2.1' },
    /^TURNPIKE_ADMIN_HOST is 192\.0\.2\.1, which is no address of this machine: set it to one, or leave it out$/m,
  ],
  [
    'a name of the operator’s port that leads nowhere',
    { TURNPIKE_ADMIN_PORT: '0', TURNPIKE_ADMIN_HOST: 'ops.invalid' },
    /^TURNPIKE_ADMIN_HOST is ops\.invalid, which is no address of this machine: set it to one, or leave it out$/m,
  ],
] as const) {
  t.test(`${promise} is reported in one line, with its variable`, async (t) => {
    const run = startMain({
      ...live,
      PORT: String(await freePort()),
      LOG_LEVEL: 'silent',
      ...more,
    });
    t.equal(await run.ended, 1);
    t.match(run.output(), line);
    t.notMatch(run.output(), /\n +at |secret-word/);
  });
}

t.test('a disk without room is reported in one line, with the directory and what to do', async (t) => {
  for (const code of ['ENOSPC', 'EDQUOT']) {
    const error = Object.assign(new Error(`${code}: no space left on device, write`), { code, syscall: 'write' });
    const told = (where: string) =>
      `There is no room left on the disk of ${where} (${code}): make room there, or set TURNPIKE_DATA to a directory on another`;
    t.equal(startProblem(error, { TURNPIKE_DATA: '/srv/shop' }), told('/srv/shop'));
    t.equal(startProblem(error, {}), told('the data directory'));
  }
});

t.test(
  'a Node that compiles no code from text is refused in words, also where the catalogue was found sound before',
  async (t) => {
    const run = startMain({
      ...live,
      PORT: String(await freePort()),
      NODE_OPTIONS: '--disallow-code-generation-from-strings',
    });
    t.teardown(() => run.child.kill('SIGKILL'));
    await printed(run, /^ready /m);
    t.equal(run.child.exitCode, 1);
    t.match(run.output(), /--disallow-code-generation-from-strings, .*: take it out of NODE_OPTIONS/);
    t.notMatch(run.output(), /\n +at |Error compiling/);
  },
);

t.test('a taken port of the operator is reported with its own variable', async (t) => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const run = startMain({
    ...live,
    PORT: String(await freePort()),
    TURNPIKE_ADMIN_PORT: String(port),
    LOG_LEVEL: 'silent',
  });
  t.equal(await run.ended, 1);
  t.equal(
    run.output(),
    `The port ${port} is taken: stop what listens there, or set TURNPIKE_ADMIN_PORT to another one\n`,
  );
});

t.test('in live mode one line says what is not sold, a taken port is named, and a signal to npm ends it', async (t) => {
  const port = String(await freePort());
  const environment = { ...live, PORT: port, LOG_LEVEL: 'warn' };
  const run = start(environment);
  const leader = run.child.pid ?? 0;
  t.teardown(() => {
    if (groupOf(leader).length > 0) process.kill(-leader, 'SIGKILL');
  });
  await printed(run, /^ready /m);
  const text = await printed(run, /not sold.*\n/);
  t.equal(text.match(/not sold/g)?.length, 1);
  t.match(text, /"set":\[.*"TOKENS_XYZ_API_KEY"/);
  t.match(text, /No credits and no chat either: no model is sold/);

  const second = startMain(environment);
  t.equal(await second.ended, 1);
  t.match(second.output(), `The port ${port} is taken`);

  process.kill(leader, 'SIGTERM');
  await run.ended;
  t.match(run.output(), /SIGTERM: finishing/);
  t.same(groupOf(leader), []);
});
