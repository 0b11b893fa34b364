import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { findRunning, writeRunning } from '../../src/start/running.ts';
import { openCommands } from '../commands.ts';
import { catalogueOf } from '../few-endpoints.ts';
import { freePort } from '../free-port.ts';
import { groupOf, printed, start, startMain, startProgram } from '../started.ts';

const SOLD = 'image/family-a-2-pro';

const run = openCommands(t);

/** What the command has said, standard error included. */
async function reloadIn(environment: Record<string, string>) {
  const { code, out, err } = await run('reload', [], environment);
  return { code, said: out + err };
}

async function open(t: Test, by: 'npm' | 'itself', watch: '0' | '1', level = 'error') {
  const catalogue = catalogueOf(t, [SOLD]);
  const file = join(catalogue, 'endpoints', `${SOLD}.yaml`);
  const port = String(await freePort());
  const environment = { TURNPIKE_CATALOGUE: catalogue, TURNPIKE_DATA: join(catalogue, '..', 'data') };
  const running = { ...environment, PORT: port, TURNPIKE_WATCH: watch, LOG_LEVEL: level };
  const run = by === 'npm' ? start(running) : startMain(running);
  t.teardown(async () => {
    if (groupOf(run.child.pid ?? 0).length > 0) process.kill(-(run.child.pid ?? 0), 'SIGINT');
    await run.ended;
  });
  await printed(run, /^ready /m);
  const price = async () => {
    const unpaid = await fetch(`http://127.0.0.1:${port}/image/family-a-2-pro`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"prompt":"fog"}',
    });
    return /This call costs ([0-9.]+) USD/.exec(await unpaid.text())?.[1];
  };
  const reload = async (by: 'npm' | 'itself') => {
    if (by === 'itself') return reloadIn(environment);
    const command = start(environment, ['reload']);
    return { code: await command.ended, said: command.output() };
  };
  const change = (from: string, to: string) =>
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`"${from}"`, `"${to}"`));
  return { run, catalogue, file, price, reload, change };
}

t.test('npm run reload has the gateway sell what the files say, and says when they are wrong', async (t) => {
  const { run, file, price, reload, change } = await open(t, 'npm', '0');
  t.equal(await price(), '0.05');
  change('0.05', '0.09');
  t.equal(await price(), '0.05', 'a saved file alone changes nothing');
  t.match(await reload('npm'), { code: 0, said: /^http:\S+ sells catalogue [0-9a-f]{12}: \d+ endpoints$/m });
  t.equal(await price(), '0.09');

  const { length } = readFileSync(file);
  appendFileSync(file, 'nonsense: 1\n');
  t.match(await reload('itself'), { code: 1, said: /family-a-2-pro.yaml:\d+:1: .*nonsense/ });
  process.kill(
    Number(
      groupOf(run.child.pid ?? 0)
        .find((line) => /src\/main\.ts/.test(line) && !/npm/.test(line))
        ?.trim()
        .split(/\s+/)[1],
    ),
    'SIGHUP',
  );
  await printed(run, /family-a-2-pro.yaml:\d+:1: .*nonsense[\s\S]*what was sold before is sold on/);
  t.equal(await price(), '0.09');
  truncateSync(file, length);
});

t.test('what takes a restart is said at once by the command that asked for it', async (t) => {
  const { run, catalogue, price, reload, change } = await open(t, 'itself', '0');
  const service = join(catalogue, 'service.yaml');
  const { length } = readFileSync(service);
  appendFileSync(service, 'limits: { address: { unpaidPerMinute: 7 } }\n');
  t.match(await reload('itself'), {
    code: 1,
    said: /^http:\S+ sells on what it did: .*limits.* has changed: that takes a restart$/m,
  });
  await printed(run, /takes a restart\nwhat was sold before is sold on/);
  truncateSync(service, length);
  change('0.05', '0.09');
  t.match(await reload('itself'), { code: 0 }, 'what was refused before is in nobody’s way');
  t.equal(await price(), '0.09');
});

t.test('in the sandbox a file that is saved is sold at once', async (t) => {
  const { run, price, change } = await open(t, 'itself', '1');
  change('0.05', '0.07');
  await printed(run, /^catalogue [0-9a-f]{12} is sold now: \d+ endpoints$/m);
  t.equal(await price(), '0.07');
});

t.test('an endpoint that comes without its key is named as not sold', async (t) => {
  const { run, catalogue, file, reload } = await open(t, 'itself', '0', 'warn');
  const own = `own: { adapter: http, baseUrl: "http://127.0.0.1:9", keys: { key: OWN_KEY }, settings: { authorize: { bearer: key } } }`;
  appendFileSync(join(catalogue, 'upstreams.yaml'), `${own}\n`);
  writeFileSync(
    join(file, '..', 'own.yaml'),
    `summary: Own
path: /image/own
price: { rule: fixed, amount: "0.01" }
request: { properties: {} }
result: { properties: { id: { type: string } }, examples: [{ id: a }] }
example: {}
upstream: { via: own, path: /own, body: input }
`,
  );
  t.match(await reload('itself'), {
    code: 0,
    said: /: 2 endpoints; 1 of its \d+ paths are not sold, as npm run endpoints explains$/m,
  });
  await printed(run, /OWN_KEY.*not sold for want of keys/);
});

t.test('without a gateway to tell, it says what to do', async (t) => {
  t.match(await reloadIn({ TURNPIKE_DATA: t.testdir({}) }), {
    code: 1,
    said: /^no gateway runs on .*: start one, or set TURNPIKE_DATA to its own$/m,
  });
});

t.test('a gateway that ends leaves the note of the one that has taken its place', async (t) => {
  const data = t.testdir({});
  const old = writeRunning(data, { pid: 1, url: 'http://127.0.0.1:1' });
  const own = { pid: process.pid, url: 'http://127.0.0.1:2' };
  const end = writeRunning(data, own);
  old();
  t.same(findRunning(data), own);
  end();
  t.equal(findRunning(data), undefined);
});

t.test('a process that has the number of a gateway which was killed is left alone', async (t) => {
  const sold = catalogueOf(t, [SOLD]);
  const data = join(sold, '..');
  const other = startProgram('sleep', ['60'], {});
  t.teardown(async () => {
    other.child.kill();
    await other.ended;
  });
  const url = `http://127.0.0.1:${await freePort()}`;
  for (const catalogue of [undefined, '0123456789ab']) {
    writeFileSync(join(data, 'gateway.json'), JSON.stringify({ pid: other.child.pid, url, catalogue }));
    t.match(await reloadIn({ TURNPIKE_DATA: data, TURNPIKE_CATALOGUE: sold }), {
      code: 1,
      said: /^no gateway answers at http:\S+: start one, or set TURNPIKE_DATA to its own$/m,
    });
    t.equal(other.child.signalCode, null);
  }
});
