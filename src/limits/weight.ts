const BYTES = 16_384;
const COMMAS = 200;
const COMMA = 0x2c;

/**
 * As how many requests one with this body is counted: to look at a long or a dense one takes a thousand times as long as at
 * most. Measured, unpaid: 0.1 ms for 200 bytes, and up to 300 for a megabyte of text or 50,000 values.
 */
export function weightOf(body: Uint8Array): number {
  if (body.length < COMMAS) return 1;
  let commas = 0;
  for (const byte of body) if (byte === COMMA) commas += 1;
  return 1 + Math.floor(body.length / BYTES) + Math.floor(commas / COMMAS);
}
