import { decodeBase58 } from './base58.ts';
import { keyOfPair } from './ed25519.ts';

/** Of the curve secp256k1: keys are the numbers below it. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export function isEvmKey(text: string): boolean {
  if (!/^0x[0-9a-f]{64}$/i.test(text)) return false;
  const key = BigInt(text);
  return key > 0n && key < ORDER;
}

/** A seed, and the public key that comes of it. */
export const isSolanaKeyPair = (text: string): boolean =>
  /^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(text) && keyOfPair(decodeBase58(text)) !== undefined;
