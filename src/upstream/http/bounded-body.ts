/**
 * The bytes of a body that comes in pieces, or undefined when there are more than `maxBytes`: then the rest is not read
 * and a stream is destroyed. Rejects where reading fails.
 */
export async function readBounded(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
