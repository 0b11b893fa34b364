import { createPrivateKey, createPublicKey } from 'node:crypto';
import { decodeBase58 } from './base58.ts';

/** Of the curve secp256k1: keys are the numbers below it. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** A seed of Ed25519 behind this is PKCS #8 (RFC 8410). */
const SEED_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

export function isEvmKey(text: string): boolean {
  if (!/^0x[0-9a-f]{64}$/i.test(text)) return false;
  const key = BigInt(text);
  return key > 0n && key < ORDER;
}

/** A seed, and the public key that comes of it. */
export function isSolanaKeyPair(text: string): boolean {
  if (!/^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(text)) return false;
  const pair = decodeBase58(text);
  if (pair.length !== 64) return false;
  const seed = createPrivateKey({
    key: Buffer.concat([SEED_HEAD, pair.subarray(0, 32)]),
    format: 'der',
    type: 'pkcs8',
  });
  const derived = createPublicKey(seed).export({ format: 'der', type: 'spki' }).subarray(-32);
  return derived.equals(pair.subarray(32));
}
