import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { loadNetworks } from '../../src/catalogue/load.ts';
import { assetsOf } from '../../src/cli/client/assets.ts';
import type { Answer, Events, StreamBroken } from '../../src/client/index.ts';
import { deadlinesOf } from '../deadlines.ts';
import { startGateway } from '../gateway.ts';
import { weatherFiles } from '../road/sold/weather-catalogue.ts';
import { KEY, startWeatherService } from '../road/sold/weather-service.ts';
import { picturesWith } from '../settling-first.ts';
import { openClient } from './any-client.ts';
import { startCuttingRelay } from './cutting-relay.ts';

const PICTURE = '/image/family-e-2';
const prompt = (text: string) => ({ prompt: text });

t.test('a wallet on two kinds of chain, over two protocols', async (t) => {
  const gateway = await startGateway();
  t.teardown(gateway.stop);
  const holds = (network: string) => gateway.spendable(network);

  await t.test('pays what is asked for, and says what for', async (t) => {
    const client = openClient(gateway);
    for (const [network, path, amount] of [
      ['chain-c', PICTURE, 60_000n],
      ['chain-a', PICTURE, 60_000n],
      ['chain-c', `/mpp${PICTURE}`, 60_000n],
    ] as const) {
      const before = await holds(network);
      const answer = await openClient(gateway, { pay: { network } }).call(path, prompt(`${network} ${path}`));
      t.match(answer, { ok: true, status: 200, paid: { price: '0.06', amount: `${amount}`, network } });
      t.ok(answer.ok && answer.receipt?.transaction);
      t.equal(before - (await holds(network)), amount);
    }
    t.same(await client.quote(PICTURE, { ...prompt('fog'), resolution: '4k' }), {
      ok: true,
      price: '0.15',
      network: 'chain-c',
    });
    t.same(client.spending, { spent: '0', left: '10' }, 'a quote costs nothing');
  });

  await t.test('pays from an account whose address has no capitals', async (t) => {
    const account = privateKeyToAccount(gateway.state.evm['chain-c']?.privateKey ?? '0x');
    const address = account.address.toLowerCase() as typeof account.address;
    const quiet = openClient(gateway, { pay: { evm: { ...account, address }, network: 'chain-c' } });
    for (const path of ['/image/family-e-2', '/mpp/image/family-e-2']) {
      t.match(
        await quiet.call(path, { prompt: 'a lighthouse in fog', resolution: '2k' }),
        { ok: true, status: 200 },
        path,
      );
    }
  });

  await t.test(
    'pays on the network that is named, of which a catalogue knows the live one and the sandbox’s',
    async (t) => {
      const client = openClient(gateway, {
        assets: assetsOf(loadNetworks('catalogue')),
        pay: { network: 'chain-c' },
      });
      const before = await holds('chain-c');
      t.match(await client.call(PICTURE, prompt('sandbox')), { ok: true, paid: { network: 'chain-c' } });
      t.equal(before - (await holds('chain-c')), 60_000n);
    },
  );

  await t.test('keeps to one protocol where it is told to', async (t) => {
    const client = openClient(gateway, { pay: { protocol: 'mpp' } });
    t.match(await client.call(PICTURE, prompt('x402 alone')), {
      ok: false,
      reason: 'unpaid',
      code: 'payment_required',
    });
    t.match(await client.call(`/mpp${PICTURE}`, prompt('mpp')), { ok: true });
  });

  await t.test('tells what is wrong with a request before anything is signed', async (t) => {
    const client = openClient(gateway);
    const before = await holds('chain-c');
    t.match(await client.call(PICTURE, { resolution: '8k' }), {
      ok: false,
      reason: 'invalid',
      code: 'invalid_request',
      details: [{ path: '/prompt', message: 'is required' }, { path: '/resolution' }],
    });
    t.match(await client.call('/image/none', prompt('fog')), { reason: 'invalid', status: 404, code: 'unknown_path' });
    t.equal(await holds('chain-c'), before);
    t.same(client.spending.spent, '0');
  });

  await t.test('is asked for no more than a dollar a call and ten in all, unless it is told otherwise', async (t) => {
    const client = openClient(gateway, { limit: { total: '0.2' } });
    const [before, { settlementCount }] = [await holds('chain-c'), await gateway.calls()];
    t.match(await openClient(gateway).call('/v1/credits', { amount_usd: '1.5' }), {
      ok: false,
      reason: 'limit',
      code: 'limit_reached',
      limit: { kind: 'perCall', price: '1.5', limit: '1' },
      message: /costs 1\.5 USD, and the limit for one call is 1 USD: raise it.*Nothing was signed/,
    });
    t.match(await client.call(PICTURE, prompt('one'), { limit: '0.05' }), {
      reason: 'limit',
      limit: { limit: '0.05' },
      message: /the limit for this call is 0\.05 USD: raise it with limit: "0\.06"\. Nothing was signed/,
    });
    t.match(await client.call(PICTURE, { ...prompt('one'), resolution: '4k' }), { ok: true });
    t.match(await client.call(PICTURE, prompt('two')), {
      reason: 'limit',
      limit: { kind: 'total', price: '0.06', limit: '0.2', spent: '0.15' },
    });
    t.same(client.spending, { spent: '0.15', left: '0.05' });
    t.equal(before - (await holds('chain-c')), 150_000n);
    t.equal((await gateway.calls()).settlementCount, settlementCount + 1);
    t.match(await openClient(gateway).call('/v1/credits', { amount_usd: '1.5' }, { limit: '1.5' }), { ok: true });
  });

  await t.test('spends no more than its total by calls at the same time', async (t) => {
    const client = openClient(gateway, { limit: { total: '0.13' } });
    const before = await holds('chain-c');
    const answers = await Promise.all([1, 2, 3, 4].map((each) => client.call(PICTURE, prompt(`at once ${each}`))));
    t.equal(answers.filter(({ ok }) => ok).length, 2);
    t.equal(answers.filter((answer) => !answer.ok && answer.reason === 'limit').length, 2);
    t.equal(before - (await holds('chain-c')), 120_000n);
  });

  await t.test('counts nothing for a call that failed and was not charged', async (t) => {
    const client = openClient(gateway);
    const before = await holds('chain-c');
    await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
    t.match(await client.call(PICTURE, prompt('refused')), {
      ok: false,
      reason: 'refused',
      code: 'content_refused',
      paid: { price: '0.06' },
      isCounted: false,
    });
    t.same(client.spending.spent, '0');
    t.equal(await holds('chain-c'), before);
  });

  await t.test('asks with the same payment for what was lost after it had settled', async (t) => {
    const relay = await startCuttingRelay(t, gateway.url);
    for (const path of [PICTURE, `/mpp${PICTURE}`]) {
      const client = openClient(gateway, { url: relay.url, pay: { network: 'chain-c' } });
      const [before, { settlementCount }] = [await holds('chain-c'), await gateway.calls()];
      relay.payments.length = 0;
      relay.cuts = 2;
      t.match(await client.call(path, prompt(`lost ${path}`)), { ok: true, receipt: { transaction: /^0x/ } });
      t.equal(relay.payments.length, 3);
      t.equal(new Set(relay.payments).size, 1, 'the very same payment');
      t.equal(before - (await holds('chain-c')), 60_000n, 'charged once');
      t.equal((await gateway.calls()).settlementCount, settlementCount + 1);
      t.same(client.spending.spent, '0.06');
    }
  });

  await t.test('holds on to the payment of a call that nobody answered', async (t) => {
    const relay = await startCuttingRelay(t, gateway.url);
    const client = openClient(gateway, { url: relay.url, retries: 0 });
    const before = await holds('chain-c');
    relay.cuts = 1;
    const lost = await client.call(PICTURE, prompt('nobody answers'));
    t.match(lost, { ok: false, reason: 'owed', code: 'no_answer', paid: { price: '0.06' }, isCounted: true });
    const found = !lost.ok && lost.reason === 'owed' ? await lost.again() : lost;
    t.match(found, { ok: true, result: { image_url: String } });
    t.equal(new Set(relay.payments).size, 1);
    t.equal(before - (await holds('chain-c')), 60_000n);
  });

  await t.test('gets what was charged although its path is not sold for a while', async (t) => {
    const relay = await startCuttingRelay(t, gateway.url);
    const client = openClient(gateway, { url: relay.url, retries: 1 });
    const before = await holds('chain-c');
    relay.cuts = 1;
    relay.instead.push({
      status: 404,
      body: { error: { code: 'unknown_path', message: 'No endpoint is sold there' } },
    });
    const lost = await client.call(PICTURE, prompt('taken away'));
    t.equal(before - (await holds('chain-c')), 60_000n, 'charged');
    t.match(lost, { ok: false, reason: 'owed', code: 'unknown_path', message: /may have been charged/ });
    t.match(!lost.ok && lost.reason === 'owed' && (await lost.again()), { ok: true, result: { image_url: String } });
    t.equal(before - (await holds('chain-c')), 60_000n, 'charged once');
  });

  await t.test('pays on another network the next time where it has too little on the first', async (t) => {
    const client = openClient(gateway, { pay: { evm: generatePrivateKey() } });
    const before = await holds('chain-a');
    t.match(await client.call(PICTURE, prompt('poor')), {
      reason: 'refused',
      paid: { network: 'chain-c' },
      isCounted: false,
      message: /too few tokens.*\. Call again: the next call is paid on chain-a$/,
    });
    for (const words of ['poor', 'still poor'])
      t.match(await client.call(PICTURE, prompt(words)), { ok: true, paid: { network: 'chain-a' } });
    t.equal(before - (await holds('chain-a')), 120_000n);
    t.same(client.spending.spent, '0.12');
    const alone = openClient(gateway, { pay: { evm: generatePrivateKey(), network: 'chain-c' } });
    for (const words of ['poor', 'still poor']) {
      const refused = await alone.call(PICTURE, prompt(words));
      t.match(refused, { reason: 'refused', message: /too few tokens/ });
      t.notMatch(refused, { message: /Call again/ });
    }
  });

  await t.test('gets what was settled before the work and failed', async (t) => {
    const client = openClient(gateway, { pay: { network: 'chain-a' }, retries: 0 });
    const before = await holds('chain-a');
    await gateway.fault({ upstream: 'predictions', fault: '500', count: 20 });
    const owed = await client.call(PICTURE, prompt('owed'));
    t.match(owed, { ok: false, reason: 'owed', code: 'result_owed', status: 500 });
    await gateway.fault({ upstream: 'predictions', fault: '500', count: 0 });
    const found = !owed.ok && owed.reason === 'owed' ? await owed.again() : owed;
    t.match(found, { ok: true });
    t.equal(before - (await holds('chain-a')), 60_000n);
  });

  await t.test('gets its answer although the settlement’s answer was lost', async (t) => {
    const client = openClient(gateway);
    const before = await holds('chain-c');
    await gateway.fault({ settlement: 'chain-c', fault: 'unknown' });
    t.match(await client.call(PICTURE, prompt('unknown')), { ok: true });
    t.equal(before - (await holds('chain-c')), 60_000n);
  });

  await t.test('is told what it cannot pay', async (t) => {
    const poor = openClient(gateway, { assets: [] });
    t.match(await poor.call(PICTURE, prompt('fog')), { reason: 'unpaid', message: /no wallet/ });
    t.throws(() => openClient(gateway, { pay: { evm: '0x12' } }), { message: /^pay\.evm is not a private key: give/ });
    t.throws(() => openClient(gateway, { pay: { network: 'moon' } }), { message: /^pay\.network is one of chain-a, / });
    t.throws(() => openClient(gateway, { limit: { total: '1e3' } }), { message: /^limit\.total: .*decimal string/ });
    t.throws(() => openClient(gateway, { url: 'shop.example' }), { message: /^url is the gateway's origin/ });
  });
});

const openWeather = async (t: Test, options: Parameters<typeof weatherFiles>[1] & { isFree?: true } = {}) => {
  const service = await startWeatherService(t);
  const files = weatherFiles(service.url, options);
  const { weather } = files.endpoints;
  if (options.isFree) {
    const given = weather['watch.yaml'].replace(/price: .*/, 'free: true\nprice: { rule: fixed, amount: "0" }');
    weather['watch.yaml'] = given;
  }
  const catalogue = join(t.testdir({ catalogue: files }), 'catalogue');
  const gateway = await startGateway({ catalogue, environment: { WEATHER_API_KEY: KEY }, tempo: true });
  t.teardown(gateway.stop);
  return { service, gateway };
};

t.test('where no node answers for the network that is offered first, another one is paid on', async (t) => {
  const gateway = await startGateway({ catalogue: picturesWith(t, '{ settleUpfront: { above: "0.05" } }') });
  t.teardown(gateway.stop);
  const before = await gateway.spendable('chain-c');
  const noNode = { solanaRpcUrl: 'http://127.0.0.1:1' };
  const client = openClient(gateway, { pay: noNode });
  t.match(await client.quote(PICTURE, prompt('fog')), { network: 'chain-a' });
  t.match(await client.call(PICTURE, prompt('fog')), { ok: true, paid: { network: 'chain-c' } });
  t.equal(before - (await gateway.spendable('chain-c')), 60_000n);
  t.same(client.spending.spent, '0.06');
  const alone = openClient(gateway, { pay: { ...noNode, network: 'chain-a' } });
  t.match(await alone.call(PICTURE, prompt('fog')), { reason: 'unpaid', code: 'not_signed' });
  t.same(alone.spending.spent, '0');
});

t.test('a path that streams answers its events as they come, and one that breaks off can be had whole', async (t) => {
  const { service, gateway } = await openWeather(t);
  const client = openClient(gateway, { pay: { network: 'chain-c' } });
  const before = await gateway.spendable('chain-c');
  const answer = await client.call('/weather/watch', { city: 'Lisbon' });
  if (!answer.ok) throw new Error(answer.message);
  const seen: unknown[] = [];
  for await (const event of answer.result) {
    if (seen.length === 0) service.goOn();
    seen.push(event);
  }
  t.same(seen, [
    { event: 'message', data: '{"wind": 3}' },
    { event: 'message', data: '{"key": "[secret]"}' },
    { event: 'message', data: '[DONE]' },
  ]);

  const broken = await client.call('/weather/watch', { city: 'Faro' });
  if (!broken.ok) throw new Error(broken.message);
  let thrown: unknown;
  try {
    for await (const _ of broken.result) service.breakOff();
  } catch (error) {
    thrown = error;
  }
  t.match(thrown, { name: 'StreamBroken', code: 'result_owed' });
  const again = (thrown as StreamBroken).again();
  const until = Date.now() + 60_000;
  while (service.goOn() === 0 && Date.now() < until) await new Promise(setImmediate);
  const whole = await again;
  if (!whole.ok) throw new Error(whole.message);
  const last = [];
  for await (const { data } of whole.result) last.push(data);
  t.same(last, ['{"wind": 3}', '{"key": "[secret]"}', '[DONE]']);
  t.equal(before - (await gateway.spendable('chain-c')), 20_000n, 'each was charged once');
});

t.test('a stream that its deadline cuts says so after what came, and its payment has the same again', async (t) => {
  const pass = deadlinesOf(t, 47_000);
  const watch = 'deadline: 47s\nresult: { type: string, examples: ["data: 1"] }';
  const { service, gateway } = await openWeather(t, { watch });
  const client = openClient(gateway, { pay: { network: 'chain-c' } });
  const read = async (answer: Answer<Events>) => {
    if (!answer.ok) throw new Error(answer.message);
    const seen: unknown[] = [];
    try {
      for await (const event of answer.result) {
        seen.push(event);
        pass();
      }
    } catch (error) {
      t.match(error, { name: 'StreamBroken', code: 'answer_cut', message: /at its deadline: all until here is what/ });
      return { seen, again: (error as StreamBroken).again };
    }
    throw new Error('the stream was not cut');
  };
  const first = await read(await client.call('/weather/watch', { city: 'Endless' }));
  t.match(first.seen[0], { event: 'message', data: '{"wind": 3}' });
  t.same((await read(await first.again())).seen, first.seen);
  t.equal(service.asked.length, 1);
});

t.test('a stream that costs nothing comes as any other', async (t) => {
  const { service, gateway } = await openWeather(t, { isFree: true });
  const client = openClient(gateway, { pay: {} });
  const answer = await client.call('/weather/watch', { city: 'Short' });
  t.match(answer, { ok: true, paid: undefined, receipt: undefined });
  const seen = [];
  if (answer.ok) for await (const { data } of answer.result) seen.push(data);
  t.same(seen, ['{"wind": 3}', '[DONE]']);
  t.equal(service.asked.length, 1);
});

t.test('a stream that its provider ends without an empty line is whole', async (t) => {
  const { gateway } = await openWeather(t);
  const client = openClient(gateway, { pay: { network: 'chain-c' } });
  const answer = await client.call('/weather/watch', { city: 'Short' });
  if (!answer.ok) throw new Error(answer.message);
  const seen = [];
  for await (const { data } of answer.result) seen.push(data);
  t.same(seen, ['{"wind": 3}', '[DONE]']);
});

async function startHolding(t: Test) {
  const catalogue = picturesWith(t, '{ hold: true, settleUpfront: { above: "0.01" } }');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
  t.teardown(gateway.stop);
  return gateway;
}

t.test(
  'where a payment would settle first it is locked instead, and comes back where nothing is delivered',
  async (t) => {
    const gateway = await startHolding(t);
    const client = openClient(gateway, { retries: 0 });
    const before = await gateway.spendable('chain-c');
    t.match(await client.call(PICTURE, prompt('locked')), { ok: true, paid: { price: '0.06' } });
    t.equal(before - (await gateway.spendable('chain-c')), 60_000n);
    await gateway.fault({ upstream: 'predictions', fault: '500', count: 10 });
    t.match(await client.call(PICTURE, prompt('not to be had')), { ok: false });
    t.equal(before - (await gateway.spendable('chain-c')), 60_000n, 'given back');
  },
);

t.test(
  'what was locked for work that could not be stored is given back, and nobody is told that it buys it later',
  async (t) => {
    const gateway = await startHolding(t);
    const client = openClient(gateway, { retries: 1 });
    const before = await gateway.spendable('chain-c');
    const media = join(gateway.directory, 'media');
    renameSync(media, `${media}.away`);
    writeFileSync(media, 'a file where the directory was');
    const answer = await client.call(PICTURE, prompt('a full disk'));
    t.match(answer, {
      ok: false,
      reason: 'failed',
      code: 'refunded',
      message: /cannot be stored now; what was locked is given back/,
      isCounted: false,
    });
    t.notMatch(answer, { message: /the same payment|may have been charged/ });
    t.equal(await gateway.spendable('chain-c'), before);
    rmSync(media);
    renameSync(`${media}.away`, media);
    t.match(await client.call(PICTURE, prompt('a full disk')), { ok: true });
  },
);
