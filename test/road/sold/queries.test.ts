/** What a query says is what a body says: the same is taken, refused and sent on. */
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { openClient } from '../../client/any-client.ts';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { callTool } from '../../mcp/tool-client.ts';
import { startProgram } from '../../started.ts';
import { serve } from '../../upstream/http/weather.ts';
import { wordsFor } from '../../words-for.ts';
import { weatherFiles } from './weather-catalogue.ts';
import { KEY } from './weather-service.ts';

const readings = `summary: readings
path: /weather/readings
method: GET
networks: [chain-c]
price: { rule: fixed, amount: "0.01" }
request:
  required: [days]
  properties:
    days: { type: integer, minimum: 1, maximum: 14 }
    station: { type: string, maxLength: 40 }
    hourly: { type: boolean }
    least: { type: integer, x-not-above: most }
    most: { type: integer }
    version: { enum: [1, 2] }
    height: { oneOf: [{ type: integer }, { type: string, enum: [ground] }] }
    note: { type: [string, "null"], maxLength: 40 }
    places: { type: array, items: { anyOf: [{ type: integer }, { const: here }] } }
  if: { required: [hourly], properties: { hourly: { const: true } } }
  then: { required: [station] }
  not: { required: [hourly, days], properties: { hourly: { const: true }, days: { const: 7 } } }
result: { required: [id], properties: { id: { type: string } }, examples: [{ id: r-1 }] }
example: { days: 2 }
upstream: { via: weather, path: /v1/readings, body: input }
`;

const asked: unknown[] = [];
const { origin } = await serve(t, async (asking, response) => {
  asked.push(JSON.parse(await text(asking)));
  response.end('{"id":"r-1"}');
});
const catalogue = { ...weatherFiles(origin), endpoints: { weather: { 'readings.yaml': readings } } };
const gateway = await startGateway({
  catalogue: join(t.testdir({ catalogue }), 'catalogue'),
  environment: { WEATHER_API_KEY: KEY },
  networks: ['chain-c'],
});
t.teardown(gateway.stop);

t.test('a query and a tool call that say the same are taken, refused and sent on alike', async (t) => {
  const path = (query: string) => `/weather/readings?${query}`;
  for (const [query, input] of [
    ['days=3', { days: 3 }],
    ['days=9&hourly=true&station=Cais', { days: 9, hourly: true, station: 'Cais' }],
    ['days=7&hourly=false', { days: 7, hourly: false }],
    ['days=3&least=1&most=2', { days: 3, least: 1, most: 2 }],
    ['days=3&version=2', { days: 3, version: 2 }],
    ['days=3&height=12', { days: 3, height: 12 }],
    ['days=3&height=ground', { days: 3, height: 'ground' }],
    ['days=3&places=1&places=here', { days: 3, places: [1, 'here'] }],
    ['days=3&places=here', { days: 3, places: ['here'] }],
  ] as const) {
    const paid = await payV2(gateway, 'chain-c', request(gateway, path(query)));
    t.strictSame({ status: paid.status, sent: asked.at(-1) }, { status: 200, sent: input }, query);
    const { structuredContent: quote } = await callTool(gateway, 'quote', {
      name: 'weather_readings',
      arguments: input,
    });
    t.match(quote, { isValid: true, price: '0.01' }, query);
  }
  const before = asked.length;
  for (const [query, input] of [
    ['days=9&hourly=true', { days: 9, hourly: true }],
    ['days=7&hourly=true&station=Cais', { days: 7, hourly: true, station: 'Cais' }],
    ['days=3&least=2&most=1', { days: 3, least: 2, most: 1 }],
    ['days=3&version=3', { days: 3, version: 3 }],
    ['days=15&station=Cais', { days: 15, station: 'Cais' }],
    ['days=3&height=roof', { days: 3, height: 'roof' }],
  ] as const) {
    const { url } = request(gateway, path(query));
    const answer = await fetch(url);
    t.equal(answer.status, 402, query);
    const { structuredContent: quote } = await callTool(gateway, 'quote', {
      name: 'weather_readings',
      arguments: input,
    });
    const { invalidParams } = (await answer.json()) as { invalidParams?: unknown };
    t.ok(invalidParams, `${query} is refused`);
    t.strictSame(invalidParams, quote?.invalidParams, query);
  }
  t.equal(asked.length, before);
});

t.test('what is null comes to the provider as null also where it went through a query', async (t) => {
  const input = { days: 2, note: null };
  const shop = openClient(gateway, { get: ['/weather/readings'], pay: { network: 'chain-c' } });
  t.match(await shop.call('/weather/readings', input), { ok: true });
  t.strictSame(asked.at(-1), input);
  const words = ['/weather/readings', JSON.stringify(input), '--url', gateway.url];
  const paid = startProgram(process.execPath, [...wordsFor('src/cli/pay.ts'), ...words], {});
  t.equal(await paid.ended, 0, paid.output());
  t.strictSame(asked.at(-1), input);
});
