import { request as httpRequest } from 'node:http';
import t from 'tap';
import { request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';

const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(gateway.stop);

const good = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse' });
const withBody = (body: string, type = 'application/json') => ({
  url: good.url,
  init: { method: 'POST', headers: { 'content-type': type }, body },
});

t.test('an unknown path is 404', async (t) => {
  const answer = await fetch(`${gateway.url}/image/no-such-thing`, { method: 'POST' });
  t.equal(answer.status, 404);
  t.match(await answer.json(), { error: { code: 'unknown_path', requestId: /.+/ } });
});

t.test('another method is 405 with Allow', async (t) => {
  for (const [method, path, allow] of [
    ['GET', '/image/family-e-2', 'POST'],
    ['PUT', '/image/family-e-2', 'POST'],
    ['POST', '/stock/arb', 'GET'],
    ['HEAD', '/stock/arb', 'GET'],
  ] as const) {
    const answer = await fetch(gateway.url + path, { method });
    t.equal(answer.status, 405, `${method} ${path}`);
    t.equal(answer.headers.get('allow'), allow);
  }
});

t.test('a body over 1 MB is 413, told and untold', async (t) => {
  const large = 'x'.repeat(1_048_577);
  t.equal((await fetch(good.url, { method: 'POST', body: large })).status, 413);
  const status = await new Promise((resolve, reject) => {
    const chunked = httpRequest(good.url, { method: 'POST', headers: { 'transfer-encoding': 'chunked' } }, (answer) => {
      resolve(answer.statusCode);
      answer.resume();
    }).on('error', reject);
    chunked.write(large);
    chunked.end();
  });
  t.equal(status, 413);
});

t.test('an endpoint takes as much as the longest context window of its models, and no more', async (t) => {
  const body = (bytes: number) => JSON.stringify({ prompt: 'fog '.repeat(bytes / 4) });
  const send = async (path: string, bytes: number) =>
    (await fetch(gateway.url + path, { ...good.init, body: body(bytes) })).status;
  t.equal(await send('/llm/vendor1-opus-5', 4_500_000), 402);
  t.equal(await send('/llm/vendor1-opus-5', 6_400_000), 413);
  t.equal(await send('/llm/vendor1-opus-4-6', 1_200_000), 413);
});

t.test('an indexer that probes without a body gets a 402 with the listed price', async (t) => {
  for (const path of ['/image/family-e-2', '/llm/vendor5-k3', '/tokens-api/resolve']) {
    const answer = await fetch(gateway.url + path, { method: 'POST' });
    t.equal(answer.status, 402, path);
  }
});

t.test('an agent learns of a bad request before it pays', async (t) => {
  const answer = await fetch(good.url, withBody('{"resolution":"8k","colour":"red"}').init);
  t.equal(answer.status, 402);
  t.match(await answer.json(), {
    invalidParams: [
      { path: '/prompt', message: 'is required' },
      { path: '/colour', expected: /prompt/ },
      { path: '/resolution', expected: /1k, 2k, 4k/ },
    ],
  });
});

const invalidParams = async (path: string, body: unknown) => {
  const answer = await fetch(gateway.url + path, { ...good.init, body: JSON.stringify(body) });
  return ((await answer.json()) as { invalidParams?: { path: string; message: string }[] }).invalidParams;
};

t.test('a body of a million faults is told one of them, a small one all', async (t) => {
  const few = await invalidParams('/llm/vendor5-k3', { messages: [0, 0, 0] });
  t.equal(few?.length, 3);
  const messages = Array.from({ length: 500_000 }, () => 0);
  t.equal((await invalidParams('/llm/vendor5-k3', { messages }))?.length, 1);
  const content = Array.from({ length: 20_000 }, () => ({ type: 'text' }));
  t.equal((await invalidParams('/llm/vendor5-k3', { messages: [{ role: 'user', content }] }))?.length, 1);
});

t.test('what has the wrong form is told in words', async (t) => {
  t.match(await invalidParams('/stock/signal', { ticker: 'two words' }), [
    { path: '/ticker', message: 'does not have the form that is asked for', expected: /AAPL/ },
  ]);
});

const faulty: [string, object, string][] = [
  ['/shop/search', { query: 'lantern', price_min: 50, price_max: 20 }, '/price_min'],
  ['/shop/lens', { image_url: 'https://example.com/photo.jpg', price_min: 50, price_max: 20 }, '/price_min'],
  ['/tokens-api/asset-ohlcv', { assetId: 'jupiter', from: 1_767_571_200, to: 1_767_000_000 }, '/from'],
  ['/tokens-api/asset-detail', { assetId: 'jupiter', ohlcvFrom: 2, ohlcvTo: 1 }, '/ohlcvFrom'],
  ['/shop/search', { query: 'lantern', country: 'zz' }, '/country'],
  ['/image/family-a-2-pro', { prompt: 'fog', aspect_ratio: '7:5' }, '/aspect_ratio'],
  ['/image/family-d-2-large', { prompt: 'fog', aspect_ratio: '3:4' }, '/aspect_ratio'],
  ['/image/family-e', { prompt: 'fog', aspect_ratio: '8:1' }, '/aspect_ratio'],
  ['/image/designer', { prompt: 'fog', aspect_ratio: '7:5' }, '/aspect_ratio'],
  ['/image-model/family-f-image', { prompt: 'fog', aspect_ratio: '21:9' }, '/aspect_ratio'],
  ['/video/short-generation', { prompt: 'fog', aspect_ratio: '3:2' }, '/aspect_ratio'],
  ['/audio/speech-to-text', { audio_file: 'https://example.com/speech.mp3', language: 'what people say' }, '/language'],
];
for (const [path, body, field] of faulty) {
  t.test(`what can only fail is told before payment: ${path} ${JSON.stringify(body)}`, async (t) => {
    t.match(await invalidParams(path, body), [{ path: field, message: /\w/ }]);
  });
}

const taken: [string, object][] = [
  ['/shop/search', { query: 'lantern', price_min: 20, price_max: 20, country: 'GB', limit: 10.4 }],
  ['/tokens-api/asset-ohlcv', { assetId: 'jupiter', from: 1_767_000_000.25, to: 1_767_571_200.5 }],
  ['/tokens-api/search', { q: 'usd', limit: 10.5 }],
  ['/audio/elevenlabs-music', { prompt: 'a waltz', music_length_ms: 12_345.6 }],
  ['/llm/vendor5-k3', { prompt: 'fog?', max_tokens: 100.5 }],
  ['/audio/speech-to-text', { audio_file: 'HTTPS://EXAMPLE.COM/speech.mp3', language: 'es-419' }],
  ['/audio/speech-to-text', { audio_file: 'https://Example.Com/speech.mp3', language: 'yue' }],
  ['/audio/speech-to-text', { audio_file: 'https://example.com/speech.mp3', language: 'auto' }],
  ['/tiktok/product', { url: 'https://WWW.TikTok.com/shop/pdp/lantern/1729587769570529799' }],
];
for (const [path, body] of taken) {
  t.test(`what its description allows is taken: ${path} ${JSON.stringify(body)}`, async (t) => {
    t.equal(await invalidParams(path, body), undefined);
  });
}

t.test('a host for local use stays refused in capitals', async (t) => {
  for (const host of ['NAS.LOCAL', 'printer.Lan', 'db.INTERNAL']) {
    t.match(await invalidParams('/audio/speech-to-text', { audio_file: `https://${host}/speech.mp3` }), [
      { path: '/audio_file' },
    ]);
  }
});

t.test('an asset id is no way around in the path of an upstream', async (t) => {
  for (const assetId of ['.', '..', '../admin', '%2e%2e', 'a/b', '\ud800']) {
    t.match(await invalidParams('/tokens-api/asset-profile', { assetId }), [{ path: '/assetId' }], assetId);
  }
  t.equal(await invalidParams('/tokens-api/asset-profile', { assetId: 'usd-coin' }), undefined);
});

t.test('paid and invalid is a 400 that charges nothing and names the field', async (t) => {
  const proof = await signProof(gateway, 'chain-c', good);
  const [earned, before] = [await gateway.earned('chain-c'), await gateway.calls()];
  for (const [body, code] of [
    ['{"resolution":"2k"}', 'invalid_request'],
    ['{"prompt":', 'invalid_json'],
    ['["a lighthouse"]', 'invalid_json'],
    ['', 'invalid_json'],
  ] as const) {
    const answer = await sendProof(withBody(body), proof);
    t.equal(answer.status, 400, body);
    t.match(await answer.json(), { error: { code } });
  }
  t.equal((await sendProof(withBody('prompt=a', 'application/x-www-form-urlencoded'), proof)).status, 415);
  t.same(await gateway.calls(), before);
  t.equal(await gateway.earned('chain-c'), earned);
  t.equal((await sendProof(good, proof)).status, 200, 'and the payment is still good for its request');
});

t.test('faults that were asked for are taken back by a count of 0', async (t) => {
  const clear = (body: object) =>
    fetch(`${gateway.url}/sandbox/faults`, { ...good.init, body: JSON.stringify({ count: 0, ...body }) });
  for (const body of [{ upstream: 'predictions' }, { upstream: 'predictions', fault: 'timeout' }]) {
    await gateway.fault({ upstream: 'predictions', fault: '500', count: 9 });
    await gateway.fault({ settlement: 'chain-c', fault: 'refuse', count: 9 });
    t.equal((await clear(body)).status, 200);
    t.equal((await clear({ settlement: 'chain-c' })).status, 200);
    const call = request(gateway, '/image/family-e-2', { prompt: `a lighthouse ${JSON.stringify(body)}` });
    t.equal((await sendProof(call, await signProof(gateway, 'chain-c', call))).status, 200);
  }
  t.equal((await clear({ upstream: 'nobody' })).status, 400);
  for (const body of ['0', '{"upstream":', '[]']) {
    const answer = await fetch(`${gateway.url}/sandbox/faults`, { ...good.init, body });
    t.equal(answer.status, 400, body);
  }
});

t.test('as many calls as anybody asks for can be made to fail, one fault after another', async (t) => {
  await gateway.fault({ upstream: 'predictions', fault: 'refuse', count: 1 });
  await gateway.fault({ upstream: 'predictions', fault: 'malformed', count: Number.MAX_SAFE_INTEGER });
  for (const code of ['content_refused', 'upstream_invalid_result', 'upstream_invalid_result']) {
    const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse that nobody paints' });
    const answer = await sendProof(call, await signProof(gateway, 'chain-c', call));
    t.match(await answer.json(), { error: { code } });
  }
  await gateway.fault({ upstream: 'predictions', fault: 'malformed', count: 0 });
  const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse that is painted' });
  t.equal((await sendProof(call, await signProof(gateway, 'chain-c', call))).status, 200);
});

t.test('a browser may pay from any origin', async (t) => {
  const preflight = await fetch(good.url, { method: 'OPTIONS' });
  t.equal(preflight.status, 204);
  t.match(preflight.headers.get('access-control-allow-headers'), /PAYMENT-SIGNATURE/);
  const answer = await fetch(good.url, good.init);
  t.equal(answer.headers.get('access-control-allow-origin'), '*');
  t.match(answer.headers.get('access-control-expose-headers'), /PAYMENT-REQUIRED/);
});

t.test('media has no way out of its directory and no listing', async (t) => {
  for (const name of ['', '..%2f..%2fpackage.json', '%2e%2e/turnpike.sqlite', 'turnpike.sqlite']) {
    t.equal((await fetch(`${gateway.url}/media/${name}`)).status, 404, name);
  }
});
