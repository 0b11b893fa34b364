import { GrowingBytes } from '../../growing-bytes.ts';

/**
 * The bytes of a body that comes in pieces, or undefined when there are more than `maxBytes`: then the rest is not read
 * and a stream is destroyed. Rejects where reading fails.
 */
export async function readBounded(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | undefined> {
  const bytes = new GrowingBytes(maxBytes);
  for await (const { buffer, byteOffset, length } of body) {
    if (bytes.size + length > maxBytes) return undefined;
    bytes.add(Buffer.from(buffer, byteOffset, length));
  }
  return bytes.read();
}
