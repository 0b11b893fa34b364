/** One gateway of several processes: to whoever buys or operates it, it is one. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { readConfig } from '../src/gateway/config.ts';
import { findRunning } from '../src/start/running.ts';
import { groupOf, printed, startMain } from './started.ts';
import { ask, startWorkers, TOKEN } from './workers/gateway.ts';

const run = promisify(execFile);

/** Those who have logged a request. */
const answering = (output: string): Set<number> =>
  new Set([...output.matchAll(/"pid":(\d+).*"msg":"request"/g)].map(([, pid]) => Number(pid)));

const sum = (metrics: string, pattern: RegExp): number =>
  metrics
    .split('\n')
    .filter((line) => pattern.test(line))
    .reduce((all, line) => all + Number(line.split(' ').at(-1)), 0);

/** Asks again until the answer is whole: of a worker that is slow to say how it stands, nothing new is told. */
async function until<Answer>(asking: () => Promise<Answer>, isWhole: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await asking();
    if (isWhole(answer)) return answer;
    await delay(20);
  }
}

const UNPAID = /^http_server_request_duration_seconds_count\{.*http_response_status_code="402"/;

t.test('several processes need Postgres, and live mode', async (t) => {
  const refused = startMain({ TURNPIKE_WORKERS: '2', LOG_LEVEL: 'silent' });
  t.equal(await refused.ended, 1);
  t.match(refused.output(), /TURNPIKE_WORKERS is 2, .* the sandbox runs in one/);
  const live = {
    TURNPIKE_MODE: 'live',
    TURNPIKE_PUBLIC_URL: 'https://gateway.example',
    TURNPIKE_PAY_TO_EVM: `0x${'ab'.repeat(20)}`,
    TURNPIKE_FACILITATOR_URL: 'https://facilitator.example',
    TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
  };
  t.throws(() => readConfig({ ...live, TURNPIKE_WORKERS: '2' }), { message: /SQLite is for one. Set DATABASE_URL/ });
  t.equal(readConfig({ ...live, TURNPIKE_WORKERS: '1' }).workers, 1);
  const database = { DATABASE_URL: 'postgres://somebody@db.example/shop' };
  t.equal(readConfig({ ...live, ...database, TURNPIKE_WORKERS: 'auto' }).workers, availableParallelism());
  for (const wrong of ['0', '-1', '1.5', 'many', '1000']) {
    t.throws(() => readConfig({ ...live, ...database, TURNPIKE_WORKERS: wrong }), {
      message: /TURNPIKE_WORKERS must be auto .* or a number from 1 to 256/,
    });
  }
});

t.test('two workers behind one port', async (t) => {
  const gateway = await startWorkers(t, 2, { TURNPIKE_DRAIN_SECONDS: '15' });
  const { call, provider } = gateway;
  const unpaid = call('Lisbon');
  let asked = 0;
  const askUnpaid = async (count: number) => {
    asked += count;
    for (let each = 0; each < count; each += 1) t.equal((await ask(unpaid)).status, 402);
  };
  const log = () => gateway.run.output();
  const metrics = () => until(gateway.metrics, (told) => sum(told, UNPAID) >= asked);
  const ready = () => until(gateway.ready, ({ workers }) => workers?.ready === 2);

  await t.test('both answer, and what one has sold the other answers again', async (t) => {
    t.equal(gateway.pids().length, 2);
    await askUnpaid(4);
    const proof = await gateway.sign(unpaid);
    asked += 1;
    const first = await ask(unpaid, proof);
    t.equal(first.status, 200, first.body);
    const [second, third] = [await ask(unpaid, proof), await ask(unpaid, proof)];
    t.same([second.body, third.body], [first.body, first.body]);
    t.equal(provider.calls(), 1);
    t.equal(await gateway.earned(), 50_000n);
    const pids = gateway.pids();
    await printed(gateway.run, new RegExp(`"pid":${pids[0]}.*"msg":"request"`));
    await printed(gateway.run, new RegExp(`"pid":${pids[1]}.*"msg":"request"`));
    t.same(answering(log()), new Set(pids));
  });

  await t.test('the operator sees their sum, whichever is asked', async (t) => {
    for (const told of [await metrics(), await metrics(), await metrics()]) {
      t.equal(sum(told, UNPAID), asked);
      t.equal(sum(told, /^turnpike_revenue_usd_total\{/), 0.05);
      t.match(told, /^turnpike_catalogue_info\{version=".*"\} 1$/m);
      t.match(told, /^turnpike_facilitator_up\{network="chain-c"\} 1$/m);
      t.match(told, /^turnpike_owed_results 0$/m);
    }
    t.match(await ready(), { code: 200, status: 'ready', workers: { wanted: 2, ready: 2 } });
    const health = async () => JSON.parse((await ask({ url: `${gateway.admin}/healthz`, init: {} })).body);
    t.match(await until(health, ({ workers }) => workers?.ready === 2), {
      status: 'ok',
      networks: ['chain-c'],
      workers: { wanted: 2, ready: 2 },
    });
    t.match((await ask({ url: `${gateway.url}/readyz`, init: {} })).body, '"status":"ready"');
    const upstreams = { url: `${gateway.admin}/console/api/upstreams`, init: {} };
    const shown = async () => JSON.parse((await ask(upstreams, { authorization: `Bearer ${TOKEN}` })).body);
    for (const _ of [1, 2]) {
      t.match(await until(shown, (upstreams) => upstreams[0]?.calls > 0), [
        { name: 'weather', calls: 1, isOpen: false },
      ]);
    }
    const page = await ask({ url: `${gateway.admin}/console/`, init: {} });
    t.equal(page.status, 200);
  });

  await t.test('all sell another catalogue, and a bad one changes nothing anywhere', async (t) => {
    const file = join(gateway.catalogue, 'endpoints/weather/report.yaml');
    // Later on a call is under way while all workers are replaced.
    const written = `${readFileSync(file, 'utf8')}deadline: 5m\n`;
    const prices = async () => {
      asked += 4;
      const answers = [await ask(unpaid), await ask(unpaid), await ask(unpaid), await ask(unpaid)];
      return [...new Set(answers.map(({ body }) => JSON.parse(body).accepts[0].amount))];
    };
    t.same(await prices(), ['50000']);
    writeFileSync(file, written.replace('"0.05"', '"0.07"'));
    const { stdout } = await run('npm', ['run', '--silent', 'reload'], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...gateway.environment },
    });
    t.match(stdout, /sells catalogue .*: 2 endpoints/);
    t.same(await prices(), ['70000']);
    writeFileSync(file, written.replace('price:', 'prise:'));
    process.kill(gateway.primary(), 'SIGHUP');
    t.match(await printed(gateway.run, /what was sold before is sold on/), /report\.yaml:\d+:\d+/);
    const refused = findRunning(gateway.environment.TURNPIKE_DATA)?.refused;
    t.match(refused, { at: Number, why: /report\.yaml:\d+:\d+/ });
    t.same(await prices(), ['70000']);
    writeFileSync(file, written);
    const reload = { url: `${gateway.admin}/console/api/catalogue/reload`, init: { method: 'POST', body: '{}' } };
    const json = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` };
    const reloaded = await ask(reload, json);
    t.equal(reloaded.status, 200, reloaded.body);
    t.same(await prices(), ['50000'], 'as the console has told one of them');
  });

  await t.test(
    'one that dies is replaced while the other answers, and what it has counted stays counted',
    async (t) => {
      t.equal(sum(await metrics(), UNPAID), asked);
      const [killed = 0, other = 0] = gateway.pids();
      process.kill(killed, 'SIGKILL');
      t.match(await printed(gateway.run, /a worker was killed/), new RegExp(`"worker":${killed}`));
      await askUnpaid(4);
      await ready();
      const pids = gateway.pids();
      t.equal(pids.length, 2);
      t.ok(pids.includes(other) && !pids.includes(killed));
      await askUnpaid(4);
      t.equal(sum(await metrics(), UNPAID), asked);
    },
  );

  await t.test('each is replaced without losing a call, not even one that takes long', async (t) => {
    const before = gateway.pids();
    const slow = call('Slow');
    const proof = await gateway.sign(slow);
    const paid = ask(slow, proof);
    asked += 1;
    while (provider.held.length === 0) await delay(5);
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    t.teardown(() => agent.destroy());
    const statuses: (number | undefined)[] = [];
    let isOver = false;
    const keepAsking = async () => {
      while (!isOver) {
        // An address may ask a hundred times a second without paying.
        await delay(50);
        statuses.push((await ask(unpaid)).status);
        statuses.push(
          await new Promise<number | undefined>((resolve, reject) => {
            const { method = 'POST', headers, body } = unpaid.init;
            const sent = httpRequest(unpaid.url, { method, agent, headers: headers as Record<string, string> });
            sent.once('error', reject).once('response', (response) => {
              text(response).then(() => resolve(response.statusCode), reject);
            });
            sent.end(body);
          }),
        );
      }
    };
    const askers = [keepAsking(), keepAsking(), keepAsking()];
    process.kill(gateway.primary(), 'SIGUSR2');
    await printed(gateway.run, /^2 of 2 workers were replaced$/m);
    isOver = true;
    await Promise.all(askers);
    t.same(new Set(statuses), new Set([402]), `${statuses.length} calls`);
    asked += statuses.length;
    const after = gateway.pids().filter((pid) => !before.includes(pid));
    t.equal(after.length, 2);
    provider.letGo();
    const answer = await paid;
    t.equal(answer.status, 200, answer.body);
    while (gateway.pids().length > 2) await delay(20);
    t.equal(sum(await metrics(), UNPAID), asked, 'with the calls of those who left');
  });

  await t.test('SIGTERM lets all finish what is under way, and ends all', async (t) => {
    const slow = call('Slow again');
    const proof = await gateway.sign(slow);
    const paid = ask(slow, proof);
    while (provider.held.length === 0) await delay(5);
    process.kill(gateway.leader, 'SIGTERM');
    await printed(gateway.run, /^SIGTERM: finishing what is under way$/m);
    let refused = await ask(unpaid);
    while (refused.status === 402) refused = await ask(unpaid);
    t.equal(refused.status, 503);
    t.match(refused.body, 'draining');
    provider.letGo();
    const answer = await paid;
    t.equal(answer.status, 200, answer.body);
    t.equal(await gateway.run.ended, 0);
    t.same(groupOf(gateway.leader), []);
  });
});
