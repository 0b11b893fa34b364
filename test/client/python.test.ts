/** The program of src/client/python.md, word for word. */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { startGateway } from '../gateway.ts';
import { startCuttingRelay } from './cutting-relay.ts';

const page = readFileSync('src/client/python.md', 'utf8');
const programOf = (name: string): string =>
  new RegExp(`^\`\`\`python\\n(# ${name}\\n[\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? '';

/** The first Python that has these modules: Debian's packages are for its own alone. */
const pythonWith = (...modules: string[]): string | undefined =>
  ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-c', `import ${modules.join(', ')}`], { stdio: 'ignore' }).status === 0,
  );

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const run = (python: string, file: string, environment: Record<string, string>): Promise<Ran> =>
  new Promise((done) => {
    execFile(python, [file], { env: { PATH: process.env.PATH, ...environment } }, (error, out, err) => {
      done({ code: error ? 1 : 0, out, err });
    });
  });

/** `path`: where Python looks for modules besides. */
async function buys(t: Test, python: string, path?: string): Promise<void> {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const relay = await startCuttingRelay(t, gateway.url);
  const file = join(t.testdir({}), 'buy.py');
  writeFileSync(file, programOf('buy.py'));
  const environment = {
    GATEWAY: relay.url,
    EVM_PRIVATE_KEY: gateway.state.evm['chain-c']?.privateKey ?? '',
    ...(path !== undefined && { PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1' }),
  };
  const bought = /^200 \{"image_url": .*\n0x[0-9a-f]{64} eip155:84532\n$/;
  const before = await gateway.spendable('chain-c');
  t.match(await run(python, file, environment), { code: 0, out: bought, err: '' });
  t.equal(before - (await gateway.spendable('chain-c')), 100_000n);
  t.equal(relay.payments.length, 1);

  relay.payments.length = 0;
  relay.cuts = 1;
  t.match(await run(python, file, environment), { code: 0, out: bought, err: '' }, 'although the answer was lost');
  t.equal(relay.payments.length, 2);
  t.equal(new Set(relay.payments).size, 1, 'the very same payment');
  t.equal(before - (await gateway.spendable('chain-c')), 200_000n, 'charged once');

  relay.payments.length = 0;
  relay.cuts = 1;
  relay.instead.push(
    { status: 429, body: { error: { code: 'rate_limited', message: 'This caller asks for more than it may' } } },
    { status: 404, body: { error: 'no such host' } },
  );
  t.match(await run(python, file, environment), { code: 0, out: bought, err: '' }, 'whatever else is answered then');
  t.equal(new Set(relay.payments).size, 1, 'the very same payment');
  t.equal(before - (await gateway.spendable('chain-c')), 300_000n, 'charged once');

  relay.payments.length = 0;
  const worked = { status: 409, body: { error: { code: 'payment_in_progress', message: 'It is worked on' } } };
  relay.instead.push(...Array(9).fill(worked));
  writeFileSync(file, programOf('buy.py').replace('pause = min(2 * pause, 30)', 'pause = 0.01'));
  t.match(await run(python, file, environment), { code: 0, out: bought, err: '' }, 'however often it has to wait');
  t.equal(new Set(relay.payments).size, 1, 'the very same payment');
  t.equal(before - (await gateway.spendable('chain-c')), 400_000n, 'charged once');

  writeFileSync(file, programOf('buy.py').replace('MOST_UNITS = 1_000_000', 'MOST_UNITS = 99_999'));
  t.match(await run(python, file, environment), {
    code: 1,
    out: '',
    err: /^nothing was signed: no offer of at most 99999/,
  });
  t.equal(before - (await gateway.spendable('chain-c')), 400_000n);
}

const whole = pythonWith('httpx', 'eth_account');
if (whole === undefined) t.comment('no Python here has both httpx and eth-account: what follows signs with a stand-in');
else t.test('a Python program pays by httpx and eth-account', (t) => buys(t, whole));

const debian = pythonWith('httpx', 'ecdsa', 'Cryptodome');
const skip = debian === undefined && 'apt-get install python3-httpx python3-ecdsa python3-pycryptodome';
t.test('the same program pays with a signer made of Debian’s packages', { skip }, (t) =>
  buys(t, debian ?? '', resolve('test/client/python')),
);

t.test('every program of the page is Python', { skip }, async (t) => {
  for (const name of ['buy.py', 'with_x402.py']) {
    const { status } = spawnSync(debian ?? '', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
      input: programOf(name),
    });
    t.ok(programOf(name).length > 500);
    t.equal(status, 0, name);
  }
});
