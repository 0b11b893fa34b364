/** Base58 with Bitcoin's alphabet, as Solana writes addresses, signatures and blockhashes. */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export function encodeBase58(bytes: Uint8Array): string {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  let value = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  while (value > 0n) {
    text = ALPHABET.charAt(Number(value % 58n)) + text;
    value /= 58n;
  }
  return '1'.repeat(zeros) + text;
}

/** Throws for characters outside the alphabet. Without `Buffer`: browsers read addresses by it. */
export function decodeBase58(text: string): Uint8Array {
  let value = 0n;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) throw new Error('not base58');
    value = value * 58n + BigInt(digit);
  }
  const zeros = text.search(/[^1]|$/);
  const bytes: number[] = [];
  for (; value > 0n; value >>= 8n) bytes.push(Number(value & 255n));
  return Uint8Array.from([...new Array<number>(zeros).fill(0), ...bytes.reverse()]);
}
