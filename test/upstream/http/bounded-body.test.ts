/** Bodies that are read whole, however they are cut. */
import t from 'tap';
import { readBounded } from '../../../src/upstream/http/bounded-body.ts';
import { heapLeftBy } from '../../heap.ts';

t.test('what comes byte by byte holds little more than its bytes while it comes', async (t) => {
  const BYTES = 2 ** 18;
  let end = (): void => undefined;
  const last = new Promise<void>((resolve) => {
    end = resolve;
  });
  let read: Promise<Buffer | undefined> = Promise.resolve(undefined);
  const left = await heapLeftBy(
    () =>
      new Promise<void>((resolve) => {
        async function* body() {
          for (let at = 0; at < BYTES; at += 1) yield Buffer.from('a');
          resolve();
          await last;
        }
        read = readBounded(body(), BYTES);
      }),
  );
  t.ok(left < 8 * BYTES, `${left} bytes`);
  end();
  t.equal((await read)?.length, BYTES);
});

t.test('each byte is there once, in order, and of more than are taken none', async (t) => {
  const pieces = Array.from({ length: 40 }, (_, at) => new Uint8Array((at * 37) % 50).fill(at));
  const whole = Buffer.concat(pieces);
  async function* body() {
    yield* pieces;
  }
  t.same(await readBounded(body(), whole.length), whole);
  t.equal(await readBounded(body(), whole.length - 1), undefined);
});
