/** Challenges of the `Payment` HTTP authentication scheme (draft 01, "Challenge"): written, bound by HMAC, checked. */
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { GatewayRequest } from '../../request/request.ts';

/** A challenge as it stands in the header and as a credential echoes it: every value is a string. */
export interface IssuedChallenge {
  readonly id: string;
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  /** base64url of JSON in canonical form (JCS). */
  readonly request: string;
  /** RFC 3339. */
  readonly expires: string;
  /** RFC 9530, `sha-256=:…:`; undefined for a request without a body. */
  readonly digest: string | undefined;
  /** base64url of a flat JSON map in canonical form. */
  readonly opaque: string;
}

/** The first one signs, the others are still believed. */
export type Secrets = readonly [current: string, ...old: string[]];

const sign = (challenge: Omit<IssuedChallenge, 'id'>, secret: string): Buffer =>
  createHmac('sha256', secret)
    .update(
      [
        challenge.realm,
        challenge.method,
        challenge.intent,
        challenge.request,
        challenge.expires,
        challenge.digest ?? '',
        challenge.opaque,
      ].join('|'),
    )
    .digest();

/** Digest of the raw body, or undefined where there is none. */
export const bodyDigest = (body: Buffer): string | undefined =>
  body.length === 0 ? undefined : `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;

const queryDigest = (query: string): string => createHash('sha256').update(query).digest('base64url');

/**
 * What makes a challenge good for one request only, besides the body: `r` names method and path, so that it does not
 * pay another route of the same price, `q` stands for the query. `n` is random: without it two callers who ask in the
 * same millisecond would share a challenge, and only one of them could pay it.
 */
interface RequestBinding {
  readonly n: string;
  readonly q?: string;
  readonly r: string;
}

const routeName = (request: GatewayRequest): string => `${request.method} ${request.path}`;

/** The member names are in canonical order already. */
const newBinding = (request: GatewayRequest): RequestBinding => ({
  n: randomUUID(),
  ...(request.query === '' ? {} : { q: queryDigest(request.query) }),
  r: routeName(request),
});

/** Undefined when the challenge was issued for this method, path and query, else what is different. */
export function bindingMismatch(
  binding: Readonly<Record<string, string>>,
  request: GatewayRequest,
): string | undefined {
  if (binding.r !== routeName(request)) return `it was issued for ${binding.r}`;
  const expected = request.query === '' ? undefined : queryDigest(request.query);
  return binding.q === expected ? undefined : 'it was issued for another query string';
}

/** A new challenge for this request. `request` is the method's own part, already encoded. */
export function issueChallenge(
  parts: { realm: string; method: string; request: string; expiresAt: number },
  request: GatewayRequest,
  secrets: Secrets,
): IssuedChallenge {
  const unsigned = {
    realm: parts.realm,
    method: parts.method,
    intent: 'charge',
    request: parts.request,
    expires: new Date(parts.expiresAt).toISOString(),
    digest: bodyDigest(request.body),
    opaque: Buffer.from(JSON.stringify(newBinding(request))).toString('base64url'),
  };
  return { id: sign(unsigned, secrets[0]).toString('base64url'), ...unsigned };
}

/** True when one of the secrets signed exactly these parameters. */
export function isOurs(challenge: IssuedChallenge, secrets: Secrets): boolean {
  const claimed = Buffer.from(challenge.id, 'base64url');
  // Decoding forgives padding and stray characters; an id is the same only if it is written the same.
  if (claimed.toString('base64url') !== challenge.id) return false;
  return secrets.some((secret) => {
    const expected = sign(challenge, secret);
    return claimed.length === expected.length && timingSafeEqual(claimed, expected);
  });
}

/** What a person may read in a quoted string of a header: printable ASCII, and not too much of it. */
const quotable = (text: string): string => text.replace(/[^\x20-\x7e]|["\\]/g, '').slice(0, 200);

/**
 * The value of one `WWW-Authenticate` header. `description` is for people and not bound. All other values come from
 * this file, or from a realm that holds nothing to escape.
 */
export function writeChallenge(challenge: IssuedChallenge, description: string): string {
  const { id, realm, method, intent, request, expires, digest, opaque } = challenge;
  const bound = digest === undefined ? '' : `, digest="${digest}"`;
  return (
    `Payment id="${id}", realm="${realm}", method="${method}", intent="${intent}", request="${request}", ` +
    `description="${quotable(description)}"${bound}, expires="${expires}", opaque="${opaque}"`
  );
}
