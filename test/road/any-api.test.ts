import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openPayer } from '../../src/rails/mpp/payer.ts';
import { payV2, request } from '../clients.ts';
import { startGateway } from '../gateway.ts';
import { KEY, startWeatherService } from './weather-service.ts';

const settings = (name: string) => readFileSync(join('catalogue', `${name}.yaml`), 'utf8');

const endpoint = (name: string, rest: string) => `summary: ${name}
path: /weather/${name}
networks: [chain-a, chain-c]
price: { rule: fixed, amount: "0.01" }
mpp: { operationId: weather_${name}, tag: AI Services }
${rest}`;

const files = (baseUrl: string) => ({
  'service.yaml': settings('service'),
  'networks.yaml': settings('networks'),
  'upstreams.yaml': `weather:
  adapter: http
  baseUrl: ${baseUrl}
  keys: { key: WEATHER_API_KEY }
  settings: { authorize: { header: x-api-key, value: "{key}" }, headers: { x-version: "2" } }
`,
  endpoints: {
    weather: {
      'forecast.yaml': endpoint(
        'forecast',
        `request:
  required: [city]
  properties:
    city: { type: string, maxLength: 80, format: path-segment }
    days: { type: integer, minimum: 1, maximum: 7, default: 2 }
result:
  required: [temperature, days]
  properties:
    temperature: { type: number }
    wind: { type: number }
    days: { type: array, items: { type: object, required: [date, max], properties: { date: { type: string }, max: { type: number } } } }
  examples: [{ temperature: 1, days: [{ date: "2026-01-01", max: 2 }] }]
example: { city: Lisbon }
upstream:
  via: weather
  method: GET
  path: /v1/forecast/{city}
  query: { days: days, units: { value: metric } }
  result: "{temperature: current.temp_c, wind: current.wind, days: forecast.days[].{date: date, max: max_c}}"
  status: { 404: not-found }
  cost: usage.cost_usd
`,
      ),
      'alerts.yaml': endpoint(
        'alerts',
        `request:
  required: [text]
  properties:
    text: { type: string, minLength: 1, maxLength: 200 }
    language: { type: string, enum: [en, pt] }
    minutes: { type: integer, minimum: 1, maximum: 60, default: 10 }
    areas: { type: array, maxItems: 3, items: { type: string, maxLength: 40 } }
result: { required: [id], properties: { id: { type: string } }, examples: [{ id: a-1 }] }
example: { text: storm }
upstream:
  via: weather
  path: /v1/alerts
  headers: { x-trace: { value: turnpike } }
  body:
    message: { text: text, options: { lang: { from: language, values: { en: en-US } } } }
    seconds: { from: minutes, scale: 60 }
    areas: { from: areas, join: ";" }
    retries: 2
`,
      ),
      'map.yaml': endpoint(
        'map',
        `request: { required: [zoom], properties: { zoom: { type: integer, minimum: 1, maximum: 9 } } }
result:
  required: [image_url, type, bytes]
  properties: { image_url: { type: string }, type: { type: string }, bytes: { type: integer } }
  examples: [{ image_url: "https://shop.example/1.png", type: image/png, bytes: 10 }]
example: { zoom: 3 }
upstream: { via: weather, path: /v1/map, body: input, result: { file: image } }
`,
      ),
      'station.yaml': endpoint(
        'station',
        `method: GET
request: { properties: {} }
result: { required: [name], properties: { name: { type: string } }, examples: [{ name: Cais }] }
example: {}
upstream: { via: weather, method: GET, path: /v1/station, result: "station.{name: name}" }
`,
      ),
      'report.yaml': endpoint(
        'report',
        `request: { required: [year], properties: { year: { type: integer, minimum: 2000, maximum: 2100 } } }
result: { required: [pages, cover], properties: { pages: { type: integer }, cover: { type: string } }, examples: [{ pages: 1, cover: "https://shop.example/1.png" }] }
example: { year: 2026 }
upstream:
  via: weather
  path: /v1/reports
  body: input
  poll: { path: "/v1/reports/{job.id}", until: "state == 'done'", every: 1ms, result: report }
  download: [cover]
`,
      ),
    },
  },
});

const open = async (t: Test) => {
  const service = await startWeatherService(t);
  const catalogue = join(t.testdir({ catalogue: files(service.url) }), 'catalogue');
  const environment = { WEATHER_API_KEY: KEY };
  const gateway = await startGateway({ catalogue, environment, tempo: true });
  t.teardown(gateway.stop);
  const buy = async (network: string, path: string, body?: unknown) => {
    const answer = await payV2(gateway, network, request(gateway, path, body));
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { service, gateway, buy };
};

t.test('an API on this machine is sold from YAML alone, over x402 on two kinds of chain and over MPP', async (t) => {
  const { service, gateway, buy } = await open(t);

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

t.test('what the provider refuses is not charged, and its words do not reach the caller', async (t) => {
  const { service, gateway, buy } = await open(t);
  const before = await gateway.earned('chain-c');
  const unknown = await buy('chain-c', '/weather/forecast', { city: 'Atlantis' });
  t.match(unknown, { status: 400, body: { type: /not-found$/ } });
  t.notMatch(JSON.stringify(unknown.body), KEY);
  t.equal(await gateway.earned('chain-c'), before);

  for (const city of ['', '.', '..', '../alerts', 'a/b', '..\\alerts']) {
    const asked = service.asked.length;
    const answer = await fetch(`${gateway.url}/weather/forecast`, request(gateway, '', { city }).init);
    t.equal(answer.status, 402);
    t.match(await answer.text(), /"invalidParams":\[\{"path":"\/city"/, `${city} is named before anything is paid`);
    t.equal(service.asked.length, asked);
  }
});
