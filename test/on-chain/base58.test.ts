/** Base58 as Solana's own encoder writes and reads it. */
import { getBase58Codec } from '@solana/kit';
import fc from 'fast-check';
import t from 'tap';
import { decodeBase58, encodeBase58 } from '../../src/on-chain/base58.ts';

const codec = getBase58Codec();
/** Zeros in front are digits of their own. */
const bytes = fc
  .tuple(fc.nat(4), fc.uint8Array({ maxLength: 64 }))
  .map(([zeros, rest]) => Uint8Array.from([...new Uint8Array(zeros), ...rest]));

t.test("bytes are written as Solana's encoder writes them, and read back", async () => {
  const promise = fc.property(bytes, (given) => {
    const text = encodeBase58(given);
    return text === codec.decode(given) && Buffer.compare(decodeBase58(text), given) === 0;
  });
  fc.assert(promise, { numRuns: 300 });
});

t.test('zeros are written one by one, and nothing is nothing', async (t) => {
  for (const [given, text] of [
    [[], ''],
    [[0], '1'],
    [[0, 0, 0], '111'],
    [[0, 0, 1], '112'],
  ] as const) {
    t.equal(encodeBase58(Uint8Array.from(given)), text);
    t.same([...decodeBase58(text)], given);
  }
});

t.test('what is not of the alphabet is refused, wherever it stands', async (t) => {
  for (const text of ['0', 'O1', '1I', 'a l', '2z+']) t.throws(() => decodeBase58(text), /not base58/, text);
});

t.end();
