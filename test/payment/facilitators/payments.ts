/** Payments signed by the published clients, unmodified: @x402/core with @x402/evm and @x402/svm, and x402-fetch. */
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { x402Client } from '@x402/core/client';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { createSigner, wrapFetchWithPayment } from 'x402-fetch';
import type { Network } from '../../../src/catalogue/types.ts';
import { decodeBase58 } from '../../../src/on-chain/base58.ts';
import type { Chains } from '../../../src/sandbox/chains/index.ts';

export interface Payment {
  readonly payload: PaymentPayload;
  readonly requirements: object;
}

export interface Terms {
  readonly amount?: string;
  readonly maxTimeoutSeconds?: number;
}

const PRICE = '12345';
const TIMEOUT_SECONDS = 300;

const payToOf = (chains: Chains, { id }: Network): string => {
  const address = chains.payTo[id];
  if (!address) throw new Error(`${id} was not started`);
  return address;
};

function extraOf(chains: Chains, { family, sandbox }: Network): Record<string, unknown> {
  return family === 'solana'
    ? { feePayer: chains.wallets.solana.facilitator.address }
    : { name: sandbox.asset.name, version: sandbox.asset.version };
}

export function requirementsV2(chains: Chains, network: Network, terms: Terms = {}): PaymentRequirements {
  return {
    scheme: 'exact',
    network: network.sandbox.caip2 as PaymentRequirements['network'],
    amount: terms.amount ?? PRICE,
    asset: network.sandbox.asset.address,
    payTo: payToOf(chains, network),
    maxTimeoutSeconds: terms.maxTimeoutSeconds ?? TIMEOUT_SECONDS,
    extra: extraOf(chains, network),
  };
}

export async function signV2(chains: Chains, network: Network, terms: Terms = {}): Promise<Payment> {
  const requirements = requirementsV2(chains, network, terms);
  const client = new x402Client().setSpendControls(false);
  if (network.family === 'solana') {
    const { secretKey, rpcUrl } = chains.solana ?? { secretKey: '', rpcUrl: '' };
    const signer = await createKeyPairSignerFromBytes(decodeBase58(secretKey));
    client.register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
  } else {
    client.register('eip155:*', new ExactEvmScheme(privateKeyToAccount(chains.wallets.evm.payer.privateKey as Hex)));
  }
  const resource = { url: 'http://localhost/sold', description: 'sold', mimeType: 'application/json' };
  const payload = await client.createPaymentPayload({ x402Version: 2, resource, accepts: [requirements] });
  return { payload, requirements };
}

/** Version 1, through x402-fetch: it is shown a 402, and what it sends back is the payment. */
export async function signV1(chains: Chains, network: Network, terms: Terms = {}): Promise<Payment> {
  const { amount, ...rest } = requirementsV2(chains, network, terms);
  const name = network.sandbox.v1Name ?? '';
  const requirements = {
    ...rest,
    network: name,
    maxAmountRequired: amount,
    resource: 'http://localhost/sold',
    description: 'sold',
    mimeType: 'application/json',
  };
  let payment = '';
  const shop: typeof fetch = async (input, init) => {
    payment = new Headers(input instanceof Request ? input.headers : init?.headers).get('x-payment') ?? '';
    const challenge = JSON.stringify({ x402Version: 1, error: 'payment required', accepts: [requirements] });
    return payment ? new Response('{}') : new Response(challenge, { status: 402 });
  };
  const { payer } = network.family === 'solana' ? chains.wallets.solana : chains.wallets.evm;
  const key = 'secretKey' in payer ? payer.secretKey : payer.privateKey;
  const config = { svmConfig: { rpcUrl: chains.solana?.rpcUrl ?? '' } };
  const pay = wrapFetchWithPayment(shop, await createSigner(name, key), undefined, undefined, config);
  await pay('http://localhost/sold');
  return { payload: JSON.parse(Buffer.from(payment, 'base64').toString()), requirements };
}
