import { LARGEST_RESULT_MIB, MIB, TooLong } from '../client/bounded.ts';

/**
 * For who reads an answer whole: one without an end would fill this process's memory. Reading more than any result throws
 * TooLong.
 */
export async function boundedFetch(...asked: Parameters<typeof fetch>): Promise<Response> {
  const answer = await fetch(...asked);
  let bytes = 0;
  const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > LARGEST_RESULT_MIB * MIB) throw new TooLong(LARGEST_RESULT_MIB);
      controller.enqueue(chunk);
    },
  });
  return new Response(answer.body?.pipeThrough(counted), answer);
}
