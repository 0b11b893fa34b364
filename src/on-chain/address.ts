import { keccak256 } from './keccak.ts';
import { isSolanaAddress } from './solana-address.ts';

/** By their digits: hashing takes longer than anything else that is said of an address, and who pays is named several times. */
const spelt = new Map<string, string>();
const MOST_SPELT = 1_000;

/** The address in the spelling whose capitals are its checksum (EIP-55). Takes `0x` and 40 hex digits. */
export function checksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const known = spelt.get(digits);
  if (known !== undefined) return known;
  if (spelt.size >= MOST_SPELT) spelt.clear();
  const made = spell(digits);
  spelt.set(digits, made);
  return made;
}

function spell(digits: string): string {
  const hash = keccak256(Buffer.from(digits)).toString('hex');
  return `0x${digits.replace(/[a-f]/g, (digit, at: number) => (Number.parseInt(hash.charAt(at), 16) < 8 ? digit : digit.toUpperCase()))}`;
}

export const isEvmAddress = (text: string): text is `0x${string}` => /^0x[0-9a-fA-F]{40}$/.test(text);

/** Hex is the same with capitals, and base58 is not. */
export const sameAddress = (one: string, other: string): boolean =>
  one === other || (one.startsWith('0x') && one.toLowerCase() === other.toLowerCase());

/** No key moves what is there: the zero address, and that of Solana's system program. */
export const isNobodys = (address: string): boolean => /^(0x0{40}|1{32})$/i.test(address);

/** What is wrong with an address of that family, or undefined. An EVM address in one case only has no checksum. */
export function addressFault(family: 'evm' | 'solana', address: string): string | undefined {
  if (family === 'solana')
    return isSolanaAddress(address) ? undefined : 'is not a Solana address: give 32 bytes in base58';
  if (!isEvmAddress(address)) return 'is not an EVM address: give 0x and 40 hex digits';
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase() || address === checksumAddress(address)) {
    return undefined;
  }
  return 'is misspelt, for its capitals do not fit (EIP-55): copy it again from where it comes from';
}
