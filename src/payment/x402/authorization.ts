/**
 * What a payment payload authorizes, whichever way it is encoded. The identity made here is what the store
 * claims, so one authorization is one payment in both protocol versions and however its JSON is written.
 * Sources: x402 specifications, exact scheme on EVM (EIP-3009), upto scheme (Permit2) and exact scheme on SVM.
 */
import { createHash } from 'node:crypto';
import { readSolanaPayment, type SolanaPayment } from '../chains/solana-transaction.ts';
import { eip3009Id } from '../identity.ts';
import { Refusal } from '../rail.ts';

export interface Eip3009Authorization {
  readonly kind: 'eip3009';
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: string;
  readonly signature: string;
}

export interface Permit2Authorization {
  readonly kind: 'permit2';
  readonly from: string;
  readonly token: string;
  readonly amount: bigint;
  readonly nonce: string;
  readonly deadline: bigint;
  readonly signature: string;
  /** The whole permit, as it was signed. */
  readonly permit: object;
}

/** A partially signed transaction, in base64. */
export interface SolanaAuthorization extends SolanaPayment {
  readonly kind: 'solana';
  readonly transaction: string;
}

export type Authorization = Eip3009Authorization | Permit2Authorization | SolanaAuthorization;

type Json = Readonly<Record<string, unknown>>;

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const WORD = /^0x[0-9a-fA-F]{64}$/;
const HEX = /^0x(?:[0-9a-fA-F]{2})+$/;
const UINT = /^[0-9]{1,78}$/;

const malformed = (field: string, expected: string) =>
  new Refusal('malformed-credential', `payload.${field} must be ${expected}`);

function object(value: unknown, field: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(field, 'an object');
  return value as Json;
}

function text(value: unknown, field: string, pattern: RegExp, expected: string): string {
  if (typeof value !== 'string' || !pattern.test(value)) throw malformed(field, expected);
  return value;
}

function uint(value: unknown, field: string): bigint {
  return BigInt(text(typeof value === 'number' ? String(value) : value, field, UINT, 'a whole number in a string'));
}

const readSignature = (payload: Json) => text(payload.signature, 'signature', HEX, 'hex');
const readAddress = (value: unknown, field: string) => text(value, field, ADDRESS, 'an address').toLowerCase();

function readEip3009(payload: Json): Eip3009Authorization {
  const authorization = object(payload.authorization, 'authorization');
  return {
    kind: 'eip3009',
    from: readAddress(authorization.from, 'authorization.from'),
    to: readAddress(authorization.to, 'authorization.to'),
    value: uint(authorization.value, 'authorization.value'),
    validAfter: uint(authorization.validAfter, 'authorization.validAfter'),
    validBefore: uint(authorization.validBefore, 'authorization.validBefore'),
    nonce: text(authorization.nonce, 'authorization.nonce', WORD, '32 bytes of hex').toLowerCase(),
    signature: readSignature(payload),
  };
}

function readPermit2(payload: Json): Permit2Authorization {
  const authorization = object(payload.permit2Authorization, 'permit2Authorization');
  const permitted = object(authorization.permitted, 'permit2Authorization.permitted');
  return {
    kind: 'permit2',
    from: readAddress(authorization.from, 'permit2Authorization.from'),
    token: readAddress(permitted.token, 'permit2Authorization.permitted.token'),
    amount: uint(permitted.amount, 'permit2Authorization.permitted.amount'),
    nonce: uint(authorization.nonce, 'permit2Authorization.nonce').toString(),
    deadline: uint(authorization.deadline, 'permit2Authorization.deadline'),
    signature: readSignature(payload),
    permit: authorization,
  };
}

function readSolana(payload: Json): SolanaAuthorization {
  const expected = 'a signed Solana transaction in base64 with one TransferChecked';
  const transaction = text(payload.transaction, 'transaction', /^[A-Za-z0-9+/]+={0,2}$/, expected);
  try {
    return { kind: 'solana', transaction, ...readSolanaPayment(transaction) };
  } catch {
    throw malformed('transaction', expected);
  }
}

const KINDS = ['authorization', 'permit2Authorization', 'transaction'];

/**
 * Reads the scheme's own part of a payload. Exactly one: what is identified here must be what is settled. Throws
 * Refusal `malformed-credential` naming the field.
 */
export function readAuthorization(payload: Json): Authorization {
  if (KINDS.filter((kind) => payload[kind] !== undefined).length > 1) {
    throw new Refusal('malformed-credential', `payload must carry one of ${KINDS.join(', ')}, not several`);
  }
  if (payload.authorization !== undefined) return readEip3009(payload);
  if (payload.permit2Authorization !== undefined) return readPermit2(payload);
  if (payload.transaction !== undefined) return readSolana(payload);
  throw new Refusal(
    'malformed-credential',
    'payload must carry an authorization (EIP-3009), a permit2Authorization or a transaction (Solana)',
  );
}

/** The same for the same authorization, different for any other. */
export function paymentId(authorization: Authorization, caip2: string, asset: string): string {
  switch (authorization.kind) {
    case 'eip3009':
      return eip3009Id(caip2, asset, authorization.from, authorization.nonce);
    case 'permit2':
      return `permit2:${caip2}:${authorization.from}:${authorization.nonce}`;
    case 'solana':
      return `solana:${caip2}:${authorization.messageHash}`;
  }
}

/** The scheme's part of a payload again, with nothing in it but what was read. */
export function payloadOf(authorization: Authorization): object {
  switch (authorization.kind) {
    case 'eip3009': {
      const { from, to, value, validAfter, validBefore, nonce, signature } = authorization;
      const [amount, after, before] = [value, validAfter, validBefore].map(String);
      return { signature, authorization: { from, to, value: amount, validAfter: after, validBefore: before, nonce } };
    }
    case 'permit2':
      return { signature: authorization.signature, permit2Authorization: authorization.permit };
    case 'solana':
      return { transaction: authorization.transaction };
  }
}

/**
 * Tells the payer's own proof from one that somebody put together from the chain, which shows authorizations and
 * signatures once they are settled. The challenge's id never gets there.
 */
export function fingerprintOf(authorization: Authorization, challengeId: string | undefined): string {
  const shown = authorization.kind === 'solana' ? authorization.transaction : authorization.signature.toLowerCase();
  return createHash('sha256')
    .update(`${challengeId ?? ''}|${shown}`)
    .digest('hex');
}
