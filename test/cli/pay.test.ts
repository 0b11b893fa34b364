import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { generatePrivateKey } from 'viem/accounts';
import { startCuttingRelay } from '../client/cutting-relay.ts';
import { encoded, honest, USDC } from '../client/hostile-gateway.ts';
import { pouring } from '../client/pouring.ts';
import { catalogueOf } from '../few-endpoints.ts';
import { startGateway } from '../gateway.ts';
import { weatherFiles } from '../road/sold/weather-catalogue.ts';
import { KEY, startWeatherService } from '../road/sold/weather-service.ts';
import { startProgram } from '../started.ts';
import { serve } from '../upstream/http/weather.ts';
import { wordsFor } from '../words-for.ts';

async function pay(...words: readonly string[]) {
  const ran = startProgram(process.execPath, [...wordsFor('src/cli/pay.ts'), ...words], {});
  return { code: await ran.ended, said: ran.output() };
}

t.test(
  'npm run pay buys from a path that takes GET with the same words, and shows a stream that it bought',
  async (t) => {
    const service = await startWeatherService(t);
    const files = weatherFiles(service.url);
    const forecast = `method: GET\n${files.endpoints.weather['forecast.yaml']}`;
    const endpoints = { weather: { ...files.endpoints.weather, 'forecast.yaml': forecast } };
    const catalogue = join(t.testdir({ catalogue: { ...files, endpoints } }), 'catalogue');
    const gateway = await startGateway({ catalogue, environment: { WEATHER_API_KEY: KEY } });
    t.teardown(gateway.stop);
    const payHere = (...words: readonly string[]) => pay(...words, '--url', gateway.url);
    t.match(await payHere('/weather/forecast', '{"city":"Lisbon","days":3}'), {
      code: 0,
      said: /"temperature": 20\.5/,
    });
    t.equal(service.asked.at(-1)?.line, 'GET /v1/forecast/Lisbon?days=3&units=metric');
    t.match(await payHere('/weather/watch', '{"city":"Short Hills"}'), { code: 0, said: /^result +.*data: /m });
  },
);

t.test('npm run pay shows the result of a call that costs nothing', async (t) => {
  const service = await startWeatherService(t);
  const files = weatherFiles(service.url);
  const free = 'free: true\nprice: { rule: fixed, amount: "0" }';
  const given = ['forecast.yaml', 'watch.yaml'].map((name) => [
    name,
    files.endpoints.weather[name as keyof typeof files.endpoints.weather].replace(/price: .*/, free),
  ]);
  const endpoints = { weather: { ...files.endpoints.weather, ...Object.fromEntries(given) } };
  const catalogue = join(t.testdir({ catalogue: { ...files, endpoints } }), 'catalogue');
  const gateway = await startGateway({ catalogue, environment: { WEATHER_API_KEY: KEY } });
  t.teardown(gateway.stop);
  for (const [path, result] of [
    ['/weather/forecast', '"temperature": 20.5'],
    ['/weather/watch', 'data: '],
  ] as const) {
    const words = [path, '{"city":"Short Hills"}', '--url', gateway.url];
    const ran = startProgram(process.execPath, [...wordsFor('src/cli/pay.ts'), ...words], {});
    const said = { code: await ran.ended, said: ran.output() };
    t.match(said, { code: 0, said: /^quote +nothing, it costs 0 USD .*\nresult / });
    t.match(said, { said: result });
  }
});

t.test('the calls that npm run pay -- --help shows are paid as they stand there', async (t) => {
  const catalogue = catalogueOf(t, ['image/family-e-2', 'stock/arb']);
  const gateway = await startGateway({ catalogue });
  t.teardown(gateway.stop);
  const { said } = await pay('--help');
  const calls = [...said.matchAll(/^ {2}npm run pay -- (.*)$/gm)].map(([, words = '']) =>
    [...words.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted = word]) => quoted),
  );
  t.equal(calls.length, 2);
  for (const words of calls) {
    t.match(await pay(...words, '--url', gateway.url), { code: 0, said: /^receipt /m }, words.join(' '));
  }
});

t.test('where no price comes, npm run pay says that nothing was signed', async (t) => {
  const gateway = await startGateway({ catalogue: catalogueOf(t, ['image/family-e-2']) });
  t.teardown(gateway.stop);
  const sandbox = await (await fetch(`${gateway.url}/sandbox`)).text();
  const { origin } = await serve(t, (request, response) => {
    if (request.url === '/sandbox') response.end(sandbox);
    else if (request.url === '/half')
      response.writeHead(402, { 'content-length': 9 }).write('{', () => response.destroy());
    else response.destroy();
  });
  for (const path of ['/lost', '/half']) {
    const { code, said } = await pay(path, '{}', '--url', origin);
    t.equal(code, 1);
    t.match(said, /^no price came \(.+\): nothing was signed, and nothing paid; run it again$/m, path);
  }
});

t.test('what was lost, or is owed yet, npm run pay asks for with the same payment', async (t) => {
  const gateway = await startGateway({ catalogue: catalogueOf(t, ['image/family-e-2']) });
  t.teardown(gateway.stop);
  const relay = await startCuttingRelay(t, gateway.url);
  const kept = t.testdir({});
  const pay = async (prompt: string, network: string) => {
    const words = ['/image/family-e-2', JSON.stringify({ prompt }), '--network', network, '--url', relay.url];
    const ran = startProgram(process.execPath, [...wordsFor('src/cli/pay.ts'), ...words], { TMPDIR: kept });
    return { code: await ran.ended, said: ran.output() };
  };
  const sent = async (said: string) =>
    (await promisify(execFile)('sh', ['-c', /curl .*$/m.exec(said)?.[0] ?? 'echo no line'])).stdout;
  for (const network of ['chain-c', 'chain-a']) {
    const before = await gateway.spendable(network);
    relay.payments.length = 0;
    if (network === 'chain-c') relay.cuts = 1;
    // Settled first there: the work that fails is owed.
    else await gateway.fault({ upstream: 'predictions', fault: '500' });
    t.match(await pay('fog', network), { code: 0, said: /"image_url"/ }, network);
    t.equal(relay.payments.length, 2);
    t.equal(new Set(relay.payments).size, 1, 'the very same payment');
    t.equal(before - (await gateway.spendable(network)), 60_000n, 'charged once');
  }
  relay.cuts = Number.POSITIVE_INFINITY;
  const before = await gateway.spendable('chain-c');
  const lost = await pay("no answer, but 'none'", 'chain-c');
  t.match(lost, { code: 1, said: /no answer came.*0\.06 USD was signed.*may have been charged/ });
  t.equal(new Set(relay.payments).size, 2, 'and no other payment');
  relay.cuts = 0;
  t.match(await sent(lost.said), /"image_url"/, 'the line that was told last has what was paid for');
  t.notMatch(lost.said, String(relay.payments.at(-1)), 'and shows nobody what was signed');
  t.equal(new Set(relay.payments).size, 2);
  t.equal(before - (await gateway.spendable('chain-c')), 60_000n, 'charged once');

  const impatient = { status: 504, body: '504 Gateway Time-out' };
  relay.cuts = 0;
  relay.payments.length = 0;
  relay.instead.push(impatient);
  t.match(await pay('slow', 'chain-c'), { code: 0, said: /answered 504\): the same payment[\s\S]*"image_url"/ });
  t.equal(new Set(relay.payments).size, 1, 'a proxy that does not wait has lost an answer, too');
  relay.payments.length = 0;
  const code = 'payment_in_progress';
  const workedOn = { status: 409, body: { error: { code, message: 'in a moment' } } };
  relay.instead.push(impatient, ...Array.from({ length: 5 }, () => workedOn));
  t.match(await pay('slow work', 'chain-c'), { code: 0, said: /"image_url"/ });
  t.equal(relay.payments.length, 7, 'what is worked on is asked for as often as it takes');
  t.equal(new Set(relay.payments).size, 1);
  relay.instead.push(impatient, impatient, impatient, impatient);
  t.match(await pay('slower', 'chain-c'), {
    code: 1,
    said: /answered 504.*0\.06 USD was signed.*may have been charged/,
  });
  relay.payments.length = 0;
  const pending = { status: 409, body: { error: { code: 'settlement_pending', message: 'in a moment' } } };
  relay.instead.push(pending, pending, pending, pending);
  const open = await pay('slowest', 'chain-c');
  t.match(open, { code: 1, said: /answered 409: .*in a moment.*0\.06 USD was signed.*may have been charged/ });
  t.match(await sent(open.said), /"image_url"/);
  t.equal(new Set(relay.payments).size, 1, 'an answer that comes later is had the same way');
});

t.test('of no answer npm run pay reads more than any gateway gives', async (t) => {
  const most = 96 * 1024 * 1024;
  const chain = { rpcUrl: 'http://127.0.0.1:9', caip2: honest.network, chainId: 8453, asset: USDC, decimals: 6 };
  const wallet = { ...chain, ...honest.extra, symbol: 'USDC', privateKey: generatePrivateKey() };
  const sandbox = JSON.stringify({ mode: 'sandbox', evm: { 'chain-c': wallet }, payTo: {} });
  const challenge = { x402Version: 2, error: 'Payment required', resource: { url: 'x' }, accepts: [honest] };
  const required = { 'payment-required': encoded(challenge) };
  for (const endless of ['the wallet', 'a result that costs nothing', 'a result that was paid for']) {
    const { poured, pour } = pouring('x', 200, 'application/json', '"');
    let asked = 0;
    const server = createServer((request, response) => {
      const isPaid = request.headers['payment-signature'] !== undefined;
      const step =
        request.url === '/sandbox'
          ? 'the wallet'
          : isPaid
            ? 'a result that was paid for'
            : 'a result that costs nothing';
      if (step === endless) {
        asked += 1;
        // Who reads on has failed, and need not fill this machine.
        response.on('drain', () => poured.bytes > most && response.destroy());
        pour(response);
      } else if (step === 'the wallet') response.end(sandbox);
      else response.writeHead(402, required).end('{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => void server.close().closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ran = startProgram(process.execPath, [...wordsFor('src/cli/pay.ts'), '/x', '{}', '--url', url], {
      TMPDIR: t.testdir({}),
    });
    t.equal(await ran.ended, 1, endless);
    t.match(ran.output(), /the answer is longer than 64 MiB/, endless);
    t.ok(poured.bytes < most, `${endless}: ${poured.bytes} bytes`);
    t.equal(asked, 1, 'it would be as long again');
    if (endless === 'a result that was paid for')
      t.match(ran.output(), /0\.05 USD was signed, and may have been charged/);
  }
});
