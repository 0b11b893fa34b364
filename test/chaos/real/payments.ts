/** Payments for what a 402 asks, signed by the clients that are published for it. */
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { appendPaymentIdentifierToExtensions } from '@x402/extensions/payment-identifier';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { createSigner, wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch';
import { asJsonObject } from '../../../src/json.ts';
import { openPayer } from '../../../src/rails/mpp/payer.ts';
import type { SandboxState } from '../../../src/rails/paying-client.ts';
import { openWallet } from '../../../src/rails/x402/payer.ts';
import type { Chains as Started } from '../../../src/sandbox/chains/index.ts';
import type { Method, Proof, ProofOptions, Wallet } from '../chains.ts';
import { eip3009Name, tempoNameOfChallenge, x402Name } from '../names.ts';
import type { Answer } from '../send.ts';

type Signer = (unpaid: Answer, wallet: Wallet, options: ProofOptions) => Promise<Proof>;

/** How long the clients' transactions are good that tell no end in their payloads, in seconds. */
const SOLANA_LASTS = 60;
const TEMPO_LASTS = 25;

const nowInSeconds = (): number => Math.floor(Date.now() / 1000);
const inJson = (base64: string, encoding: BufferEncoding = 'base64') =>
  JSON.parse(Buffer.from(base64, encoding).toString());

/** The chains as a wallet's own sandbox: that is where the clients look. */
function stateOf({ evm, solana, tempo }: Started, { privateKey }: Wallet): SandboxState {
  const key = privateKey as Hex;
  const networks = Object.entries(evm).map(([id, { asset, ...access }]) => {
    const { address, symbol, decimals, name = '', version = '' } = asset;
    return [id, { ...access, asset: address, symbol, decimals, name, version, privateKey: key }] as const;
  });
  return {
    mode: 'sandbox',
    evm: Object.fromEntries(networks),
    ...(solana && { solana: { ...solana, secretKey: privateKey } }),
    ...(tempo && { tempo: { ...tempo, privateKey: key } }),
    payTo: {},
  };
}

function endOf(payload: unknown): number {
  const { authorization, permit2Authorization } = asJsonObject(payload);
  const { validBefore } = asJsonObject(authorization);
  const { deadline } = asJsonObject(permit2Authorization);
  return Number(validBefore ?? deadline ?? nowInSeconds() + SOLANA_LASTS);
}

async function signV2(client: x402HTTPClient, unpaid: Answer, { identifier }: ProofOptions): Promise<Proof> {
  const header = (name: string) => String(unpaid.headers[name.toLowerCase()] ?? '');
  const challenge = client.getPaymentRequiredResponse(header, JSON.parse(unpaid.text));
  if (identifier) appendPaymentIdentifierToExtensions(challenge.extensions ?? {}, identifier);
  const payment = await client.createPaymentPayload(challenge);
  const { network, asset } = payment.accepted;
  return {
    headers: client.encodePaymentSignatureHeader(payment),
    payment: x402Name(network, asset, payment.payload),
    validBefore: endOf(payment.payload),
  };
}

function uptoClient({ privateKey }: Wallet): x402HTTPClient {
  const client = new x402Client((_version, accepts) => {
    const chosen = accepts.find(({ scheme }) => scheme === 'upto');
    if (!chosen) throw new Error('upto is not offered');
    return chosen;
  });
  const scheme = new UptoEvmScheme(privateKeyToAccount(privateKey as Hex));
  return new x402HTTPClient(client.setSpendControls(false).register('eip155:*', scheme));
}

/** x402-fetch asks and pays in one go: it gets the answer that is there, and what it would send is kept. */
async function headerV1({ status, text }: Answer, v1Name: string, { privateKey }: Wallet): Promise<string> {
  let payment: string | null = null;
  const answering: typeof fetch = async (input, init) => {
    payment = new Headers(input instanceof Request ? input.headers : init?.headers).get('x-payment');
    if (payment !== null) return new Response();
    return new Response(text, { status, headers: { 'content-type': 'application/json' } });
  };
  const signer = await createSigner(v1Name, privateKey);
  await wrapFetchV1(answering, signer, 10n ** 12n)('https://gateway.example');
  if (payment === null) throw new Error('the client paid nothing');
  return payment;
}

/** What a challenge of MPP was answered with. */
async function credential(started: Started, unpaid: Answer, wallet: Wallet, network: string) {
  const { status, headers, text } = unpaid;
  const challenges = [headers['www-authenticate'] ?? []]
    .flat()
    .map((value): [string, string] => ['www-authenticate', value]);
  const paid = await openPayer(stateOf(started, wallet), network).sign(
    new Response(text, { status, headers: challenges }),
  );
  return { headers: paid, ...inJson(String(paid.authorization).replace(/^Payment /, ''), 'base64url') };
}

/** `v1Name`: what version 1 calls chain-c. Throws where the answer does not offer the method. */
export function openPayments(started: Started, v1Name: string) {
  const { evm, solana, tempo } = started;
  const chainC = evm['chain-c'];
  const chainE = evm['chain-e'];
  if (!chainC || !chainE || !solana || !tempo) throw new Error('not all chains were started');

  const exactOn =
    (caip2: string): Signer =>
    async (unpaid, wallet, options) =>
      signV2(await openWallet(stateOf(started, wallet), caip2), unpaid, options);

  const signers: Record<Method, Signer> = {
    exact: exactOn(chainC.caip2),
    'exact on chain-e': exactOn(chainE.caip2),
    'exact on Solana': exactOn(solana.caip2),
    upto: (unpaid, wallet, options) => signV2(uptoClient(wallet), unpaid, options),
    async 'exact of version 1'(unpaid, wallet) {
      const header = await headerV1(unpaid, v1Name, wallet);
      const { payload } = inJson(header);
      const payment = x402Name(chainC.caip2, chainC.asset.address, payload);
      return { headers: { 'x-payment': header }, payment, validBefore: endOf(payload) };
    },
    async mpp(unpaid, wallet) {
      const { headers, payload } = await credential(started, unpaid, wallet, 'chain-c');
      const payment = eip3009Name(chainC.caip2, chainC.asset.address, payload.from, payload.nonce);
      return { headers, payment, validBefore: Number(payload.validBefore) };
    },
    async tempo(unpaid, wallet) {
      const { headers, challenge } = await credential(started, unpaid, wallet, 'tempo');
      const payment = tempoNameOfChallenge(`eip155:${tempo.chainId}`, challenge.id);
      return { headers, payment, validBefore: nowInSeconds() + TEMPO_LASTS };
    },
  };
  return (unpaid: Answer, method: Method, wallet: Wallet, options: ProofOptions = {}): Promise<Proof> =>
    signers[method](unpaid, wallet, options);
}
