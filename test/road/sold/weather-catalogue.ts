import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const settings = (name: string) => readFileSync(join('catalogue', `${name}.yaml`), 'utf8');

const endpoint = (name: string, rest: string) => `summary: ${name}
path: /weather/${name}
networks: [chain-a, chain-c]
price: { rule: fixed, amount: "0.01" }
mpp: { operationId: weather_${name}, tag: AI Services }
${rest}`;

const ANY_TEXT = 'result: { type: string, examples: ["data: 1"] }';

/**
 * A catalogue of endpoints of the weather service, as a directory for `t.testdir`. `watch` is what the endpoint that streams
 * says of its result, and `service` goes into service.yaml.
 */
export const weatherFiles = (baseUrl: string, { watch = ANY_TEXT, service = '' } = {}) => ({
  'service.yaml': `${settings('service')}\n${service}`,
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
      'track.yaml': endpoint(
        'track',
        `request: { required: [points], properties: { points: { type: array, uniqueItems: true, items: { type: object } } } }
result: { required: [id], properties: { id: { type: string } }, examples: [{ id: t-1 }] }
example: { points: [{ at: 1 }] }
upstream: { via: weather, path: /v1/tracks, body: input }
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
      'watch.yaml': endpoint(
        'watch',
        `request: { required: [city], properties: { city: { type: string, maxLength: 80 } } }
${watch}
example: { city: Lisbon }
upstream: { via: weather, path: /v1/watch, body: input, stream: sse }
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
