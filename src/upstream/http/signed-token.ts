/** Tokens that are signed here and not handed out: JSON Web Tokens (RFC 7519). */
import { createPrivateKey, createSecretKey, type KeyObject } from 'node:crypto';

/** As RFC 7518 and RFC 8037 name them: HMAC with a shared secret, the others with a private key. */
export const algorithms = [
  ...['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'],
  'EdDSA',
] as const;

export type Algorithm = (typeof algorithms)[number];

export interface SignedToken {
  readonly algorithm: Algorithm;
  /** A shared secret, or a private key in PEM: what stands in one line has `\n`, or `\r\n`, for its lines' ends. */
  readonly key: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Besides `alg` and `typ`. */
  readonly header: Readonly<Record<string, unknown>>;
  readonly lastsSeconds: number;
}

/** Clocks that are kept differ by less: a token of the future is refused. */
const BEFORE_SECONDS = 30;

function keyOf({ algorithm, key }: SignedToken): KeyObject {
  if (algorithm.startsWith('HS')) return createSecretKey(key, 'utf8');
  return createPrivateKey(key.replaceAll('\\r', '').replaceAll('\\n', '\n').trim());
}

/**
 * The token, signed now, and for how long it is good from here on. Rejects where the key is none for its algorithm; the reason may
 * quote the key.
 */
export async function signed(token: SignedToken): Promise<{ readonly value: string; readonly seconds: number }> {
  // Few upstreams want one.
  const { SignJWT } = await import('jose');
  const from = Math.floor(Date.now() / 1000) - BEFORE_SECONDS;
  const value = await new SignJWT({ ...token.claims })
    .setProtectedHeader({ typ: 'JWT', ...token.header, alg: token.algorithm })
    .setIssuedAt(from)
    .setExpirationTime(from + token.lastsSeconds)
    .sign(keyOf(token));
  return { value, seconds: token.lastsSeconds - BEFORE_SECONDS };
}
