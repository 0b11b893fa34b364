/** The x402 facilitator API over HTTP, for tests of those who call it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Facilitator } from '../../../src/payment/facilitators/facilitator.ts';

export type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** An HTTP server on a free port; `url` has a path, as facilitators' addresses do. */
export async function serve(handle: Handle): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => handle(request, response, body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/platform/x402`, stop };
}

export const json = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** The x402 facilitator API over a facilitator in this process. */
export function front(facilitator: Facilitator): Handle {
  const answer = async (path: string, body: string): Promise<unknown> => {
    if (path === '/platform/x402/supported')
      return { kinds: await facilitator.supported(), extensions: [], signers: {} };
    const { paymentPayload, paymentRequirements } = JSON.parse(body);
    if (path === '/platform/x402/verify') {
      const verdict = await facilitator.verify(paymentPayload, paymentRequirements);
      return verdict.valid
        ? { isValid: true, payer: verdict.payer }
        : { isValid: false, invalidReason: verdict.reason };
    }
    const settlement = await facilitator.settle(paymentPayload, paymentRequirements);
    if (settlement.state === 'settled') return { success: true, ...settlement, amount: settlement.amount.toString() };
    const errorReason = 'spent' in settlement && settlement.spent ? 'duplicate_settlement' : settlement.reason;
    return { success: false, errorReason, transaction: '', network: paymentRequirements.network };
  };
  return (request, response, body) => {
    answer(request.url ?? '', body).then(
      (found) => json(response, 200, found),
      () => json(response, 500, {}),
    );
  };
}
