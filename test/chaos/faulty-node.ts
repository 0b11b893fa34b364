/** A chain's node as a gateway reaches it: answers get lost, transactions are refused, until nothing fails any more. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Dice } from './dice.ts';
import { loseConnection, sendJson } from './exchange.ts';

const sending = { none: 70, 'answer lost': 15, refused: 8, 'connection lost': 7 };
const reading = { none: 96, '500': 2, 'connection lost': 2 };

export interface FaultyNode {
  readonly url: string;
  /** How often each fault was given. */
  readonly given: ReadonlyMap<string, number>;
  /** From now on nothing goes wrong any more. */
  end(): void;
  stop(): void;
}

export async function openFaultyNode(rpcUrl: string, dice: Dice): Promise<FaultyNode> {
  const given = new Map<string, number>();
  let isOver = false;

  function draw(method: string): keyof typeof sending | keyof typeof reading {
    if (isOver) return 'none';
    const isSending = method.startsWith('eth_sendRawTransaction');
    const fault = isSending ? dice.pick(sending) : dice.pick(reading);
    const name = `${isSending ? 'sending' : 'reading'}: ${fault}`;
    if (fault !== 'none') given.set(name, (given.get(name) ?? 0) + 1);
    return fault;
  }

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body);
    const fault = draw(String(method));
    if (fault === 'connection lost') return loseConnection(response);
    if (fault === '500') return sendJson(response, 500, {});
    const refusal = { jsonrpc: '2.0', id, error: { code: -32_003, message: 'transaction rejected' } };
    if (fault === 'refused') return sendJson(response, 200, refusal);
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(rpcUrl, { method: 'POST', headers, body });
    const text = await answer.text();
    if (fault === 'answer lost') return loseConnection(response);
    response.writeHead(answer.status, headers).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    given,
    end() {
      isOver = true;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
