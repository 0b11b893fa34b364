/** All that gateways talk to, in this one process: the chain's node, the facilitator and every provider. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Chain, openChain } from './chain.ts';
import { type Exchange, loseConnection, sendJson } from './exchange.ts';
import { type Facilitator, openFacilitator } from './facilitator.ts';
import type { Faults } from './faults.ts';
import type { Moment, OnMoment } from './moments.ts';
import { answerRpc } from './node.ts';
import type { Timeline } from './timeline.ts';
import { openUpstream, type Upstream } from './upstream.ts';

export interface World {
  readonly url: string;
  readonly chain: Chain;
  readonly facilitator: Facilitator;
  readonly upstream: Upstream;
  /** Where the gateway in this place finds a service: so the world knows who asks. */
  addressFor(slot: number, service: 'node' | 'facilitator' | 'upstream'): string;
  /** Lets go of connections that nobody uses. */
  rest(): void;
  stop(): Promise<void>;
}

export interface WorldParts {
  readonly network: { readonly asset: string; readonly caip2: string; readonly v1: string };
  readonly faults: Faults;
  readonly timeline: Timeline;
  readonly onMoment: OnMoment;
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export async function openWorld({ network, faults, timeline, onMoment }: WorldParts): Promise<World> {
  const chain = openChain(network.asset.toLowerCase());
  const facilitator = openFacilitator({ chain, names: network, faults, timeline });
  const upstream = openUpstream(faults, timeline.now);

  async function askNode({ body, response, reach }: Exchange): Promise<void> {
    const { id, method, params } = JSON.parse(body);
    const fault = faults.asking();
    reach('chain asked', undefined);
    if (fault === 'slow') await delay(faults.dice.between(100, 600));
    if (fault === 'connection lost') return loseConnection(response);
    if (fault === '500') return sendJson(response, 500, {});
    sendJson(response, 200, { jsonrpc: '2.0', id, result: answerRpc(chain, method, params) });
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
    if (service === 'facilitator') return facilitator.answer(exchange);
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
    chain,
    facilitator,
    upstream,
    addressFor: (slot, service) => `${url}/${slot}/${service}`,
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
