/** An answer that nests more deeply than anybody can follow is the provider's fault, and is not charged. */
import { join } from 'node:path';
import t from 'tap';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { serve } from '../../upstream/http/weather.ts';
import { weatherFiles } from './weather-catalogue.ts';
import { KEY } from './weather-service.ts';

const DEEP = '['.repeat(50_000) + ']'.repeat(50_000);

let answer = '';
const { origin: url } = await serve(t, (incoming, response) => {
  incoming.resume();
  response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
});

const gateway = await startGateway({
  networks: ['chain-c'],
  upstreams: { chat: url, tokens: url, predictions: url },
});
t.teardown(gateway.stop);

const choices = `[{"index":0,"message":{"role":"assistant","content":${DEEP}},"finish_reason":"stop"}]`;
const cases: [path: string, input: object, answer: string][] = [
  [
    '/llm/vendor3-5.2',
    { prompt: 'Why?', tier: 'small' },
    `{"choices":${choices},"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
  ],
  ['/chain-c-main/tokens-api/search', { q: 'sol' }, `{"results":${DEEP}}`],
  ['/image/family-a-2-max', { prompt: 'fog' }, `{"id":"p","status":"succeeded","output":${DEEP}}`],
];

for (const [path, input, answered] of cases) {
  t.test(`${path} says that its provider is at fault`, async (t) => {
    answer = answered;
    const earned = await gateway.earned('chain-c');
    const sold = await payV2(gateway, 'chain-c', request(gateway, path, input));
    t.match(await sold.json(), { error: { code: 'upstream_invalid_result' } });
    t.equal(await gateway.earned('chain-c'), earned);
  });
}

t.test('an API that is sold from YAML, and says so itself that it failed, is at fault', async (t) => {
  const files = weatherFiles(url);
  const alerts = `${files.endpoints.weather['alerts.yaml']}  failed: error\n`;
  const weather = { ...files.endpoints.weather, 'alerts.yaml': alerts };
  const catalogue = join(t.testdir({ catalogue: { ...files, endpoints: { weather } } }), 'catalogue');
  const environment = { WEATHER_API_KEY: KEY };
  const itsGateway = await startGateway({ catalogue, environment, networks: ['chain-c'] });
  t.teardown(itsGateway.stop);
  answer = `{"error":true,"why":${DEEP}}`;
  const sold = await payV2(itsGateway, 'chain-c', request(itsGateway, '/weather/alerts', { text: 'storm' }));
  t.match(await sold.json(), { error: { code: 'upstream_invalid_result' } });
  t.equal(await itsGateway.earned('chain-c'), 0n);
});

t.test('a call with an API key says so as well, plain and streamed', async (t) => {
  answer = `{"choices":${choices}}`;
  const { apiKey } = gateway.state as { apiKey?: string };
  const headers = { authorization: `Bearer ${apiKey}` };
  const balance = async () =>
    ((await (await fetch(`${gateway.url}/v1/credits`, { headers })).json()) as { balance_usd: string }).balance_usd;
  const before = await balance();
  for (const stream of [false, true]) {
    const body = JSON.stringify({ model: 'vendor3-5.2', messages: [{ role: 'user', content: 'Why?' }], stream });
    const told = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
    t.match(await told.text(), /upstream_invalid_result/);
  }
  t.equal(await balance(), before);
});
