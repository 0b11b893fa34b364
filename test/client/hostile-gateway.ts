/** A gateway that asks for what it should not get, and a client whose wallet counts what it signs. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type ClientOptions, createClient } from '../../src/client/index.ts';
import type { Anything } from './any-client.ts';

export const key = generatePrivateKey();
export const account = privateKeyToAccount(key);

export const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
export const known = {
  id: 'chain-c',
  network: 'eip155:8453',
  family: 'evm',
  address: USDC,
  decimals: 6,
  domain: { name: 'USD Coin', version: '2' },
} as const;
export const honest = {
  scheme: 'exact',
  network: 'eip155:8453',
  asset: USDC,
  amount: '50000',
  payTo: '0x1111111111111111111111111111111111111111',
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2' },
};

export const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

export interface Hostile {
  readonly url: string;
  /** The offers of its next challenges. */
  accepts: unknown[];
  /** What it does with a payment. */
  onPayment: (response: ServerResponse) => void;
  /** What it does with a call that was not paid, in place of a challenge. */
  onCall: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  readonly payments: string[];
  /** `GET /x?a=1`, of every request. */
  readonly asked: string[];
}

export async function startHostile(t: Test): Promise<Hostile> {
  const challenge = (response: ServerResponse) => {
    const required = { x402Version: 2, error: 'Payment required', resource: { url: 'x' }, accepts: gateway.accepts };
    response.writeHead(402, { 'payment-required': encoded(required), 'content-type': 'application/problem+json' });
    response.end(JSON.stringify({ detail: 'Payment required' }));
  };
  const server = createServer((request, response) => {
    const payment = request.headers['payment-signature'] ?? request.headers.authorization;
    gateway.asked.push(`${request.method} ${request.url}`);
    request.resume().once('end', () => {
      if (payment !== undefined) {
        gateway.payments.push(String(payment));
        gateway.onPayment(response);
      } else if (gateway.onCall) gateway.onCall(request, response);
      else challenge(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close().closeAllConnections());
  const gateway: Hostile = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepts: [honest],
    onPayment: challenge,
    onCall: undefined,
    payments: [],
    asked: [],
  };
  return gateway;
}

/** Its wallet counts what it is asked to sign. */
export function openClient({ url }: Hostile, options: Partial<ClientOptions> = {}) {
  const signed: unknown[] = [];
  const wallet = {
    address: account.address,
    signTypedData: (typed: Parameters<typeof account.signTypedData>[0]) => {
      signed.push(typed);
      return account.signTypedData(typed);
    },
  } as typeof account;
  const client = createClient<Anything>({
    url,
    assets: [known],
    retries: 1,
    ...options,
    pay: { evm: wallet, ...options.pay },
  });
  return { client, signed };
}
