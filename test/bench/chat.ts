/** What a call with an API key adds to a chat completion. */
import { join } from 'node:path';
import { openApiKeys } from '../../src/credits/api-keys.ts';
import { usd } from '../../src/money.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Load, TimingJob } from './load.ts';
import { chatCall } from './subject.ts';

const WARM_UP = 300;
const PLAIN_CALLS = 1_000;
/** Each takes as long as the double's stream. */
const STREAMS = 60;

/** A key in the database of a gateway that runs. */
async function makeKey(data: string): Promise<string> {
  const store = openSqliteStore(join(data, 'turnpike.sqlite'));
  try {
    const apiKeys = openApiKeys({ store: store.credits, mode: 'live', now: Date.now });
    const { apiKey } = await apiKeys.create({ label: 'bench', credit: usd('1000') });
    return apiKey;
  } finally {
    await store.close();
  }
}

interface ChatTimes {
  /** Milliseconds until a whole answer is there. */
  readonly plain: { readonly gateway: number; readonly upstream: number };
  /** Milliseconds until a stream begins. */
  readonly firstByte: { readonly gateway: number; readonly upstream: number };
}

/** One caller, in turns through the gateway and to its upstream. */
export async function timeChat(
  load: Load,
  { gatewayUrl, data, doublesUrl }: { gatewayUrl: string; data: string; doublesUrl: string },
): Promise<ChatTimes> {
  const apiKey = await makeKey(data);
  const targets: TimingJob['targets'] = [
    { url: gatewayUrl + chatCall.path, headers: { authorization: `Bearer ${apiKey}` } },
    { url: doublesUrl + chatCall.upstreamPath, headers: {} },
  ];
  const timed = async (stream: boolean, times: number) => {
    const [gateway, upstream] = await load.time({ targets, body: chatCall.body(stream), times });
    if (!gateway || !upstream) throw new Error('both targets are timed');
    return { gateway, upstream };
  };
  await timed(false, WARM_UP);
  const plain = await timed(false, PLAIN_CALLS);
  const streams = await timed(true, STREAMS);
  return {
    plain: { gateway: plain.gateway.whole, upstream: plain.upstream.whole },
    firstByte: { gateway: streams.gateway.firstByte, upstream: streams.upstream.firstByte },
  };
}
