/** All upstream doubles behind one loopback server, each below its upstream's name. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Route, Upstream } from '../../catalogue/types.ts';
import {
  type Double,
  type DoubleAnswer,
  type DoubleKind,
  type DoubleRequest,
  type Fault,
  faults,
  jsonAnswer,
} from './double.ts';
import { finnhubDouble } from './finnhub.ts';
import { httpDouble } from './http.ts';
import { jupiterDataDouble } from './jupiter-data.ts';
import { limitlessDouble } from './limitless.ts';
import { mcpDouble } from './mcp.ts';
import { okxDexMarketDouble } from './okx-dex-market.ts';
import { openaiChatDouble } from './openai-chat.ts';
import { openaiMediaDouble } from './openai-media.ts';
import { replicatePredictionsDouble } from './replicate-predictions.ts';
import { responsesSearchDouble } from './responses-search.ts';
import { serpapiDouble } from './serpapi.ts';
import { socialfetchDouble } from './socialfetch.ts';
import { teeOpenaiDouble } from './tee-openai.ts';
import { tokensXyzDouble } from './tokens-xyz.ts';
import { answerWeb, WEB_MOUNT, webPath } from './web.ts';
import { xaiMediaDouble } from './xai-media.ts';
import { xstocksRegistryDouble } from './xstocks-registry.ts';

export { type Fault, sandboxSecret } from './double.ts';

const doubleKinds: readonly DoubleKind[] = [
  finnhubDouble,
  httpDouble,
  jupiterDataDouble,
  limitlessDouble,
  mcpDouble,
  okxDexMarketDouble,
  openaiChatDouble,
  openaiMediaDouble,
  replicatePredictionsDouble,
  responsesSearchDouble,
  serpapiDouble,
  socialfetchDouble,
  teeOpenaiDouble,
  tokensXyzDouble,
  xaiMediaDouble,
  xstocksRegistryDouble,
];

export interface Doubles {
  /** Takes the place of the upstream's own base URL. */
  baseUrlOf(upstream: string): string;
  readonly origin: string;
  /** Where the file that is at `url` on the web is read in the sandbox. */
  webUrl(url: URL): URL;
  /** How the upstream's calls can be made to fail. */
  faultsOf(upstream: string): readonly Fault[];
  /** The upstream's next `count` billed calls fail this way. Throws for an upstream that is not there. */
  fault(upstream: string, fault: Fault, count: number): void;
  /** Takes back the faults that have not come yet. */
  clearFaults(upstream: string): void;
  /** Billed calls since the start, by upstream; calls that failed by a fault count. */
  calls(): Record<string, number>;
  /** Stands in for these from now on, too. */
  serve(served: Served): void;
  close(): Promise<void>;
}

interface Mounted {
  /** What it was made from. */
  definition: string;
  double: Double;
  /** In their order, each with how many calls it still is for. */
  faults: { readonly fault: Fault; left: number }[];
  calls: number;
}

const MALFORMED: DoubleAnswer = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: '{"unfinished": [',
};

interface Served {
  readonly upstreams: readonly Upstream[];
  /** What the upstreams serve. */
  readonly routes?: readonly Pick<Route, 'upstreams' | 'result'>[];
}

export async function startDoubles(served: Served): Promise<Doubles> {
  const mounted = new Map<string, Mounted>();

  /** A double whose upstream is as it was keeps what it knows of calls under way. */
  function mountAll({ upstreams, routes = [] }: Served): void {
    for (const upstream of upstreams) {
      const uses = routes.flatMap(({ upstreams: options, result }) =>
        options.filter(({ via }) => via === upstream.name).map((use) => ({ options: use, result })),
      );
      const kind = kindOf(upstream);
      const definition = JSON.stringify(kind.followsUses ? [upstream, uses] : upstream);
      if (mounted.get(upstream.name)?.definition === definition) continue;
      mounted.set(upstream.name, { definition, double: kind.open(upstream, uses), faults: [], calls: 0 });
    }
  }
  mountAll(served);

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', origin);
    const [, name = '', rest = '/'] = /^\/([^/]+)(\/.*)?$/.exec(url.pathname) ?? [];
    if (name === WEB_MOUNT) return await send(response, await answerWeb(decodeURIComponent(rest)));
    const place = mounted.get(decodeURIComponent(name));
    if (place === undefined) return await send(response, jsonAnswer(404, { error: `no upstream ${name}` }));
    const request: DoubleRequest = {
      method: incoming.method ?? 'GET',
      target: incoming.url ?? '/',
      path: decodeURIComponent(rest),
      query: url.searchParams,
      headers: incoming.headers,
      body: await bodyOf(incoming),
      base: `${origin}/${name}`,
    };
    const answer = await answerOf(place, request);
    if (answer !== 'never') await send(response, answer);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const placeOf = (upstream: string): Mounted => {
    const place = mounted.get(upstream);
    if (place === undefined) throw new Error(`no upstream ${upstream}; there are ${[...mounted.keys()].join(', ')}`);
    return place;
  };
  return {
    origin,
    webUrl: (url) => new URL(webPath(url), origin),
    baseUrlOf(upstream) {
      placeOf(upstream);
      return `${origin}/${encodeURIComponent(upstream)}`;
    },
    faultsOf(upstream) {
      return mounted.get(upstream)?.double.forge ? faults : faults.filter((fault) => fault !== 'forge');
    },
    fault(upstream, fault, count) {
      placeOf(upstream).faults.push({ fault, left: count });
    },
    clearFaults(upstream) {
      placeOf(upstream).faults = [];
    },
    calls: () => Object.fromEntries([...mounted].map(([name, { calls }]) => [name, calls])),
    serve: mountAll,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function kindOf(upstream: Upstream): DoubleKind {
  const kind = doubleKinds.find(({ adapter }) => adapter === upstream.adapter);
  if (kind === undefined) throw new Error(`the adapter ${upstream.adapter} has no double for the sandbox`);
  return kind;
}

/** The fault of this call, used up by asking. */
function takeFault({ faults }: Mounted): Fault | undefined {
  const [next] = faults;
  if (!next) return undefined;
  next.left -= 1;
  if (next.left === 0) faults.shift();
  return next.fault;
}

async function answerOf(place: Mounted, request: DoubleRequest): Promise<DoubleAnswer | 'never'> {
  const { double } = place;
  const refusal = double.unauthorized?.(request);
  if (refusal) return refusal;
  if (!double.isBilled(request)) return await double.answer(request);
  place.calls += 1;
  const fault = takeFault(place);
  switch (fault) {
    case undefined:
      return await double.answer(request);
    case '500':
    case '429': {
      const status = fault === '500' ? 500 : 429;
      return jsonAnswer(status, double.errorBody(status));
    }
    case 'timeout':
      return 'never';
    case 'malformed':
      return MALFORMED;
    case 'refuse':
      return double.refuse(request);
    case 'forge':
      return (await double.forge?.(request)) ?? (await double.answer(request));
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function send(response: ServerResponse, { status, headers, body }: DoubleAnswer): Promise<void> {
  response.writeHead(status, headers);
  if (typeof body === 'string' || Buffer.isBuffer(body)) response.end(body);
  else await pipeline(Readable.from(body), response).catch(() => undefined); // the reader may leave early
}
