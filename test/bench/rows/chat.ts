/** Chat completions with an API key, beside the same through Portkey and straight from the upstream. */
import { join } from 'node:path';
import { openApiKeys } from '../../../src/credits/api-keys.ts';
import { usd } from '../../../src/money.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import type { Bench } from '../bench.ts';
import { type Comparison, loadRow } from '../row.ts';
import { chat } from '../subject.ts';

/** A key in the database of a gateway that runs. */
async function makeKey(data: string): Promise<string> {
  const store = openSqliteStore(join(data, 'turnpike.sqlite'));
  try {
    const apiKeys = openApiKeys({ store: store.credits, mode: 'live', now: Date.now });
    const { apiKey } = await apiKeys.create({ label: 'bench', credit: usd('100000') });
    return apiKey;
  } finally {
    await store.close();
  }
}

const besidePortkey =
  ({ times, addedMs }: { times?: number; addedMs?: number }) =>
  async (bench: Bench): Promise<Comparison> => {
    const data = join(bench.folder(), 'data');
    const server = await bench.gateway({ data });
    const portkey = await bench.peer('portkey');
    const throughPortkey = {
      authorization: 'Bearer bench-key',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': bench.doublesUrl,
    };
    const upstream = { url: bench.doublesUrl, processorTime: () => undefined };
    return {
      ours: { server, headers: { authorization: `Bearer ${await makeKey(data)}` } },
      beside: [
        {
          who: '@portkey-ai/gateway',
          target: portkey && { server: portkey, headers: throughPortkey },
          ...(times !== undefined && { goal: { times } }),
        },
        // What every gateway has to do, and nothing besides.
        { who: 'node:http, passes it on', target: { server: await bench.bare('node', server.url) }, isNoGateway: true },
        {
          who: 'the upstream itself',
          target: { server: upstream, path: '/chat/completions' },
          isNoGateway: true,
          ...(addedMs !== undefined && { goal: { addedMs } }),
        },
      ],
    };
  };

const plain = { path: chat.path, body: chat.body(false), expects: 200 };

/** As many as one key may have under way. */
export const manyChats = loadRow('chat', { ...plain, callers: 32 }, besidePortkey({ times: 3 }));

export const oneChat = loadRow('chat-alone', { ...plain, callers: 1 }, besidePortkey({ addedMs: 0.7 }));

/** Times are those of the first byte. */
export const chatStream = loadRow(
  'chat-stream',
  { ...plain, body: chat.body(true), callers: 1, until: 'first byte' },
  besidePortkey({ addedMs: 2 }),
);
