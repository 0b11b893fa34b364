/** Credentials of the `Payment` HTTP authentication scheme (draft 01, "Credentials"), as strangers send them. */

import { canonicalJson } from '../../canonical-json.ts';
import { Problem } from '../../errors.ts';
import { isJsonObject } from '../../json.ts';
import type { Atomic } from '../../money.ts';
import { Refusal } from '../../payment/refusal.ts';
import type { GatewayRequest } from '../../request/request.ts';
import type { IssuedChallenge } from './challenge.ts';

/** Decoded and bounded, but nothing in it is believed yet. */
export interface PaymentCredential {
  readonly challenge: IssuedChallenge;
  /** What `challenge.request` says. */
  readonly request: Readonly<Record<string, unknown>>;
  /** What its challenge asks for. */
  readonly amount: Atomic;
  /** What `challenge.opaque` says. */
  readonly binding: Readonly<Record<string, string>>;
  /** The payment method's proof, in that method's own words. It moves money: into no log, error or store with it. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The payer as a DID, where the client tells it. */
  readonly source: string | undefined;
}

/** Longest header value that is looked at. The scheme asks for 4 KB; Node stops at 16 KB for all headers together. */
const MAX_BYTES = 8192;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

const malformed = (reason: string): Refusal => new Refusal('malformed-credential', reason);

/** The `Payment` credentials among everything that `Authorization` carries. */
function paymentValues(header: string | string[] | undefined): string[] {
  // Quoted parameters of other schemes may hold commas; a credential holds no quotes.
  const members = [header ?? []].flat().flatMap((value) => value.replace(/"[^"]*"/g, '""').split(','));
  return members.flatMap((member) => {
    const [scheme = '', ...rest] = member.trim().split(/\s+/);
    return scheme.toLowerCase() === 'payment' ? [rest.join(' ')] : [];
  });
}

function decodeObject(encoded: string, what: string): Record<string, unknown> {
  if (!BASE64URL.test(encoded)) throw malformed(`${what} is not base64url without padding`);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(encoded, 'base64url').toString());
  } catch {
    throw malformed(`${what} is not base64url of JSON`);
  }
  if (!isJsonObject(value)) throw malformed(`${what} is not a JSON object`);
  return value;
}

function text(object: Record<string, unknown>, name: string): string {
  const value = object[name];
  if (typeof value !== 'string' || value === '')
    throw malformed(`challenge.${name} is missing: echo the whole challenge`);
  return value;
}

/** Every challenge of ours has one: without it, it is none of them. */
function expiry(challenge: Record<string, unknown>): string {
  if (challenge.expires !== undefined) return text(challenge, 'expires');
  throw new Refusal('invalid-challenge', 'challenge.expires is missing: echo the whole challenge');
}

function decodeBinding(opaque: string): Record<string, string> {
  const binding: Record<string, string> = {};
  for (const [name, value] of Object.entries(decodeObject(opaque, 'challenge.opaque'))) {
    if (typeof value !== 'string') throw malformed('challenge.opaque is not a map of strings');
    binding[name] = value;
  }
  return binding;
}

function readAmount({ amount }: Record<string, unknown>): Atomic {
  if (typeof amount !== 'string' || !/^[0-9]{1,38}$/.test(amount)) throw malformed('challenge.request has no amount');
  return BigInt(amount);
}

/**
 * The credential of a request, or undefined when it carries none. Unknown members are ignored.
 * Throws Refusal `malformed-credential`, and Problem `several_credentials` for more than one.
 */
export function readCredential(headers: GatewayRequest['headers']): PaymentCredential | undefined {
  const values = paymentValues(headers.authorization);
  const [serialized] = values;
  if (serialized === undefined) return undefined;
  if (values.length > 1) throw new Problem('several_credentials');
  demandShort(serialized);
  return readEchoed(decodeObject(serialized, 'the credential'));
}

/**
 * The credential of a tool call, whose challenge says its `request` as an object. Throws Refusal `malformed-credential`.
 * Source: the `Payment` scheme's MCP transport, draft 00.
 */
export function readToolCredential(given: unknown): PaymentCredential {
  if (!isJsonObject(given)) throw malformed('the credential is not a JSON object');
  demandShort(JSON.stringify(given));
  const { challenge, ...others } = given;
  return readEchoed({ ...others, challenge: isJsonObject(challenge) ? withEncodedRequest(challenge) : challenge });
}

const withEncodedRequest = ({ request, ...others }: Record<string, unknown>): object => ({
  ...others,
  request: isJsonObject(request) ? Buffer.from(canonicalJson(request)).toString('base64url') : request,
});

function demandShort({ length }: string): void {
  if (length > MAX_BYTES) throw malformed(`the credential is longer than ${MAX_BYTES} bytes`);
}

function readEchoed({ challenge, payload, source }: Record<string, unknown>): PaymentCredential {
  if (!isJsonObject(challenge)) throw malformed('the credential has no challenge');
  if (!isJsonObject(payload)) throw malformed('the credential has no payload');
  const echoed: IssuedChallenge = {
    id: text(challenge, 'id'),
    realm: text(challenge, 'realm'),
    method: text(challenge, 'method'),
    intent: text(challenge, 'intent'),
    request: text(challenge, 'request'),
    expires: expiry(challenge),
    digest: challenge.digest === undefined ? undefined : text(challenge, 'digest'),
    opaque: text(challenge, 'opaque'),
  };
  const request = decodeObject(echoed.request, 'challenge.request');
  return {
    challenge: echoed,
    request,
    amount: readAmount(request),
    binding: decodeBinding(echoed.opaque),
    payload,
    source: typeof source === 'string' ? source : undefined,
  };
}
