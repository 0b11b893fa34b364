import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { CatalogueErrors } from '../../../src/catalogue/yaml/diagnostic.ts';
import { ReloadRefused } from '../../../src/gateway/editions.ts';
import { encodeHeader } from '../../../src/rails/x402/wire.ts';
import { type PaidCall, payV2, receiptOf, request, sendProof, signProof, signProofV1 } from '../../clients.ts';
import { openEvmWallet } from '../../evm-wallet.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../../gateway.ts';
import { refusesBeforeWork } from '../../payment/authorizations/proofs.ts';
import { startPostgres } from '../../postgres.ts';
import { openGate } from '../../relay.ts';
import { stoppedClock } from '../../stopped-clock.ts';
import { weatherFiles } from '../sold/weather-catalogue.ts';
import { KEY, startWeatherService } from '../sold/weather-service.ts';

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
  return { gateway, service, catalogue, edit, write, alert };
}

/** The id of a challenge of version 2, and a payment that is signed when it is called for, whatever id it shows. */
async function ask(gateway: Gateway, { url, init }: PaidCall) {
  const { headers } = await fetch(url, init);
  const challenge = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString());
  const [accepted] = challenge.accepts;
  const { info } = challenge.extensions.challenge;
  const { sign } = await openEvmWallet(gateway, 'chain-c');
  const pay = async (id: string = info.id) => {
    const payload = await sign({ value: BigInt(accepted.amount) });
    const payment = { x402Version: 2, accepted, payload, extensions: { challenge: { info: { id } } } };
    return { 'payment-signature': encodeHeader(payment) };
  };
  return { id: info.id as string, pay };
}

/** The id, given at another time by its own account. */
function dated(id: string, time: number): string {
  const digits = time.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}${id.slice(13)}`;
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
  'what is signed after a change is not had at the price before it, whatever age its challenge claims',
  async (t) => {
    const { gateway, service, edit, alert } = await open(t);
    const [storm, rain] = [alert('storm'), alert('rain')];
    const early = await ask(gateway, storm);
    edit(ALERTS, ...raise);
    await gateway.reload();
    const { id } = await ask(gateway, rain);
    const tenMinutesAgo = Date.now() - 600_000;
    for (const claimed of [
      dated(id, tenMinutesAgo),
      dated(early.id, tenMinutesAgo),
      dated('00000000-0000-7000-8000-000000000000', tenMinutesAgo),
      early.id.replace('-7', '-4'),
      'a word',
    ]) {
      const refused = { call: rain, proof: await early.pay(claimed), type: /insufficient/, detail: /30000/ };
      await refusesBeforeWork(t, gateway, 'chain-c', refused);
    }
    t.same(service.asked, []);
    const before = await gateway.earned('chain-c');
    t.equal(
      (await sendProof(storm, await early.pay())).status,
      200,
      'who was quoted the price before the change has it',
    );
    t.equal((await gateway.earned('chain-c')) - before, 10_000n);
  },
);

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

t.test('what was worked for and not settled before a change is sold at its own price after it', async (t) => {
  const { gateway, service, edit, alert } = await open(t);
  const call = alert('storm');
  const proof = await signProof(gateway, 'chain-c', call);
  const earned = await gateway.earned('chain-c');
  await gateway.fault({ settlement: 'chain-c', fault: '500' });
  t.match(await (await sendProof(call, proof)).json(), { error: { code: 'settlement_pending' } });
  edit(ALERTS, ...raise);
  await gateway.reload();
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200);
  t.match(await answer.json(), { id: 'a-1' });
  t.equal((await gateway.earned('chain-c')) - earned, 10_000n);
  t.equal(service.asked.length, 1);
});

for (const [what, price] of [
  ['raised', '"0.03"'],
  ['lowered', '"0.004"'],
] as const) {
  t.test(`what was worked for and not settled is sold at its own price after a start with a ${what} one`, async (t) => {
    const { gateway, service, catalogue, edit, alert } = await open(t);
    const call = alert('storm');
    const proof = await signProof(gateway, 'chain-c', call);
    const unused = await signProof(gateway, 'chain-c', call);
    const earned = await gateway.earned('chain-c');
    await gateway.fault({ settlement: 'chain-c', fault: '500' });
    t.match(await (await sendProof(call, proof)).json(), { error: { code: 'settlement_pending' } });
    edit(ALERTS, '"0.01"', price);
    const restarted = await gateway.startAnother(undefined, catalogue);
    const later = { ...call, url: call.url.replace(gateway.url, restarted) };
    t.equal((await sendProof(later, unused)).status, 402, 'a payment that had not begun');
    const answer = await sendProof(later, proof);
    t.equal(answer.status, 200);
    t.match(await answer.json(), { id: 'a-1' });
    t.match(receiptOf(answer), { success: true, amount: '10000' });
    t.equal((await gateway.earned('chain-c')) - earned, 10_000n);
    t.equal(service.asked.length, 1);
  });
}

t.test('what a request leaves out is what it was when its price was quoted', async (t) => {
  const { gateway, service, edit, alert } = await open(t);
  const [storm, rain, wind] = [alert('storm'), alert('rain'), alert('wind')];
  const early = await signProof(gateway, 'chain-c', storm);
  edit(ALERTS, 'default: 10', 'default: 20');
  await gateway.reload();
  const middle = await signProof(gateway, 'chain-c', rain);
  edit(ALERTS, 'default: 20', 'default: 30');
  await gateway.reload();
  const earned = await gateway.earned('chain-c');
  const heard = async (call: PaidCall, proof: Record<string, string>) =>
    ((await (await sendProof(call, proof)).json()) as { heard?: { seconds: number } }).heard?.seconds;
  t.equal(await heard(storm, early), 600);
  t.equal(await heard(rain, middle), 1_200);
  t.equal(await heard(wind, await signProof(gateway, 'chain-c', wind)), 1_800);
  const said = request(gateway, '/weather/alerts', { text: 'hail', minutes: 5 });
  t.equal(await heard(said, await signProof(gateway, 'chain-c', said)), 300);
  t.equal((await gateway.earned('chain-c')) - earned, 40_000n);
  t.equal(service.asked.length, 4);
});

t.test('what was bought can still be had where the endpoint takes such a request no more', async (t) => {
  const { gateway, service, catalogue, edit, alert } = await open(t);
  const [call, other] = [alert('a storm'), alert('much rain')];
  const proof = await signProof(gateway, 'chain-c', call);
  const bought = await (await sendProof(call, proof)).json();
  const unused = await signProof(gateway, 'chain-c', call);
  const [earned, asked] = [await gateway.earned('chain-c'), service.asked.length];

  edit(ALERTS, 'maxLength: 200', 'maxLength: 5');
  // A start, or half an hour, leaves nothing of what was sold before.
  const restarted = await gateway.startAnother(undefined, catalogue);
  const send = ({ url, init }: PaidCall, sent: Record<string, string>) =>
    sendProof({ url: url.replace(gateway.url, restarted), init }, sent);
  const again = await send(call, proof);
  t.same(await again.json(), bought);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.match(receiptOf(again), { success: true });
  const refused = { error: { code: 'invalid_request', message: /text must NOT have more than 5/ } };
  t.match(await (await send(call, unused)).json(), refused, 'another payment of the same');
  t.match(await (await send(other, proof)).json(), refused, 'the same payment for another');
  t.same([await gateway.earned('chain-c'), service.asked.length], [earned, asked]);
});

t.test(
  'an endpoint that retires is sold until its day, and for as long as what was quoted before is good',
  async (t) => {
    const day = new Date().toISOString().slice(0, 10);
    const midnight = Date.parse(day);
    let time = midnight - 60_000;
    const { gateway, service, edit, alert } = await open(t, { now: () => time });
    edit(ALERTS, 'path: /weather/alerts', `retire: ${day}\npath: /weather/alerts`);
    await gateway.reload();
    const call = alert('storm');
    const { id, pay } = await ask(gateway, call);
    const first = await pay();
    const bought = await (await sendProof(call, first)).json();
    const buysNothing = async (name: string, proof: Record<string, string>) => {
      const [earned, asked] = [await gateway.earned('chain-c'), service.asked.length];
      t.equal((await sendProof(call, proof)).status, 404, name);
      t.same([await gateway.earned('chain-c'), service.asked.length], [earned, asked]);
      t.same(await (await sendProof(call, first)).json(), bought, 'what was bought can still be had');
    };
    const unpaid = async () => (await fetch(call.url, call.init)).status;
    t.equal(await unpaid(), 402);

    time = midnight + 60_000;
    while ((await unpaid()) !== 404) await delay(50);
    t.equal((await sendProof(call, await pay())).status, 200, 'quoted before');
    await buysNothing('dated before', await pay(dated(id, midnight - 120_000)));

    time = midnight + 31 * 60_000;
    await buysNothing('quoted too long ago', await pay());
  },
);

t.test('what was made before a change and could not be stored is not bought once more after it', async (t) => {
  const { gateway, service, edit } = await open(t);
  const map = request(gateway, '/weather/map', { zoom: 9 });
  const proof = await signProof(gateway, 'chain-c', map);
  const media = join(gateway.directory, 'media');
  renameSync(media, `${media}.away`);
  writeFileSync(media, 'a file where the directory was');
  t.match(await (await sendProof(map, proof)).json(), { error: { code: 'media_unavailable' } });
  rmSync(media);
  renameSync(`${media}.away`, media);
  edit(ALERTS, ...raise);
  await gateway.reload();
  t.match(await (await sendProof(map, proof)).json(), { image_url: /\.png$/ });
  t.same(
    service.asked.map(({ line }) => line),
    ['POST /v1/map'],
  );
});

t.test('a provider is asked no more at a time than its upstream says, whatever is sold by then', async (t) => {
  const { gateway, service, edit } = await open(t);
  edit('upstreams.yaml', 'adapter: http', 'adapter: http\n  concurrency: 1');
  await gateway.reload();
  const [watch, forecast] = ['watch', 'forecast'].map((name) =>
    request(gateway, `/weather/${name}`, { city: 'Porto' }),
  );
  if (!watch || !forecast) throw new Error('two calls were made');
  const watching = sendProof(watch, await signProof(gateway, 'chain-c', watch));
  while (service.asked.length === 0) await delay(5);
  edit(ALERTS, ...raise);
  await gateway.reload();
  const waiting = sendProof(forecast, await signProof(gateway, 'chain-c', forecast));
  for (let looks = 0; looks < 100 && service.asked.length === 1; looks += 1) await delay(10);
  t.equal(service.asked.length, 1);
  service.goOn();
  for (const answer of await Promise.all([watching, waiting])) {
    t.equal(answer.status, 200);
    await answer.text();
  }
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
  const { gateway, edit, alert } = await open(t, { environment: { DATABASE_URL: database.url } });
  const other = await gateway.startAnother();
  const quoted = await ask(gateway, alert('storm'));
  const versionOf = async (url: string) => (await fetch(`${url}/healthz`)).headers.get('turnpike-catalogue');
  const before = await versionOf(gateway.url);
  t.equal(await versionOf(other), before);
  edit(ALERTS, ...raise);
  await gateway.reload();
  const wanted = await versionOf(gateway.url);
  t.not(wanted, before);
  while ((await versionOf(other)) !== wanted) await delay(50);
  t.equal(await versionOf(other), wanted);
  const { url, init } = alert('storm');
  const paid = sendProof({ url: url.replace(gateway.url, other), init }, await quoted.pay());
  t.equal((await paid).status, 200, 'and honours what was quoted by another before');
});

t.test('and the newest, also where one of them was still loading what came before it', async (t) => {
  const database = await startPostgres();
  t.teardown(database.stop);
  const loads = openGate();
  t.teardown(loads.open);
  const { gateway, edit } = await open(t, {
    environment: { DATABASE_URL: database.url },
    between: async ({ prepare }) => ({
      async prepare(catalogue) {
        await prepare?.(catalogue);
        await loads.pass();
      },
    }),
  });
  const other = await gateway.startAnother();
  const versionOf = async (url: string) => (await fetch(`${url}/healthz`)).headers.get('turnpike-catalogue');
  loads.holdNext().release();
  const following = loads.holdNext();
  edit(ALERTS, ...raise);
  await gateway.reload();
  await following.reached;
  edit(ALERTS, '"0.03"', '"0.02"');
  await gateway.reload();
  const newest = await versionOf(gateway.url);
  following.release();
  while ((await versionOf(other)) !== newest) await delay(50);
  t.equal(await versionOf(gateway.url), newest);
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
