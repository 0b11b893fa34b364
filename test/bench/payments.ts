/** Payments of their own for as many calls. */
import { randomBytes } from 'node:crypto';
import { Challenge } from 'mppx';
import { evm } from 'mppx/client';
import { signRecoverable } from 'tiny-secp256k1';
import { type Hex, hashTypedData } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { TRANSFER_TYPES } from '../transfer-types.ts';
import { offer } from './subject.ts';

interface Accepted {
  readonly amount: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
}

/** What a 402 asks (x402 version 2, `PAYMENT-REQUIRED`). */
export interface PaymentRequired {
  readonly resource: object;
  readonly accepts: readonly Accepted[];
  readonly extensions?: object;
}

const hex = (bytes: number): string => `0x${randomBytes(bytes).toString('hex')}`;

/** Who comes back for more in every round. */
const customers: string[] = [];

/** The n-th customer, from 0. */
function customer(number: number): string {
  while (customers.length <= number) customers.push(hex(20));
  return customers[number] ?? '';
}

/**
 * `PAYMENT-SIGNATURE` headers: EIP-3009 authorizations of the first offer, of so many customers in turns, or each of somebody
 * who was never there before. Only the facilitator would look at a signature: nobody signs.
 */
export function makePayments(
  { resource, accepts, extensions }: PaymentRequired,
  count: number,
  payers: number | 'strangers',
): string[] {
  const [accepted] = accepts;
  if (!accepted) throw new Error('the challenge offers nothing');
  const now = Math.floor(Date.now() / 1000);
  const common = {
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: String(now - 600),
    validBefore: String(now + accepted.maxTimeoutSeconds),
  };
  return Array.from({ length: count }, (_, index) => {
    const from = payers === 'strangers' ? hex(20) : customer(index % payers);
    const payload = { signature: hex(65), authorization: { ...common, from, nonce: hex(32) } };
    const payment = { x402Version: 2, payload, resource, accepted, ...(extensions && { extensions }) };
    return Buffer.from(JSON.stringify(payment)).toString('base64');
  });
}

/** The same, signed by these payers in turns: for who looks. */
export function signPayments(
  { resource, accepts, extensions }: PaymentRequired,
  count: number,
  wallets: readonly string[],
): string[] {
  const [accepted] = accepts;
  if (!accepted) throw new Error('the challenge offers nothing');
  const now = Math.floor(Date.now() / 1000);
  const payers = wallets.map((key) => ({
    from: privateKeyToAccount(key as Hex).address,
    secret: Buffer.from(key.slice(2), 'hex'),
  }));
  const chainId = Number(offer.network.replace('eip155:', ''));
  const domain = { ...offer.domain, chainId, verifyingContract: offer.asset } as const;
  return Array.from({ length: count }, (_, index) => {
    const { from, secret } = payers[index % payers.length] as (typeof payers)[number];
    const message = {
      from,
      to: accepted.payTo as Hex,
      value: BigInt(accepted.amount),
      validAfter: BigInt(now - 600),
      validBefore: BigInt(now + accepted.maxTimeoutSeconds),
      nonce: hex(32) as Hex,
    };
    const typed = { domain, types: TRANSFER_TYPES, primaryType: 'TransferWithAuthorization', message } as const;
    const digest = Buffer.from(hashTypedData(typed).slice(2), 'hex');
    const { signature, recoveryId } = signRecoverable(digest, secret);
    const authorization = Object.fromEntries(Object.entries(message).map(([name, value]) => [name, String(value)]));
    const payload = {
      signature: `0x${Buffer.from(signature).toString('hex')}${(27 + recoveryId).toString(16)}`,
      authorization,
    };
    const payment = { x402Version: 2, payload, resource, accepted, ...(extensions && { extensions }) };
    return Buffer.from(JSON.stringify(payment)).toString('base64');
  });
}

/** `Authorization` headers that answer the `evm` challenge of a `WWW-Authenticate`. Signed: mppx recovers who did. */
export async function makeCredentials(wwwAuthenticate: string, count: number): Promise<string[]> {
  const challenge = Challenge.deserializeList(wwwAuthenticate).find(({ method }) => method === 'evm');
  if (!challenge) throw new Error('no challenge of the method evm');
  const credentials: string[] = [];
  for (let made = 0; made < count; made += 1) {
    const account = privateKeyToAccount(generatePrivateKey());
    const [{ createCredential }] = evm({ account, authorization: offer.domain, decimals: offer.decimals });
    credentials.push(await createCredential({ challenge: challenge as never, context: {} }));
  }
  return credentials;
}
