/** Whose key signed, on the curve of Ethereum. Every call that is drawn from a deposit waits for it. */
import { createRequire } from 'node:module';
import { keccak256 } from '../../on-chain/keccak.ts';

/**
 * The public key of 65 bytes. Takes a digest of 32 bytes, `r` and `s` together, and which of two keys it is; throws for
 * numbers that are none of the curve's.
 */
export type RecoverKey = (digest: Uint8Array, signature: Uint8Array, recovery: 0 | 1) => Uint8Array;

interface Bindings {
  ecdsaRecover(signature: Uint8Array, recovery: number, digest: Uint8Array, isCompressed: boolean): Uint8Array;
}

/** The C library, which the package has ready for most systems: 0.05 ms. Throws on others. */
export function nativeRecovery(): RecoverKey {
  const require = createRequire(import.meta.url);
  const { ecdsaRecover }: Bindings = require('secp256k1/bindings');
  return (digest, signature, recovery) => ecdsaRecover(signature, recovery, digest, false);
}

/** The same as WebAssembly, which runs everywhere: 0.2 ms. */
export async function portableRecovery(): Promise<RecoverKey> {
  const { recover } = await import('tiny-secp256k1');
  return (digest, signature, recovery) => {
    const key = recover(digest, signature, recovery, false);
    if (!key) throw new Error('no key signed this');
    return key;
  };
}

async function fastestRecovery(): Promise<RecoverKey> {
  try {
    return nativeRecovery();
  } catch {
    return await portableRecovery();
  }
}

let loaded: Promise<RecoverKey> | undefined;

/** The address whose key signed, in lower case; undefined for what nobody signed. Takes 32 and 65 bytes in hex, with `0x`. */
export async function signerOf(digest: string, signature: string): Promise<string | undefined> {
  loaded ??= fastestRecovery();
  const recover = await loaded;
  const bytes = Buffer.from(signature.slice(2), 'hex');
  try {
    const key = recover(Buffer.from(digest.slice(2), 'hex'), bytes.subarray(0, 64), bytes[64] === 28 ? 1 : 0);
    return `0x${keccak256(key.subarray(1)).subarray(12).toString('hex')}`;
  } catch {
    return undefined;
  }
}
