/**
 * x402 on the wire: header names, payload shapes and their decoding.
 * Source: the x402 specifications, core version 2 and version 1, HTTP transport.
 */
import { Refusal } from '../rail.ts';

/** Bounds the decoding of what strangers send. Node itself stops at 16 KB of headers. */
export const PROOF_LIMIT_BYTES = 8192;

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

type Json = Readonly<Record<string, unknown>>;

/** A decoded payment payload. Its parts are unchecked. */
export type PaymentPayload =
  | { readonly x402Version: 2; readonly accepted: Json; readonly payload: Json; readonly whole: Json }
  | {
      readonly x402Version: 1;
      readonly scheme: string;
      readonly network: string;
      readonly payload: Json;
      readonly whole: Json;
    };

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const malformed = (reason: string) => new Refusal('malformed-credential', reason);

/** Base64 of a JSON object, as every x402 header has it. */
export const encodeHeader = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** Decodes a `PAYMENT-SIGNATURE` or `X-PAYMENT` header of either version. Throws Refusal `malformed-credential`. */
export function decodePayment(header: string): PaymentPayload {
  if (header.length > PROOF_LIMIT_BYTES) {
    throw malformed(`the payment is longer than ${PROOF_LIMIT_BYTES} bytes`);
  }
  if (!BASE64.test(header)) throw malformed('the payment is not base64');
  let whole: unknown;
  try {
    whole = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    throw malformed('the payment is not base64 of JSON');
  }
  if (!isObject(whole)) throw malformed('the payment is not a JSON object');
  const { x402Version, payload } = whole;
  if (x402Version !== 1 && x402Version !== 2) throw malformed('x402Version must be 1 or 2');
  if (!isObject(payload)) throw malformed('payload must be an object');
  if (x402Version === 2) {
    if (!isObject(whole.accepted)) throw malformed('accepted must be the entry of `accepts` that is paid');
    return { x402Version, accepted: whole.accepted, payload, whole };
  }
  const { scheme, network } = whole;
  if (typeof scheme !== 'string' || typeof network !== 'string') {
    throw malformed('scheme and network must be strings');
  }
  return { x402Version, scheme, network, payload, whole };
}

/** The network as the payment's own version names it. */
export const networkName = (payment: PaymentPayload): string =>
  payment.x402Version === 1 ? payment.network : String(payment.accepted.network);
