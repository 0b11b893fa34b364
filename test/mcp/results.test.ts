/** What a tool takes and answers, as clients read it: they drop what they do not, the one before they pay and the other after. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t, { type Test } from 'tap';
import { startGateway } from '../gateway.ts';
import { weatherFiles } from '../road/sold/weather-catalogue.ts';
import { KEY } from '../road/sold/weather-service.ts';
import { serve } from '../upstream/http/weather.ts';
import { callTool, HEADERS, payTool, rpc, signToolPayment, type ToolResult } from './tool-client.ts';

const tides = `summary: tides
path: /weather/tides
networks: [chain-c]
price: { rule: fixed, amount: "0.01" }
request: { required: [places], properties: { places: { type: integer } } }
result:
  type: [object, array]
  required: [height]
  properties: { height: { type: number } }
  items: { type: number }
  examples: [{ height: 2 }]
example: { places: 1 }
upstream: { via: weather, path: /v1/tides, body: input }
`;

/** A gateway that sells the tides alone, and how it lists them. */
async function sell(t: Test, file: string, ...answers: readonly string[]) {
  const left = [...answers];
  const { origin } = await serve(t, (_asked, response) => response.end(left.shift()));
  const catalogue = { ...weatherFiles(origin), endpoints: { weather: { 'tides.yaml': file } } };
  const gateway = await startGateway({
    catalogue: join(t.testdir({ catalogue }), 'catalogue'),
    environment: { WEATHER_API_KEY: KEY },
    networks: ['chain-c'],
  });
  t.teardown(gateway.stop);
  const { result } = await rpc(gateway, 'tools/list');
  const tools = result?.tools as { name: string; description: string; inputSchema: object; outputSchema: object }[];
  return { gateway, left, tool: tools.find(({ name }) => name === 'weather_tides') };
}

t.test('a tool whose answer is now an object and now a list answers each as it says', async (t) => {
  const { gateway, tool } = await sell(t, tides, '{"height":2}', '[2,3]');
  const fits = new Ajv2020({ strict: false }).compile(tool?.outputSchema ?? false);
  for (const [places, answer] of [
    [1, { height: 2 }],
    [2, { result: [2, 3] }],
  ] as const) {
    const { structuredContent } = await payTool(gateway, 'chain-c', 'weather_tides', { places });
    t.same(structuredContent, answer);
    t.ok(fits(structuredContent), JSON.stringify(fits.errors));
  }
  t.notOk(fits({ result: 'high' }));
  t.notOk(fits({ tide: 2 }));
});

t.test('a field whose name models’ APIs refuse is described and taken, and stands in no list of tools', async (t) => {
  const named = tides
    .replace('required: [places]', 'required: ["filter[port]", places]')
    .replace('properties: { places', 'properties: { "filter[port]": { type: string }, places')
    .replace('example: {', 'example: { "filter[port]": north,');
  const { gateway, tool } = await sell(t, named, '{"height":2}');
  t.match(tool?.inputSchema, { type: 'object', required: ['places'], properties: { places: { type: 'integer' } } });
  t.notOk(JSON.stringify(tool?.inputSchema).includes('filter['));
  const input = { 'filter[port]': 'north', places: 1 };
  t.ok(new Ajv2020({ strict: false }).compile(tool?.inputSchema ?? false)(input), 'it is not said to be wrong');
  const described = await callTool(gateway, 'describe_endpoint', { name: 'weather_tides' });
  t.match(described.structuredContent?.inputSchema, {
    required: ['filter[port]', 'places'],
    properties: { 'filter[port]': { type: 'string' } },
  });
  t.match((await callTool(gateway, 'weather_tides', { places: 1 })).structuredContent, {
    invalidParams: [{ path: '/filter[port]' }],
  });
  t.same((await payTool(gateway, 'chain-c', 'weather_tides', input)).structuredContent, { height: 2 });
});

t.test('what is listed in other words takes what the call takes', async (t) => {
  const field = '{ type: object, properties: { by: { const: name }, port: { type: string } }, required: [by, port] }';
  const other =
    '{ type: object, properties: { by: { const: place }, at: { type: [number, array], items: { type: number } } } }';
  const spelt = tides.replace(
    'places: { type: integer }',
    `places: { type: integer, enum: [1, 2], description: How many }, where: { oneOf: [${field}, ${other}] }`,
  );
  const { gateway, tool } = await sell(t, spelt);
  t.match(tool?.inputSchema, {
    properties: {
      places: { type: 'integer', description: 'How many. One of 1, 2' },
      where: {
        anyOf: [
          { properties: { by: { enum: ['name'] }, port: { type: 'string' } }, required: ['by', 'port'] },
          { properties: { at: { anyOf: [{ type: 'number' }, { type: 'array', items: { type: 'number' } }] } } },
        ],
      },
    },
  });
  const fits = new Ajv2020({ strict: false }).compile(tool?.inputSchema ?? false);
  const input = { places: 1, where: { by: 'place', at: [1, 2] } };
  t.ok(fits(input), JSON.stringify(fits.errors));
  t.notOk(fits({ places: 1, where: { by: 'hearsay' } }));
  t.notOk((await callTool(gateway, 'weather_tides', input)).structuredContent?.invalidParams);
  t.match((await callTool(gateway, 'weather_tides', { places: 3 })).structuredContent, {
    invalidParams: [{ path: '/places' }],
  });
});

t.test('what a tool says of itself is as long as models’ APIs take, with its price, and described whole', async (t) => {
  const long = `${'The height of the sea at a place. '.repeat(60)}It ends here.`;
  const { gateway, tool } = await sell(t, `description: ${long}\n${tides}`);
  const price = 'Price of a call: 0.01 USD, paid with x402.';
  t.equal(tool?.description.length, 1024);
  t.ok(tool?.description.startsWith('The height of the sea'));
  t.ok(tool?.description.endsWith(`…\n\n${price}`));
  const described = await callTool(gateway, 'describe_endpoint', { name: 'weather_tides' });
  t.equal(described.structuredContent?.description, `${long}\n\n${price}`);
});

t.test('an answer with its pictures is no longer than clients read of one', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const name = 'image_family-e-2';
  const input = { prompt: 'a lighthouse that takes much room' };
  const payment = await signToolPayment(gateway, 'chain-c', await callTool(gateway, name, input));
  const bought = await callTool(gateway, name, input, payment);
  const picture = join(gateway.directory, 'media', basename(String(bought.structuredContent?.image_url)));
  for (const [bytes, blocks] of [
    [700_000, ['text', 'image']],
    [800_000, ['text', 'resource_link']],
  ] as const) {
    truncateSync(picture, bytes);
    const again = await callTool(gateway, name, input, payment);
    t.same(
      again.content.map(({ type }) => type),
      blocks,
    );
    t.ok(JSON.stringify(again).length <= 1_000_000, `a picture of ${bytes} bytes`);
  }
});

t.test('of pictures those are shown that models read, and without one of them they are linked', async (t) => {
  const { gateway, left } = await sell(t, tides);
  const media = join(gateway.directory, 'media');
  mkdirSync(media, { recursive: true });
  const files = ['avif', 'webp'].map((extension) => `${'0'.repeat(32)}.${extension}`);
  for (const file of files) writeFileSync(join(media, file), 'a picture');
  for (const [charts, block] of [
    [files, ['image', 'image/webp']],
    [files.slice(0, 1), ['resource_link', 'image/avif']],
  ] as const) {
    left.push(JSON.stringify({ height: 2, charts: charts.map((file) => `${gateway.url}/media/${file}`) }));
    const { content } = await payTool(gateway, 'chain-c', 'weather_tides', { places: 3 });
    t.same(
      content.map(({ type, mimeType }) => [type, mimeType]),
      [['text', undefined], block],
    );
  }
});

t.test('a client of an earlier revision is answered in the kinds of content that it knows', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const kinds = (result?: ToolResult) => result?.content.map(({ type }) => type);
  for (const [name, input, kind] of [
    ['image_family-e-2', { prompt: 'a lighthouse of long ago' }, 'image'],
    ['audio_x-text-to-speech', { text: 'Fog', voice_id: 'Eve' }, 'resource_link'],
  ] as const) {
    const early = kind === 'resource_link' ? ['text'] : ['text', kind];
    const payment = await signToolPayment(gateway, 'chain-c', await callTool(gateway, name, input));
    const ask = async (revision: string, more: object = {}) => {
      const params = { name, arguments: input, _meta: { ...payment, ...more } };
      return (await rpc(gateway, 'tools/call', params, { headers: { 'mcp-protocol-version': revision } })).result;
    };
    const { structuredContent } = await callTool(gateway, name, input, payment);
    for (const more of [{}, { progressToken: 7 }]) {
      t.same(kinds(await ask('2025-11-25', more)), ['text', kind]);
      t.same(kinds(await ask('2025-06-18', more)), ['text', kind]);
      t.same(kinds(await ask('2025-03-26', more)), early);
      t.same(kinds(await ask('2024-11-05', more)), early);
    }
    t.same((await ask('2024-11-05'))?.structuredContent, structuredContent, 'which names its files');
    // Clients of before June 2025 say no revision.
    const answer = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: HEADERS,
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: input, _meta: payment },
      }),
    });
    t.same(kinds(((await answer.json()) as { result: ToolResult }).result), early);
  }
});

t.test('a model that reads text alone is shown nothing else where its client asks for that', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(gateway.stop);
  for (const [name, input] of [
    ['image_family-e-2', { prompt: 'a lighthouse that nobody sees' }],
    ['audio_x-text-to-speech', { text: 'Mist', voice_id: 'Eve' }],
  ] as const) {
    const payment = await signToolPayment(gateway, 'chain-c', await callTool(gateway, name, input));
    const { structuredContent } = await callTool(gateway, name, input, payment);
    for (const more of [{}, { progressToken: 7 }]) {
      const params = { name, arguments: input, _meta: { ...payment, ...more } };
      const { result } = await rpc(gateway, 'tools/call', params, { query: '?content=text' });
      t.same(result?.content, [{ type: 'text', text: JSON.stringify(structuredContent) }]);
      t.same(result?.structuredContent, structuredContent);
    }
  }
  const refused = await rpc(gateway, 'tools/list', {}, { query: '?content=pictures' });
  t.match(refused, { status: 400, error: { message: /content=pictures is not known here: take text/ } });
});
