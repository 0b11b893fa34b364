/** All that gateways talk to, with its faults: the chains' nodes, the facilitator and every provider. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Chains } from './chains.ts';
import { type Exchange, loseConnection, sendJson } from './exchange.ts';
import { openFacilitator } from './facilitator.ts';
import type { Faults } from './faults.ts';
import type { Moment, OnMoment } from './moments.ts';
import { openSettling, type Settling } from './settling.ts';
import type { Timeline } from './timeline.ts';
import { openUpstream, type Upstream } from './upstream.ts';

export interface World {
  readonly url: string;
  readonly settling: Settling;
  readonly upstream: Upstream;
  /** Where the gateway in this place finds a service, and a node by its name: so the world knows who asks. */
  addressFor(slot: number, service: 'node' | 'facilitator' | 'upstream', node?: string): string;
  /** Lets go of connections that nobody uses. */
  rest(): void;
  stop(): Promise<void>;
}

export interface WorldParts {
  readonly chains: Chains;
  readonly faults: Faults;
  readonly timeline: Timeline;
  readonly onMoment: OnMoment;
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export async function openWorld({ chains, faults, timeline, onMoment }: WorldParts): Promise<World> {
  const settling = openSettling({ faults, timeline, takeBack: chains.takeBack });
  const askFacilitator = openFacilitator({ settler: chains.settler, settling, faults, timeline });
  const upstream = openUpstream(faults, timeline.now);

  async function askNode(exchange: Exchange): Promise<void> {
    const { path, body, response, reach } = exchange;
    const node = path.slice(1);
    const payment = chains.sentBy(body);
    if (payment !== undefined) return send(exchange, node, payment);
    const fault = faults.asking();
    reach('chain asked', undefined);
    if (fault === 'slow') await delay(faults.dice.between(100, 600));
    if (fault === 'connection lost') return loseConnection(response);
    if (fault === '500') return sendJson(response, 500, {});
    const answer = await chains.askNode(node, body);
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  }

  /** What a gateway itself sends to a chain. */
  function send(exchange: Exchange, node: string, payment: string): Promise<void> {
    const { id } = JSON.parse(exchange.body);
    return settling.answer(exchange, {
      payment,
      refusal: { jsonrpc: '2.0', id, error: { code: -32_003, message: 'transaction rejected' } },
      failure: { jsonrpc: '2.0', id, error: { code: -32_603, message: 'internal error' } },
      async carryOut() {
        const text = await chains.askNode(node, exchange.body);
        const answer = JSON.parse(text);
        return { answer, outcome: answer.error === undefined ? 'sent' : String(answer.error.message) };
      },
    });
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await read(request);
    const [, slotName, service, path = ''] = /^\/(\d+)\/([a-z]+)(\/[^?]*)?/.exec(request.url ?? '') ?? [];
    const slot = Number(slotName);
    const exchange: Exchange = {
      path,
      body,
      base: `${url}/${slot}/${service}`,
      slot,
      response,
      note: (what, mark) => timeline.note(what, { mark, slot }),
      reach: (moment: Moment, mark) => onMoment(moment, slot, mark),
    };
    if (service === 'node') return askNode(exchange);
    if (service === 'facilitator') return askFacilitator(exchange);
    if (service === 'upstream') return upstream.answer(exchange);
    sendJson(response, 404, {});
  }

  const failures: unknown[] = [];
  const server = createServer((request, response) => {
    // A caller that was killed in the middle of its request is nobody's fault.
    answer(request, response).catch((error: unknown) => {
      if (!request.destroyed || request.complete) failures.push(error);
      response.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    settling,
    upstream,
    addressFor: (slot, service, node) => `${url}/${slot}/${service}${node === undefined ? '' : `/${node}`}`,
    rest: () => server.closeIdleConnections(),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      if (failures.length > 0) throw new AggregateError(failures, 'the world could not answer');
    },
  };
}
