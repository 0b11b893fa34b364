import { keccak_256 } from '@noble/hashes/sha3';

/** The address in the spelling whose capitals are its checksum (EIP-55). Takes `0x` and 40 hex digits. */
export function checksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const hash = Buffer.from(keccak_256(Buffer.from(digits))).toString('hex');
  return `0x${digits.replace(/[a-f]/g, (digit, at: number) => (Number.parseInt(hash.charAt(at), 16) < 8 ? digit : digit.toUpperCase()))}`;
}
