import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** What precedes the 32 bytes of a seed in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The private key of 32 bytes. Throws for another number of them. */
export const keyOfSeed = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });

/** The private key of 64 bytes as wallets export them, seed and public key; undefined where the two do not belong together. */
export function keyOfPair(pair: Uint8Array): KeyObject | undefined {
  if (pair.length !== 64) return undefined;
  const key = keyOfSeed(pair.subarray(0, 32));
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  return publicKey.equals(pair.subarray(32)) ? key : undefined;
}
