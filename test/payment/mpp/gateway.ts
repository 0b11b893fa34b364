import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import type { Route } from '../../../src/catalogue/types.ts';
import { Problem } from '../../../src/errors.ts';
import { claimPayment } from '../../../src/payment/claim.ts';
import { type Answer, type Quote, type RawRequest, Refusal } from '../../../src/payment/rail.ts';
import type { MppRail } from '../../../src/payment/rails/mpp.ts';
import { settlePayment } from '../../../src/payment/settle.ts';
import { openSqliteStore } from '../../../src/store/sqlite.ts';

/** Headers of a request that may repeat `Authorization`. */
export async function rawRequest(message: IncomingMessage): Promise<RawRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const { pathname, search } = new URL(message.url ?? '/', 'http://localhost');
  return {
    method: message.method ?? 'GET',
    path: pathname,
    query: search.slice(1),
    headers: { ...message.headers, authorization: message.headersDistinct.authorization },
    body: Buffer.concat(chunks),
  };
}

/** A small gateway: one rail, real claims and settlements, and an upstream that counts its calls. */
export async function startGateway(t: Test, rail: MppRail, routes: readonly Route[]) {
  const store = openSqliteStore(':memory:');
  const parts = { store, owner: 'test', now: Date.now };
  const seen = { upstreamCalls: 0, upstreamFails: false, settlesFirst: [] as boolean[] };

  const pay = async (quote: Quote): Promise<Answer> => {
    const proof = rail.read(quote.request);
    if (!proof) return rail.challenge(quote);
    const { method, path, query, body } = quote.request;
    const binding = createHash('sha256')
      .update([method, path, query, body.toString('hex')].join('\n'))
      .digest('hex');
    const claimed = await claimPayment(parts, rail, proof, quote, binding);
    if (claimed.kind === 'replay') {
      const { answer, receipt } = claimed;
      return {
        status: answer.status,
        headers: { ...receipt.headers, 'idempotency-replayed': 'true' },
        body: answer.body,
      };
    }
    const { claim, verified } = claimed.work;
    let receipt = claimed.work.receipt;
    if (verified) seen.settlesFirst.push(verified.settlesFirst);
    if (verified?.settlesFirst) receipt = await settlePayment(parts, rail, claim, verified, quote, quote.amount);
    seen.upstreamCalls += 1;
    if (seen.upstreamFails) {
      await store.giveUp(claim, receipt ? 'owed' : 'released', 'upstream_failed', Date.now());
      throw new Problem('upstream_failed');
    }
    const answer = { status: 200, contentType: 'application/json', body: '{"text":"paid"}' };
    await store.fulfil(claim, answer, { now: Date.now() });
    if (!receipt && verified) receipt = await settlePayment(parts, rail, claim, verified, quote, quote.amount);
    return { status: 200, headers: { 'content-type': answer.contentType, ...receipt?.headers }, body: answer.body };
  };

  const answerTo = async (message: IncomingMessage): Promise<Answer> => {
    const request = await rawRequest(message);
    const route = routes.find(({ path }) => path === request.path);
    if (!route) return { status: 404, headers: {}, body: '' };
    const quote = { route, amount: route.listing.price, request };
    try {
      return await pay(quote);
    } catch (error) {
      if (error instanceof Refusal) return rail.challenge(quote, error);
      if (error instanceof Problem)
        return { status: error.status, headers: {}, body: JSON.stringify({ code: error.code }) };
      throw error;
    }
  };

  const server = createServer((message, response) => {
    answerTo(message).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      (error: unknown) => response.writeHead(599).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await store.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, store };
}
