/** Who signed a text, as wallets sign texts: EIP-191 with a key's recovery, ed25519 against the address. */
import { createPublicKey, verify } from 'node:crypto';
import { checksumAddress } from '../../on-chain/address.ts';
import { decodeBase58 } from '../../on-chain/base58.ts';

/** What stands before the 32 bytes of a public key (RFC 8410). */
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** The address, or undefined where it is nobody's signature of the text. Contract wallets' only a node could check. */
export async function signerOnEvm(text: string, signature: string): Promise<string | undefined> {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return undefined;
  const { recoverMessageAddress } = await import('viem');
  const address = await recoverMessageAddress({ message: text, signature: signature as `0x${string}` }).catch(() => '');
  return address === '' ? undefined : checksumAddress(address);
}

/** `signature` in base58, as wallets give it. */
export function isSignedOnSolana(text: string, signature: string, address: string): boolean {
  try {
    const der = Buffer.concat([ED25519_SPKI, decodeBase58(address)]);
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return verify(null, Buffer.from(text), key, decodeBase58(signature));
  } catch {
    return false;
  }
}
