import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const settings = (name: string) => readFileSync(join('catalogue', `${name}.yaml`), 'utf8');

/** The file of something about a city. */
export const endpoint = (name: string, price: string) => `summary: A ${name} of the weather
path: /weather/${name}
networks: [chain-c]
price: { rule: fixed, amount: "${price}" }
mpp: { operationId: weather_${name}, tag: AI Services }
request: { required: [city], properties: { city: { type: string, maxLength: 80, format: path-segment } } }
result: { required: [text], properties: { text: { type: string } }, examples: [{ text: sunny }] }
example: { city: Lisbon }
upstream:
  via: weather
  path: /v1/${name}/{city}
  status: { 422: invalid-input }
  cost: usage.cost_usd
`;

/** A report for 0.05 and one for less than it costs, as a directory for `t.testdir`; `service` goes into service.yaml. */
export const shopFiles = (provider: string, service: string) => ({
  'service.yaml': `${settings('service')}\n${service}`,
  'networks.yaml': settings('networks'),
  'upstreams.yaml': `weather:
  adapter: http
  baseUrl: ${provider}
  keys: { key: WEATHER_API_KEY }
  settings: { authorize: { bearer: key } }
`,
  endpoints: { weather: { 'report.yaml': endpoint('report', '0.05'), 'losing.yaml': endpoint('losing', '0.01') } },
});
