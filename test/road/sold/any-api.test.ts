import { join } from 'node:path';
import t, { type Test } from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { canonicalJson } from '../../../src/canonical-json.ts';
import { openPayer } from '../../../src/rails/mpp/payer.ts';
import { drawPicture } from '../../../src/sandbox/files/png.ts';
import { payV2, receiptOf, request, sendProof, signProof } from '../../clients.ts';
import { deadlinesOf } from '../../deadlines.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../../gateway.ts';
import { stoppedClock } from '../../stopped-clock.ts';
import { serve } from '../../upstream/http/weather.ts';
import { weatherFiles } from './weather-catalogue.ts';
import { KEY, startWeatherService } from './weather-service.ts';

const CHAIN_C = { networks: ['chain-c'] };
const EVERY_KIND = { networks: ['chain-a', 'chain-c'], tempo: true, solanaNow: stoppedClock() };

const sell = async (
  t: Test,
  files: ReturnType<typeof weatherFiles>,
  key: string,
  options: Partial<GatewayOptions> = {},
) => {
  const catalogue = join(t.testdir({ catalogue: files }), 'catalogue');
  const environment = { WEATHER_API_KEY: key };
  const gateway = await startGateway({ catalogue, environment, ...CHAIN_C, ...options });
  t.teardown(gateway.stop);
  const buy = async (network: string, path: string, body?: unknown) => {
    const answer = await payV2(gateway, network, request(gateway, path, body));
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { gateway, buy };
};

const open = async (t: Test, files: Parameters<typeof weatherFiles>[1] = {}, options: Partial<GatewayOptions> = {}) => {
  const service = await startWeatherService(t);
  return { service, ...(await sell(t, weatherFiles(service.url, files), KEY, options)) };
};

t.test('an API on this machine is sold from YAML alone, over x402 on two kinds of chain and over MPP', async (t) => {
  const { service, gateway, buy } = await open(t, {}, EVERY_KIND);

  const forecast = await buy('chain-c', '/weather/forecast', { city: 'São Paulo', days: 3 });
  t.match(forecast, { status: 200, body: { temperature: 20.5, days: [{ max: 0 }, { max: 1 }, { max: 2 }] } });
  t.notOk('wind' in forecast.body, 'what the expression does not find is left out');
  const [first] = service.asked;
  t.equal(first?.line, 'GET /v1/forecast/S%C3%A3o%20Paulo?days=3&units=metric');
  t.match(first?.headers, { 'x-api-key': KEY, 'x-version': '2' });

  const alert = await buy('chain-a', '/weather/alerts', { text: 'storm', language: 'en', areas: ['north', 'sea'] });
  t.match(alert, { status: 200, body: { id: 'a-1' } });
  t.same(alert.body.heard, {
    message: { text: 'storm', options: { lang: 'en-US' } },
    seconds: 600,
    areas: 'north;sea',
    retries: 2,
  });
  t.equal(service.asked.at(-1)?.headers['x-trace'], 'turnpike');
  const plain = await buy('chain-c', '/weather/alerts', { text: 'rain' });
  t.same(plain.body.heard, { message: { text: 'rain' }, seconds: 600, retries: 2 }, 'what is left out is not sent');

  const map = await buy('chain-c', '/weather/map', { zoom: 3 });
  t.match(map, { status: 200, body: { type: 'image/png' } });
  t.equal((await fetch(String(map.body.image_url))).headers.get('content-type'), 'image/png');

  t.match(await buy('chain-c', '/weather/station'), { status: 200, body: { name: 'Cais & Co' } });

  const report = await buy('chain-c', '/weather/report', { year: 2026 });
  t.match(report, { status: 200, body: { pages: 3, cover: `${gateway.url}/media/` } });

  const { url, init } = request(gateway, '/mpp/weather/map', { zoom: 4 });
  const { authorization } = await openPayer(gateway.state, 'tempo').sign(await fetch(url, init));
  const paid = await fetch(url, { ...init, headers: { ...init.headers, authorization: `${authorization}` } });
  t.equal(paid.status, 200, await paid.clone().text());
});

t.test('a field that has the name of something every object inherits is like any other', async (t) => {
  const service = await startWeatherService(t);
  const files = weatherFiles(service.url);
  const alerts = files.endpoints.weather['alerts.yaml']
    .replace('    areas: { type', '    constructor: { type: string }\n    areas: { type')
    .replace('properties: { id: { type: string } }', 'properties: { id: { type: string }, valueOf: { type: number } }')
    .replace('    retries: 2', '    by: constructor');
  const { buy } = await sell(
    t,
    { ...files, endpoints: { weather: { ...files.endpoints.weather, 'alerts.yaml': alerts } } },
    KEY,
  );
  const without = await buy('chain-c', '/weather/alerts', { text: 'rain' });
  t.match(without, { status: 200, body: { id: 'a-1' } });
  t.same(without.body.heard, { message: { text: 'rain' }, seconds: 600 });
  const named = await buy('chain-c', '/weather/alerts', { text: 'rain', constructor: 'Ada' });
  t.same(named.body.heard, { message: { text: 'rain' }, seconds: 600, by: 'Ada' });
});

t.test('what the provider refuses is not charged, and its words do not reach the caller', async (t) => {
  const { service, gateway, buy } = await open(t);
  const before = await gateway.earned('chain-c');
  const unknown = await buy('chain-c', '/weather/forecast', { city: 'Atlantis' });
  t.match(unknown, { status: 400, body: { error: { code: 'not_found' } } });
  t.notMatch(JSON.stringify(unknown.body), KEY);
  t.equal(await gateway.earned('chain-c'), before);

  for (const city of ['', '.', '..', '../alerts', 'a/b', '..\\alerts', '\ud800']) {
    const asked = service.asked.length;
    const answer = await fetch(`${gateway.url}/weather/forecast`, request(gateway, '', { city }).init);
    t.equal(answer.status, 402);
    t.match(
      await answer.text(),
      /"invalidParams":\[\{"path":"\/city"/,
      `${JSON.stringify(city)} is named before anything is paid`,
    );
    t.equal(service.asked.length, asked);
  }
});

t.test('an answer that tells of a failure is not charged, although its status is 200 and it fits', async (t) => {
  const answers = [
    { id: 'a-1', error: { why: `${KEY} is used up` } },
    { id: 'a-1', error: {} },
  ];
  const { origin } = await serve(t, (_asked, response) => response.end(JSON.stringify(answers.shift())));
  const files = weatherFiles(origin);
  const alerts = `${files.endpoints.weather['alerts.yaml']}  failed: error\n`;
  const sold = { ...files, endpoints: { weather: { ...files.endpoints.weather, 'alerts.yaml': alerts } } };
  const { gateway, buy } = await sell(t, sold, KEY);
  const before = await gateway.earned('chain-c');
  const failed = await buy('chain-c', '/weather/alerts', { text: 'storm' });
  t.match(failed, { status: 500, body: { error: { code: 'upstream_failed' } } });
  t.notMatch(JSON.stringify(failed.body), /used up/);
  t.equal(await gateway.earned('chain-c'), before);
  t.match(await buy('chain-c', '/weather/alerts', { text: 'storm' }), { status: 200, body: { id: 'a-1' } });
});

t.test('a text in which the expression finds nothing is not charged, also where the result may be null', async (t) => {
  const answers = ['<html>Down for maintenance</html>', '{"id":null}', '{"id":"a-1"}'];
  const { origin } = await serve(t, (_asked, response) => {
    const answer = answers.shift() ?? '';
    response.writeHead(200, { 'content-type': answer.startsWith('<') ? 'text/html' : 'application/json' }).end(answer);
  });
  const files = weatherFiles(origin);
  const nullable = 'result: { type: [string, "null"], examples: [a-1] }';
  const alerts = `${files.endpoints.weather['alerts.yaml'].replace(/^result: .*$/m, nullable)}  result: id\n`;
  const sold = { ...files, endpoints: { weather: { ...files.endpoints.weather, 'alerts.yaml': alerts } } };
  const { gateway, buy } = await sell(t, sold, KEY);
  const before = await gateway.earned('chain-c');
  const failed = { status: 500, body: { error: { code: 'upstream_invalid_result' } } };
  t.match(await buy('chain-c', '/weather/alerts', { text: 'storm' }), failed);
  t.equal(await gateway.earned('chain-c'), before);
  t.same(await buy('chain-c', '/weather/alerts', { text: 'storm' }), { status: 200, body: null });
  t.same(await buy('chain-c', '/weather/alerts', { text: 'storm' }), { status: 200, body: 'a-1' });
});

for (const [what, answer] of Object.entries({
  'what nests without end in an answer is no fault of the gateway': `{"current":{"temp_c":1,"wind":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}},"forecast":{"days":[]}}`,
  'a number that is larger than numbers can be is not sold as none':
    '{"current":{"temp_c":1e400},"forecast":{"days":[]}}',
})) {
  t.test(`${what}, and not charged`, async (t) => {
    const { origin } = await serve(t, (_asked, response) => response.end(answer));
    const { gateway, buy } = await sell(t, weatherFiles(origin), KEY);
    const before = await gateway.earned('chain-c');
    t.match(await buy('chain-c', '/weather/forecast', { city: 'Lisbon' }), {
      status: 500,
      body: { error: { code: 'upstream_invalid_result' } },
    });
    t.equal(await gateway.earned('chain-c'), before);
  });
}

t.test('a job whose number is too long to be exact is not taken for another’s, and not charged', async (t) => {
  const asked: unknown[] = [];
  const { origin } = await serve(t, (request, response) => {
    if (request.method === 'POST') return response.end('{"job":{"id":1938207462174720001},"state":"running"}');
    asked.push(request.url);
    response.end(JSON.stringify({ state: 'done', report: { pages: 1, cover: `${origin}/of-another.png` } }));
  });
  const { gateway, buy } = await sell(t, weatherFiles(origin), KEY);
  const before = await gateway.earned('chain-c');
  t.match(await buy('chain-c', '/weather/report', { year: 2026 }), {
    status: 500,
    body: { error: { code: 'upstream_invalid_result' } },
  });
  t.same(asked, []);
  t.equal(await gateway.earned('chain-c'), before);
});

t.test(
  'numbers of more digits than a number keeps are asked for and sold digit for digit, where that is wanted',
  async (t) => {
    const holdings = `summary: Holdings
path: /weather/holdings
networks: [chain-c]
price: { rule: fixed, amount: "0.01" }
request: { properties: {} }
result:
  required: [held, lots]
  properties: { held: { type: string }, lots: { type: array, items: { type: string } }, at: { type: integer } }
  examples: [{ held: "1", lots: ["2"] }]
example: {}
upstream:
  via: weather
  path: /v1/holdings
  asText: [id, held, lots]
  poll: { path: "/v1/holdings/{id}", until: "state == 'done'", every: 1ms, result: "{held: held, lots: lots, at: at}" }
  example: { state: done, held: "590000000000000123", lots: [1, 2], at: 3 }
`;
    const asked: unknown[] = [];
    const { origin } = await serve(t, (request, response) => {
      asked.push(request.url);
      if (request.method === 'POST') return response.end('{"id":1938207462174720001,"state":"running"}');
      response.end(
        String.raw`{"state":"done","note":"\"held\": 7","held" : 590000000000000123 ,"lots":[ 9007199254740993,-2 ],"at":1796000000}`,
      );
    });
    const { endpoints, ...settings } = weatherFiles(origin);
    const files = { ...settings, endpoints: { weather: { ...endpoints.weather, 'holdings.yaml': holdings } } };
    const { buy } = await sell(t, files, KEY);
    t.same(await buy('chain-c', '/weather/holdings', {}), {
      status: 200,
      body: { held: '590000000000000123', lots: ['9007199254740993', '-2'], at: 1_796_000_000 },
    });
    t.same(asked, ['/v1/holdings', '/v1/holdings/1938207462174720001']);
  },
);

t.test('a key that the provider’s answer quotes is not sold with it, however it is written there', async (t) => {
  const key = 'ab/c+d==';
  const { origin } = await serve(t, (asked, response) => {
    const [, query] = asked.url?.split('?') ?? [];
    const basic = Buffer.from(`a:${key}`).toString('base64');
    const escaped = JSON.stringify(key).replaceAll('/', '\\/');
    response.end(`{"id": "a-1", "next": "/v1/alerts?page=2&${query}", "heard": "Basic ${basic}", "key": ${escaped}}`);
  });
  const files = weatherFiles(origin);
  const inQuery = files['upstreams.yaml'].replace('header: x-api-key', 'query: api_key');
  const { buy } = await sell(t, { ...files, 'upstreams.yaml': inQuery }, key);
  t.match(await buy('chain-c', '/weather/alerts', { text: 'storm' }), {
    status: 200,
    body: {
      id: 'a-1',
      next: '/v1/alerts?page=2&api_key=[secret]',
      heard: /^Basic \w{0,3}\[secret\][\w=]{0,3}$/,
      key: '[secret]',
    },
  });
});

t.test('an answer in which a short key stands as a word, or in a file, is sold as it came', async (t) => {
  const picture = await drawPicture({ seed: 'chunk', width: 64, height: 48, label: 'chunk', format: 'png' });
  const { origin } = await serve(t, (asked, response) => {
    if (asked.url === '/v1/map') return response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
    response.end('{"id": "IHDR is the first chunk"}');
  });
  const { buy } = await sell(t, weatherFiles(origin), 'IHDR');
  t.match(await buy('chain-c', '/weather/alerts', { text: 'chunks' }), { body: { id: 'IHDR is the first chunk' } });
  const { status, body } = await buy('chain-c', '/weather/map', { zoom: 3 });
  t.equal(status, 200, JSON.stringify(body));
  t.ok(Buffer.from(await (await fetch(String(body.image_url))).arrayBuffer()).equals(picture));
});

t.test('a picture that strangers keep for a provider is not read where they send us inside', async (t) => {
  const secret = await drawPicture({ seed: 'secret', width: 64, height: 48, label: 'secret', format: 'png' });
  const inner = await serve(t, (_asked, response) => response.end(secret));
  const strangers = await serve(t, (_asked, response) => {
    response.writeHead(302, { location: `${inner.origin}/secret.png` }).end();
  });
  const { origin } = await serve(t, (asked, response) => {
    const report = { pages: 1, cover: 'https://pictures.example.com/cover.png' };
    response.end(JSON.stringify(asked.method === 'POST' ? { job: { id: 'r1' } } : { state: 'done', report }));
  });
  const files = weatherFiles(origin);
  const another = `inner: { adapter: http, baseUrl: "${inner.origin}" }\n`;
  const readFrom = () => new URL(strangers.origin);
  const sold = { ...files, 'upstreams.yaml': files['upstreams.yaml'] + another };
  const { gateway, buy } = await sell(t, sold, KEY, { between: async () => ({ readFrom }) });
  const before = await gateway.earned('chain-c');
  t.match(await buy('chain-c', '/weather/report', { year: 2026 }), {
    status: 500,
    body: { error: { code: 'upstream_invalid_result' } },
  });
  t.equal(await gateway.earned('chain-c'), before);
  t.ok(strangers.calls() > 0);
  t.equal(inner.calls(), 0);
});

t.test('many things that have to differ keep nobody waiting, and two that are alike are named', async (t) => {
  const { service, gateway, buy } = await open(t);
  const points = Array.from({ length: 40_000 }, (_, at) => ({ at }));
  const call = request(gateway, '/weather/track', { points });
  const [unpaid, healthy] = await Promise.all([fetch(call.url, call.init), fetch(`${gateway.url}/healthz`)]);
  t.same([unpaid.status, healthy.status], [402, 200]);
  t.notMatch(await unpaid.text(), /invalidParams/);

  const before = await gateway.earned('chain-c');
  t.match(await buy('chain-c', '/weather/track', { points: [{ at: 1, by: 'sea' }, { at: 2 }, { by: 'sea', at: 1 }] }), {
    status: 400,
    body: {
      error: { code: 'invalid_request', details: [{ path: '/points', message: /items ## 0 and 2 are identical/ }] },
    },
  });
  t.equal(await gateway.earned('chain-c'), before);
  t.same(service.asked, []);
});

t.test('a stream is passed on as it comes, after it was paid for, and can be had again', async (t) => {
  const { service, gateway } = await open(t);
  const call = request(gateway, '/weather/watch', { city: 'Lisbon' });
  const unpaid = await (await fetch(call.url, call.init)).text();
  t.match(unpaid, /"paymentFlow":"upfront"/, 'what was passed on cannot be withheld');

  const before = await gateway.earned('chain-c');
  const proof = await signProof(gateway, 'chain-c', call);
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('content-type'), 'text/event-stream');
  t.equal(answer.headers.get('x-accel-buffering'), 'no', 'nginx keeps none of it back');
  t.ok(answer.headers.get('payment-response'));
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);

  const reader = (answer.body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader();
  t.equal((await reader.read()).value, 'data: {"wind": 3}\n\n', 'before the provider is done');
  service.goOn();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value;
  t.equal(rest, 'data: {"key": "[secret]"}\n\ndata: [DONE]\n\n', 'without the key that the provider quotes');

  const again = await sendProof(call, proof);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(await again.text(), `data: {"wind": 3}\n\n${rest}`);
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);
});

t.test('a caller who leaves a stream finds it whole, and one that breaks off is owed', async (t) => {
  const { service, gateway } = await open(t);
  const call = request(gateway, '/weather/watch', { city: 'Porto' });
  const proof = await signProof(gateway, 'chain-c', call);
  const leaving = new AbortController();
  const answer = await sendProof({ ...call, init: { ...call.init, signal: leaving.signal } }, proof);
  t.equal(answer.status, 200);
  leaving.abort();
  service.goOn();
  const again = await sendProof(call, proof);
  t.match(await again.text(), /^data: \{"wind": 3\}[\s\S]*\[DONE\]\n\n$/);

  const other = request(gateway, '/weather/watch', { city: 'Faro' });
  const paid = await signProof(gateway, 'chain-c', other);
  const broken = await sendProof(other, paid);
  service.breakOff();
  t.match(await broken.text(), /event: error\ndata: .*"code":"result_owed"/);
  const retried = sendProof(other, paid);
  while (service.goOn() === 0) await new Promise(setImmediate);
  t.match(await (await retried).text(), /\[DONE\]/, 'the same payment gets it without a new charge');
});

t.test('a caller who pays for a stream and never reads it holds up nothing, and has it worked for once', async (t) => {
  const { service, gateway } = await open(t);
  const call = request(gateway, '/weather/watch', { city: 'Long Island' });
  const proof = await signProof(gateway, 'chain-c', call);
  const unread = await sendProof(call, proof);
  t.equal(unread.status, 200);
  const again = await sendProof(call, proof);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal((await again.text()).length, 60 * 100_008 + 14);
  t.equal(service.asked.length, 1);
  await unread.body?.cancel();
});

const REFUNDS = 'refunds: { automatic: true, endpoint: true }';
const CUT = /\n\nevent: error\ndata: \{"error":\{"code":"answer_cut","message":"[^"]+"\}\}\n\n$/;

/** Asks for the whole of what an answer's receipt says was paid. */
async function askBack({ url, state }: Gateway, { transaction, network }: ReturnType<typeof receiptOf>) {
  const asked = {
    x402Version: 2,
    paymentReference: { txHash: transaction, network },
    amount: '10000',
    idempotencyKey: transaction,
  };
  const wallet = privateKeyToAccount(state.evm['chain-c']?.privateKey ?? '0x');
  const payerSignature = await wallet.signMessage({ message: canonicalJson(asked) });
  const body = JSON.stringify({ ...asked, payerSignature });
  return (await (await fetch(`${url}/v1/refunds`, { method: 'POST', body })).json()) as object;
}

t.test('a stream that its deadline cuts is sold as far as it was passed on, and not given back', async (t) => {
  const pass = deadlinesOf(t, 47_000);
  // No schema of a whole answer is asked of one that is cut.
  const watch = 'deadline: 47s\nresult: { type: string, pattern: DONE, examples: ["data: [DONE]"] }';
  const { service, gateway } = await open(t, { watch, service: REFUNDS });
  const before = await gateway.earned('chain-c');
  const call = request(gateway, '/weather/watch', { city: 'Endless' });
  const proof = await signProof(gateway, 'chain-c', call);
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200);
  let text = '';
  for await (const piece of answer.body ?? []) {
    text += Buffer.from(piece).toString();
    if (text.includes('"wind"')) pass();
  }
  t.match(text, /^data: \{"wind": 3\}\n\n/);
  t.match(text, CUT);
  t.match(text, /at its deadline/);
  t.match(await askBack(gateway, receiptOf(answer)), { status: 'denied', denialReason: /what was delivered/ });
  const again = await sendProof(call, proof);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(await again.text(), text);

  const other = request(gateway, '/weather/watch', { city: 'Endless Lake' });
  const paid = await signProof(gateway, 'chain-c', other);
  const leaving = new AbortController();
  const left = await sendProof({ ...other, init: { ...other.init, signal: leaving.signal } }, paid);
  for await (const piece of left.body ?? []) if (Buffer.from(piece).includes('"wind"')) break;
  leaving.abort();
  pass();
  t.match(await (await sendProof(other, paid)).text(), CUT, 'also to who left before');
  t.equal(service.asked.length, 2, 'the provider was asked once for each');
  t.equal((await gateway.earned('chain-c')) - before, 20_000n);
});

t.test('a stream that has brought no event by its deadline is owed, and given back to who asks', async (t) => {
  const watch = 'deadline: 1s\nresult: { type: string, examples: ["data: 1"] }';
  const { gateway } = await open(t, { watch, service: REFUNDS });
  const call = request(gateway, '/weather/watch', { city: 'Silent' });
  const answer = await sendProof(call, await signProof(gateway, 'chain-c', call));
  t.match(await answer.text(), /^(: nothing\n\n)*event: error\ndata: .*"code":"result_owed"/);
  t.match(await askBack(gateway, receiptOf(answer)), { status: /pending|executed/, amount: '10000' });
});

t.test('a stream that ends without an event is owed, and given back to who asks', async (t) => {
  const { gateway } = await open(t, { service: REFUNDS });
  const call = request(gateway, '/weather/watch', { city: 'Mute' });
  const answer = await sendProof(call, await signProof(gateway, 'chain-c', call));
  t.match(await answer.text(), /^(: nothing\n\n)*event: error\ndata: .*"code":"result_owed"/);
  t.match(await askBack(gateway, receiptOf(answer)), { status: /pending|executed/, amount: '10000' });
});

t.test('a stream that becomes longer than its result may be is sold as far as that goes', async (t) => {
  const watch = 'result: { type: string, maxLength: 250000, examples: ["data: 1"] }';
  const { service, gateway } = await open(t, { watch, service: REFUNDS });
  const call = request(gateway, '/weather/watch', { city: 'Long Island' });
  const proof = await signProof(gateway, 'chain-c', call);
  const answer = await sendProof(call, proof);
  const text = await answer.text();
  t.equal(text.replace(CUT, '\n\n').length, 2 * 100_008, 'whole events alone');
  t.match(text, /longer than the 250000 characters/);
  t.match(await askBack(gateway, receiptOf(answer)), { status: 'denied' });
  t.equal(await (await sendProof(call, proof)).text(), text);
  t.equal(service.asked.length, 1);
});
