/** Unmodified payment clients, each with the sandbox's wallet. */
import './own-fetch.ts';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { openWallet, type X402Scheme } from '../src/rails/x402/payer.ts';
import type { Gateway as WholeGateway } from './gateway.ts';

/** Where a client pays, in whichever process that runs. */
export type Gateway = Pick<WholeGateway, 'url' | 'state'>;

export interface PaidCall {
  readonly url: string;
  readonly init: RequestInit;
}

/** A POST of JSON, or a GET without a body. */
export function request(gateway: Gateway, path: string, body?: unknown): PaidCall {
  const init: RequestInit =
    body === undefined
      ? { method: 'GET' }
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return { url: gateway.url + path, init };
}

const caip2 = ({ state }: Gateway, network: string): string => state.evm[network]?.caip2 ?? state.solana?.caip2 ?? '';

/** A fetch that pays: @x402/fetch, protocol version 2. */
export async function payingFetch(gateway: Gateway, network: string): Promise<typeof fetch> {
  return wrapFetchWithPayment(fetch, await openWallet(gateway.state, caip2(gateway, network)));
}

/** The same, for one call. */
export async function payV2(gateway: Gateway, network: string, { url, init }: PaidCall): Promise<Response> {
  return (await payingFetch(gateway, network))(url, init);
}

/** x402-fetch, protocol version 1. */
export async function payV1(gateway: Gateway, network: string, { url, init }: PaidCall): Promise<Response> {
  const fetchV1 = await openV1(gateway, network, fetch);
  return fetchV1(url, init);
}

/** A signed version 1 proof for a request, not sent yet; `ask` brings the challenge. */
export async function signProofV1(
  gateway: Gateway,
  network: string,
  call: PaidCall,
  ask: typeof fetch = fetch,
): Promise<Record<string, string>> {
  let payment: string | null = null;
  const unpaid: typeof fetch = async (input, init) => {
    payment = new Headers(input instanceof Request ? input.headers : init?.headers).get('x-payment');
    return payment === null ? ask(input, init) : new Response();
  };
  const fetchV1 = await openV1(gateway, network, unpaid);
  await fetchV1(call.url, call.init);
  if (payment === null) throw new Error('the client paid nothing');
  return { 'x-payment': payment };
}

async function openV1(gateway: Gateway, network: string, fetching: typeof fetch) {
  // A thousand modules that most tests do without.
  const { createSigner, wrapFetchWithPayment: wrapFetchV1 } = await import('x402-fetch');
  const { evm, solana } = gateway.state;
  const access = evm[network];
  const names: Record<string, string> = {
    'eip155:84532': 'base-sepolia',
    'eip155:137': 'polygon',
    'eip155:43114': 'avalanche',
  };
  const signer = access
    ? await createSigner(names[access.caip2] ?? access.caip2, access.privateKey)
    : await createSigner('solana-devnet', solana?.secretKey ?? '');
  const config = solana && !access ? { svmConfig: { rpcUrl: solana.rpcUrl } } : {};
  return wrapFetchV1(fetching, signer, 10_000_000n, undefined, config);
}

/** A signed version 2 proof for a request, not sent yet. */
export async function signProof(
  gateway: Gateway,
  network: string,
  call: PaidCall,
  scheme: X402Scheme = 'exact',
): Promise<Record<string, string>> {
  return signAnswer(gateway, network, await fetch(call.url, call.init), scheme);
}

/** The same for a 402 that came already. */
export async function signAnswer(
  gateway: Gateway,
  network: string,
  unpaid: Response,
  scheme: X402Scheme,
): Promise<Record<string, string>> {
  const client: x402HTTPClient = await openWallet(gateway.state, caip2(gateway, network), scheme);
  const challenge = client.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
  return client.encodePaymentSignatureHeader(await client.createPaymentPayload(challenge));
}

/** Pays by `upto` alone, with a permit where its wallet has not approved Permit2 and the challenge takes one. */
export function openUptoWallet(gateway: Gateway, network: string): x402HTTPClient {
  const { privateKey = '0x', rpcUrl = '' } = gateway.state.evm[network] ?? {};
  const scheme = new UptoEvmScheme(privateKeyToAccount(privateKey), { rpcUrl });
  const client = new x402Client((_version, accepts) => {
    const [chosen] = accepts.filter(({ scheme }) => scheme === 'upto');
    if (!chosen) throw new Error('upto is not offered');
    return chosen;
  });
  return new x402HTTPClient(client.setSpendControls(false).register('eip155:*', scheme));
}

/** A signed proof of the scheme `upto`. Only a gateway whose Tempo chain was started, too, has its contracts. */
export async function signUpto(gateway: Gateway, network: string, call: PaidCall): Promise<Record<string, string>> {
  const http = openUptoWallet(gateway, network);
  const unpaid = await fetch(call.url, call.init);
  const challenge = http.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
  return http.encodePaymentSignatureHeader(await http.createPaymentPayload(challenge));
}

/** The request with a proof. */
export const sendProof = ({ url, init }: PaidCall, proof: Record<string, string>): Promise<Response> =>
  fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), ...proof } });

/** The decoded receipt of an answer, of either version. */
export function receiptOf(answer: Response): {
  success: boolean;
  transaction: string;
  network: string;
  payer?: string;
} {
  const header = answer.headers.get('payment-response') ?? answer.headers.get('x-payment-response') ?? '';
  return JSON.parse(Buffer.from(header, 'base64').toString());
}
