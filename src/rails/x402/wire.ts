/**
 * x402 on the wire: header names, payload shapes and their decoding.
 * Source: the x402 specifications, core version 2 and version 1, HTTP transport.
 */
import { Problem } from '../../errors.ts';
import { asJsonObject, isJsonObject, type JsonObject } from '../../json.ts';
import { isEvmAddress, sameAddress } from '../../on-chain/address.ts';
import { checkAmount } from '../../payment/authorizations/checks.ts';
import type { Approval } from '../../payment/authorizations/eip2612.ts';
import { NOBODY } from '../../payment/escrow/payment-info.ts';
import { Refusal } from '../../payment/refusal.ts';
import { infoIn } from './extension.ts';
import { readSponsored } from './gas-sponsoring.ts';
import { readPaymentIdentifier } from './payment-identifier.ts';

/**
 * Bounds the decoding of what strangers send. Challenges have 8 KB at most, clients echo them, and some write their JSON with
 * spaces. Node itself stops at 16 KB of headers.
 */
const PROOF_LIMIT_BYTES = 12_288;

export interface Requirements {
  scheme: string;
  network: string;
  amount: string;
  asset: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra: Readonly<Record<string, unknown>>;
}

export interface RequirementsV1 {
  scheme: string;
  network: string;
  maxAmountRequired: string;
  resource: string;
  description: string;
  mimeType: string;
  payTo: string;
  maxTimeoutSeconds: number;
  asset: string;
  extra: Readonly<Record<string, unknown>>;
}

/** The entry of `accepts` that a version 2 payment names. */
export interface Accepted {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  /** True for an offer that said to settle before the work. */
  readonly upfront: boolean;
  /** What an offer said of a hold: who drives the escrow, and until when (seconds since the epoch). */
  readonly hold: { readonly operator: string; readonly captureDeadline: number } | undefined;
}

interface Common {
  readonly payload: JsonObject;
  /** The id of the challenge that is paid, echoed by version 2 clients: nothing on a chain tells it. */
  readonly challengeId: string | undefined;
  /** What the client calls its purchase. */
  readonly identifier: string | undefined;
  /** By which the payer approves Permit2. */
  readonly approval: Approval | undefined;
}

/** A decoded payment payload: typed and bounded, but nothing in it is believed yet. */
export type PaymentPayload =
  | (Common & { readonly x402Version: 2; readonly accepted: Accepted })
  | (Common & { readonly x402Version: 1; readonly scheme: string; readonly network: string });

/** Of the scheme `auth-capture`: nobody takes a fee, and nothing is given back by the escrow once it was taken. */
function readHold(extra: unknown): NonNullable<Accepted['hold']> {
  const { captureAuthorizer, captureDeadline, refundDeadline, feeRecipient, minFeeBps, maxFeeBps } =
    asJsonObject(extra);
  const hasFee = minFeeBps !== 0 || maxFeeBps !== 0 || feeRecipient !== NOBODY;
  if (!isEvmAddress(String(captureAuthorizer)) || hasFee || refundDeadline !== captureDeadline) {
    throw malformed('accepted.extra must be as the challenge has it');
  }
  if (!Number.isSafeInteger(captureDeadline) || Number(captureDeadline) < 0 || Number(captureDeadline) > 2 ** 48) {
    throw malformed('accepted.extra.captureDeadline must be a time in seconds');
  }
  return { operator: String(captureAuthorizer), captureDeadline: Number(captureDeadline) };
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

const malformed = (reason: string) => new Refusal('malformed-credential', reason);

/** Longer than any name, address or amount. */
const LONGEST_TEXT = 128;

function text(from: JsonObject, field: string, of = ''): string {
  const value = from[field];
  if (typeof value === 'string' && value.length <= LONGEST_TEXT) return value;
  throw malformed(`${of}${field} must be a string of at most ${LONGEST_TEXT} characters`);
}

/** Name of the extension that carries the challenge's id. */
export const CHALLENGE_EXTENSION = 'challenge';

function readChallengeId(payment: JsonObject): string | undefined {
  const id = infoIn(payment, CHALLENGE_EXTENSION)?.id;
  return typeof id === 'string' && id.length <= LONGEST_TEXT ? id : undefined;
}

/** Base64 of a JSON object, as every x402 header has it. */
export const encodeHeader = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64');

function demandShort({ length }: string): void {
  if (length > PROOF_LIMIT_BYTES) throw malformed(`the payment is longer than ${PROOF_LIMIT_BYTES} bytes`);
}

/**
 * Decodes a payment in base64, as headers have it, of either version. Throws Refusal `malformed-credential`, and Problem
 * `several_credentials` for more than one.
 */
export function decodePayment(encoded: string): PaymentPayload {
  if (encoded.startsWith('{')) throw malformed('the payment must be base64 of its JSON, and is the JSON');
  // Node joins what stands in several lines.
  if (encoded.includes(',')) throw new Problem('several_credentials');
  demandShort(encoded);
  if (!BASE64.test(encoded)) throw malformed('the payment is not base64');
  let whole: unknown;
  try {
    whole = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'));
  } catch {
    throw malformed('the payment is not base64 of JSON');
  }
  return readPayment(whole);
}

/** A payment as a tool call has it: the object, or its base64. Throws what `decodePayment` throws. */
export function decodeToolPayment(given: unknown): PaymentPayload {
  if (typeof given === 'string') return decodePayment(given);
  demandShort(JSON.stringify(given));
  return readPayment(given);
}

function readPayment(whole: unknown): PaymentPayload {
  if (!isJsonObject(whole)) throw malformed('the payment is not a JSON object');
  const { x402Version, payload } = whole;
  if (x402Version !== 1 && x402Version !== 2) throw malformed('x402Version must be 1 or 2');
  if (!isJsonObject(payload)) throw malformed('payload must be an object');
  const common = {
    payload,
    challengeId: readChallengeId(whole),
    identifier: readPaymentIdentifier(whole),
    approval: readSponsored(whole),
  };
  if (x402Version === 1) {
    return { x402Version, scheme: text(whole, 'scheme'), network: text(whole, 'network'), ...common };
  }
  const { accepted } = whole;
  if (!isJsonObject(accepted)) throw malformed('accepted must be the entry of `accepts` that is paid');
  const read = (field: Exclude<keyof Accepted, 'upfront' | 'hold'>) => text(accepted, field, 'accepted.');
  return {
    x402Version,
    accepted: {
      scheme: read('scheme'),
      network: read('network'),
      amount: read('amount'),
      asset: read('asset'),
      payTo: read('payTo'),
      upfront: isJsonObject(accepted.extra) && accepted.extra.paymentFlow === 'upfront',
      hold: accepted.scheme === 'auth-capture' ? readHold(accepted.extra) : undefined,
    },
    ...common,
  };
}

/** The network as the payment's own version names it. */
export const networkName = (payment: PaymentPayload): string =>
  payment.x402Version === 1 ? payment.network : payment.accepted.network;

export const schemeOf = (payment: PaymentPayload): string =>
  payment.x402Version === 1 ? payment.scheme : payment.accepted.scheme;

/** Version 2 echoes the entry it pays: says which part of it is not on offer. Throws Refusal. */
export function checkAccepted(payment: PaymentPayload, offer: Requirements): void {
  if (payment.x402Version === 1) return;
  const { amount, asset, payTo } = payment.accepted;
  if (!/^[0-9]{1,78}$/.test(amount)) throw malformed('accepted.amount must be a whole number');
  checkAmount(BigInt(amount), BigInt(offer.amount));
  if (!sameAddress(asset, offer.asset)) {
    throw new Refusal('verification-failed', `the payment is in asset ${asset}, asked is ${offer.asset}`);
  }
  if (!sameAddress(payTo, offer.payTo)) {
    throw new Refusal('verification-failed', `the payment goes to ${payTo}, asked is ${offer.payTo}`);
  }
}
