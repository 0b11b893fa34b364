import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { CatalogueErrors } from '../../src/catalogue/diagnostic.ts';
import { ReloadRefused } from '../../src/editions.ts';
import { type PaidCall, payV2, request, sendProof, signProof, signProofV1 } from '../clients.ts';
import { type GatewayOptions, startGateway } from '../gateway.ts';
import { startPostgres } from '../postgres.ts';
import { stoppedClock } from '../stopped-clock.ts';
import { weatherFiles } from './weather-catalogue.ts';
import { KEY, startWeatherService } from './weather-service.ts';

async function open(t: Test, options: GatewayOptions = {}) {
  const service = await startWeatherService(t);
  const catalogue = join(t.testdir({ catalogue: weatherFiles(service.url) }), 'catalogue');
  const environment = { WEATHER_API_KEY: KEY, ...options.environment };
  const gateway = await startGateway({ networks: ['chain-c'], ...options, catalogue, environment });
  t.teardown(gateway.stop);
  const edit = (name: string, from: string, to: string) => {
    const file = join(catalogue, name);
    const text = readFileSync(file, 'utf8');
    if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
    writeFileSync(file, text.replace(from, to));
  };
  const alert = (text: string): PaidCall => request(gateway, '/weather/alerts', { text });
  const write = (name: string, text: string) => writeFileSync(join(catalogue, name), text);
  return { gateway, edit, write, alert };
}

const ALERTS = 'endpoints/weather/alerts.yaml';
const raise = ['"0.01"', '"0.03"'] as const;

t.test('a price that goes up while fifty callers pay: every quote is honoured, and no call is lost', async (t) => {
  // The gateway's time stands still: every payment outlives the work, however long fifty of them take.
  const { gateway, edit, alert } = await open(t, { now: stoppedClock() });
  const calls = Array.from({ length: 50 }, (_, number) => alert(`storm ${number}`));
  const proofs = await Promise.all(calls.map((call) => signProof(gateway, 'chain-c', call)));
  const before = await gateway.earned('chain-c');
  const answers = calls.map(async (call, number) => {
    if (number === 20) {
      edit(ALERTS, ...raise);
      await gateway.reload();
    }
    return (await sendProof(call, proofs[number] ?? {})).status;
  });
  t.same(await Promise.all(answers), Array(50).fill(200));
  t.equal((await gateway.earned('chain-c')) - before, 500_000n, 'each at the price that was quoted');

  const fresh = await payV2(gateway, 'chain-c', alert('a new one'));
  t.equal(fresh.status, 200);
  t.equal((await gateway.earned('chain-c')) - before, 530_000n, 'what is quoted now costs what it costs now');
});

t.test('what is signed after a change is not had at the price before it', async (t) => {
  const { gateway, edit, alert } = await open(t);
  const [storm, rain] = [alert('storm'), alert('rain')];
  const old = await fetch(storm.url, storm.init);
  const kept = async () => old.clone();
  const early = await signProofV1(gateway, 'chain-c', storm, kept);
  edit(ALERTS, ...raise);
  await gateway.reload();
  // Payments of version 1 are dated by their end, in whole seconds.
  const second = Math.floor(Date.now() / 1000);
  while (Date.now() < (second + 2) * 1000) await delay((second + 2) * 1000 - Date.now());
  const late = await signProofV1(gateway, 'chain-c', rain, kept);
  t.equal((await sendProof(rain, late)).status, 402);
  t.equal((await sendProof(storm, early)).status, 200);
});

t.test(
  'what is taken out of sale leaves the documents at once, and what was bought of it can still be had',
  async (t) => {
    const { gateway, edit, alert } = await open(t);
    const call = alert('storm');
    const proof = await signProof(gateway, 'chain-c', call);
    const bought = await (await sendProof(call, proof)).json();
    const later = alert('quoted before, paid after');
    const quoted = await signProof(gateway, 'chain-c', later);

    edit(ALERTS, 'path: /weather/alerts', 'enabled: false\npath: /weather/alerts');
    await gateway.reload();
    t.equal((await fetch(call.url, call.init)).status, 404);
    const listed = await (await fetch(`${gateway.url}/x402-resources`)).text();
    t.notMatch(listed, 'weather/alerts');
    t.match(listed, 'weather/forecast');

    const again = await sendProof(call, proof);
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.same(await again.json(), bought);
    t.equal((await sendProof(later, quoted)).status, 200, 'what was quoted before is honoured');
  },
);

t.test('an endpoint that retires is sold until its day', async (t) => {
  let ahead = 0;
  const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
  const { gateway, edit, alert } = await open(t, { now: () => Date.now() + ahead });
  edit(ALERTS, 'path: /weather/alerts', `retire: ${day}\npath: /weather/alerts`);
  await gateway.reload();
  const { url, init } = alert('storm');
  const unpaid = async () => (await fetch(url, init)).status;
  t.equal(await unpaid(), 402);
  ahead = 3 * 86_400_000;
  while ((await unpaid()) !== 404) await delay(50);
  t.equal(await unpaid(), 404);
});

t.test('a catalogue with a mistake, or with other networks, changes nothing', async (t) => {
  const { gateway, edit, alert } = await open(t);
  edit(ALERTS, ...raise);
  edit(ALERTS, 'rule: fixed', 'rule: fixt');
  await t.rejects(gateway.reload(), CatalogueErrors);
  edit(ALERTS, 'rule: fixt', 'rule: fixed');
  edit('networks.yaml', 'chain-c-main', 'chain-c-other');
  await t.rejects(gateway.reload(), ReloadRefused);
  const { url, init } = alert('storm');
  t.match(await (await fetch(url, init)).json(), { detail: /costs 0\.01 / });
  edit('networks.yaml', 'chain-c-other', 'chain-c-main');
  await gateway.reload();
  t.match(await (await fetch(url, init)).json(), { detail: /costs 0\.03 / });
});

t.test('instances on one database sell the same: one that is told to load brings the others along', async (t) => {
  const database = await startPostgres();
  t.teardown(database.stop);
  const { gateway, edit } = await open(t, { environment: { DATABASE_URL: database.url } });
  const other = await gateway.startAnother();
  const versionOf = async (url: string) => (await fetch(`${url}/healthz`)).headers.get('turnpike-catalogue');
  const before = await versionOf(gateway.url);
  t.equal(await versionOf(other), before);
  edit(ALERTS, ...raise);
  await gateway.reload();
  const wanted = await versionOf(gateway.url);
  t.not(wanted, before);
  while ((await versionOf(other)) !== wanted) await delay(50);
  t.equal(await versionOf(other), wanted);
});

t.test('an upstream and an endpoint that are added are sold at once, in the sandbox by a double', async (t) => {
  const { gateway, edit, write } = await open(t);
  edit('upstreams.yaml', 'weather:', 'tides:\n  adapter: http\n  baseUrl: https://tides.example.com\nweather:');
  write(
    'endpoints/weather/tides.yaml',
    `summary: Tides
path: /weather/tides
networks: [chain-c]
price: { rule: fixed, amount: "0.02" }
request: { required: [port], properties: { port: { type: string, maxLength: 40 } } }
result: { required: [high], properties: { high: { type: string } }, examples: [{ high: "06:12" }] }
example: { port: Leixões }
upstream: { via: tides, path: /tides, body: input, result: "{high: tides[0].high}", example: { tides: [{ high: "06:12" }] } }
`,
  );
  await gateway.reload();
  const before = await gateway.earned('chain-c');
  const answer = await payV2(gateway, 'chain-c', request(gateway, '/weather/tides', { port: 'Leixões' }));
  t.same(await answer.json(), { high: '06:12' });
  t.equal((await gateway.earned('chain-c')) - before, 20_000n);
  t.equal((await gateway.calls()).upstreams.tides, 1);
});
