import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { buildGateway } from '../codegen/build.ts';
import { SOURCES } from '../src/start/built-from.ts';
import { freePort } from './free-port.ts';
import { groupOf, printed, startProgram } from './started.ts';

t.test('a gateway that was built sells as the sources do, and one of other sources does not start', async (t) => {
  mkdirSync('build', { recursive: true });
  const directory = mkdtempSync(join('build', 'test-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  await buildGateway(directory, 'catalogue');
  const data = join(directory, 'data');
  const startBuilt = async () =>
    startProgram(process.execPath, [join(directory, 'main.js')], {
      PORT: String(await freePort()),
      TURNPIKE_DATA: data,
      LOG_LEVEL: 'warn',
    });

  const run = await startBuilt();
  const leader = run.child.pid ?? 0;
  t.teardown(() => {
    if (groupOf(leader).length > 0) process.kill(-leader, 'SIGKILL');
  });
  const text = await printed(run, /^pay .*$/m);
  const [, url = ''] = /^ready (\S+)$/m.exec(text) ?? [];
  const [, command] = /^pay +npm (run pay -- .*)$/m.exec(text) ?? [];
  t.ok(command, text);

  const json = { 'content-type': 'application/json' };
  const unpaid = await fetch(`${url}/image/family-e-2`, {
    method: 'POST',
    headers: json,
    body: '{"prompt":"a lighthouse","resolution":"2k"}',
  });
  t.equal(unpaid.status, 402);
  t.match(await unpaid.json(), { accepts: [{ amount: '100000' }] });
  t.match(execFileSync('sh', ['-c', `npm --silent ${command}`], { encoding: 'utf8' }), /^result .*image_url/ms);
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  const [, script = ''] = /src="([^"]+\.js)"/.exec(page) ?? [];
  t.equal((await fetch(new URL(script, url))).headers.get('content-type'), 'text/javascript; charset=utf-8', script);
  t.notOk(readdirSync(data).includes('checked-catalogue.json'), 'the catalogue was checked when it was built');
  process.kill(-leader, 'SIGINT');
  await run.ended;
  t.same(groupOf(leader), []);

  const file = join(directory, SOURCES);
  const sources = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...sources, 'src/money.ts': { ...sources['src/money.ts'], bytes: 1 } }));
  const refused = await startBuilt();
  t.equal(await refused.ended, 1);
  t.match(refused.output(), /^the build is not of the sources that are here: src\/money\.ts .*npm run build\n$/);
});

t.test('a catalogue with a mistake is told of as it is everywhere, and nothing is built of it', async (t) => {
  const catalogue = join(t.testdir({}), 'catalogue');
  cpSync('catalogue', catalogue, { recursive: true });
  const endpoint = join(catalogue, 'endpoints/stock/arb.yaml');
  writeFileSync(endpoint, readFileSync(endpoint, 'utf8').replace(/amount: "([0-9.]+)"/, 'amount: $1'));
  const run = startProgram('npm', ['run', '--silent', 'build'], { TURNPIKE_CATALOGUE: catalogue });
  t.equal(await run.ended, 1);
  t.match(run.output(), /arb\.yaml:\d+:\d+: 0\.01 is not quoted; write "0\.01"\nthe gateway was not built anew/);
  t.notMatch(run.output(), / at /);

  const target = join(t.testdir({}), 'generated', 'gateway');
  await t.rejects(buildGateway(target, catalogue), { name: 'CatalogueErrors' });
  t.notOk(existsSync(target), 'what was built before is left as it was');
});
