/** Calls with API keys on a real store, in front of doubles or of an upstream that a test makes. */

import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import OpenAI from 'openai';
import type { Test } from 'tap';
import { type NewKeyOrder, openApiKeys } from '../../../src/credits/api-keys.ts';
import { shipped } from '../../../src/gateway/shipped.ts';
import { soldModels } from '../../../src/http/api-keys/models.ts';
import { createApiKeyRouter } from '../../../src/http/api-keys/router.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import { usd } from '../../../src/money.ts';
import { sandboxSecret, startDoubles } from '../../../src/sandbox/doubles/index.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { openUpstreams } from '../../../src/upstream/bindings.ts';
import { usualLimits } from '../../limits/usual.ts';
import { loadSound } from '../../load-catalogue.ts';

const shippedFile = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../../catalogue/${name}.yaml`, import.meta.url)), 'utf8');

const upstreams = `
main:
  adapter: openai-chat
  baseUrl: https://main.example/v1
  keys: { key: MAIN_KEY }
  models:
    sage:
      id: vendor/sage-2026
      cost: { input: "2", output: "8" }
      contextWindow: 100000
      maxOutput: 8000
      defaultOutput: 1000
      tokenParam: max_completion_tokens
      supportsTemperature: false
    quick:
      id: vendor/quick
      cost: { input: "0.5", output: "1.5", long: { above: 100000, input: "1", output: "2" } }
      maxOutput: 4000
      defaultOutput: 500
      supportsImageUrl: false
      supportsJsonSchema: false
spare:
  adapter: openai-chat
  baseUrl: https://spare.example/v1
  keys: { key: SPARE_KEY }
  models:
    sage: { id: other/sage }
    quick: { id: other/quick }
`;

const request =
  '{ properties: { prompt: { type: string, description: Text }, max_tokens: { type: integer, minimum: 1, description: Bound } }, required: [prompt] }';
const result =
  '{ properties: { text: { type: string, description: Text } }, required: [text], examples: [{ text: Hello }] }';
const multiRequest = request
  .replace('properties: {', 'properties: { model: { type: string, enum: [sage, quick], description: Model },')
  .replace('[prompt]', '[model, prompt]');

const endpoints = (deadline: string) => ({
  'sage.yaml': `
summary: The sage
path: /llm/sage
price: { rule: usage-tokens, model: sage, markup: "0.10" }
deadline: ${deadline}
request: ${request}
result: ${result}
example: { prompt: hello }
upstream: [{ via: main, model: sage, result: usage }, { via: spare, model: sage, result: usage }]
`,
  'multi.yaml': `
summary: Any of them
path: /llm/multi
price: { rule: usage-tokens, by: model, markup: "0.50" }
deadline: ${deadline}
request: ${multiRequest}
result: ${result}
example: { model: quick, prompt: hello }
upstream: { via: main, result: usage }
`,
});

export interface GatewayOptions {
  /** Takes the place of the double of the upstream `main`. */
  readonly mainUrl?: string;
  readonly now?: () => number;
  /** Of every endpoint. Default: more than any call takes. */
  readonly deadline?: string;
  /** How long a call waits for another of its name, in milliseconds. */
  readonly waitMs?: number;
}

export async function openGateway(t: Test, options: GatewayOptions = {}) {
  const directory = t.testdir({
    catalogue: {
      'service.yaml': shippedFile('service'),
      'networks.yaml': shippedFile('networks'),
      'upstreams.yaml': upstreams,
      schemas: {},
      endpoints: { llm: endpoints(options.deadline ?? '60s') },
    },
  });
  const catalogue = loadSound(join(directory, 'catalogue'));
  const doubles = await startDoubles({ upstreams: [...catalogue.upstreams.values()] });
  t.teardown(() => doubles.close());
  const opened = openUpstreams({
    catalogue,
    ...shipped,
    secretOf: sandboxSecret,
    baseUrlOf: ({ name }) => (name === 'main' && options.mainUrl) || doubles.baseUrlOf(name),
    sandbox: true,
  });
  t.teardown(() => opened.close());
  const file = join(directory, 'turnpike.sqlite');
  const store = openSqliteStore(file);
  t.teardown(() => store.close());
  const now = options.now ?? Date.now;
  const apiKeys = openApiKeys({ store: store.credits, mode: 'sandbox', now });
  const lines: { level: string; details: object; message: string }[] = [];
  const write = (level: string) => (details: object, message: string) => void lines.push({ level, details, message });
  const stopping = new AbortController();
  const metrics = createMetrics();
  const { router } = createApiKeyRouter({
    limits: usualLimits(),
    routes: catalogue.routes,
    models: soldModels(catalogue, opened.bindings),
    apiKeys,
    store: store.credits,
    topUps: undefined,
    stopping: stopping.signal,
    owner: 'instance-1',
    creditsUrl: 'https://gateway.example/v1/credits',
    leaseMs: 30_000,
    waitMs: options.waitMs ?? 25_000,
    metrics,
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    now,
  });
  const server = express().use(router).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    origin,
    store,
    apiKeys,
    doubles,
    metrics,
    lines,
    stopping,
    /** A new key with that much on it. */
    async key(dollars: string, order: Partial<NewKeyOrder> = {}) {
      const { apiKey, id } = await apiKeys.create({ label: 'test', credit: usd(dollars), ...order });
      return { apiKey, id };
    },
    /** The official client, which tries once. */
    client: (apiKey: string) => new OpenAI({ baseURL: `${origin}/v1`, apiKey, maxRetries: 0 }),
    /** In millionths of a dollar. */
    async balance(apiKey: string): Promise<{ balance: bigint; held: bigint }> {
      const found = await apiKeys.find(apiKey);
      if (!found) throw new Error('the key should be there');
      return { balance: found.balance, held: found.held };
    },
    /** Resolves when nothing is held any more. */
    async settled(apiKey: string): Promise<bigint> {
      for (;;) {
        const found = await apiKeys.find(apiKey);
        if (found?.held === 0n) return found.balance;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}
