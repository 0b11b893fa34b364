const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base58 of 32 bytes: every 1 at the beginning is a byte of zeros. */
export function isSolanaAddress(text: string): boolean {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return false;
  const value = [...text].reduce((sum, letter) => sum * 58n + BigInt(BASE58.indexOf(letter)), 0n);
  const zeros = text.length - text.replace(/^1+/, '').length;
  return zeros + Math.ceil((value === 0n ? 0 : value.toString(16).length) / 2) === 32;
}
