/** Signers as viem finds them, by the C library where there is one and by WebAssembly everywhere. */
import fc from 'fast-check';
import t from 'tap';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { nativeRecovery, portableRecovery, signerOf } from '../../../src/payment/chains/secp256k1.ts';

const hex = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);

const bytesOf = (text: string): Buffer => Buffer.from(text.slice(2), 'hex');

/** Order of the curve: no number of a signature is as large. */
const ORDER = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';

t.test('an address is found from what its key signed', async () => {
  const isFound = fc.asyncProperty(hex(32), hex(32), async (digest, key) => {
    const account = privateKeyToAccount(key);
    const signature = await account.sign({ hash: digest });
    return (await signerOf(digest, signature)) === account.address.toLowerCase();
  });
  await fc.assert(isFound, { numRuns: 50 });
});

t.test('what no key can have signed has no signer', async (t) => {
  const digest = `0x${'11'.repeat(32)}`;
  const one = `${'00'.repeat(31)}01`;
  for (const [r, s] of [
    ['00'.repeat(32), one],
    [one, '00'.repeat(32)],
    [ORDER, one],
    [one, ORDER],
    // No point of the curve is there.
    [`${'00'.repeat(31)}05`, one],
  ]) {
    t.equal(await signerOf(digest, `0x${r}${s}1b`), undefined, `r ${r}, s ${s}`);
  }
});

t.test('both libraries find the same key, and the same to be nobody', async () => {
  const native = nativeRecovery();
  const portable = await portableRecovery();
  const found = (recover: typeof native, digest: string, numbers: string, recovery: 0 | 1) => {
    try {
      return Buffer.from(recover(bytesOf(digest), bytesOf(numbers), recovery)).toString('hex');
    } catch {
      return 'nobody';
    }
  };
  const areAlike = fc.property(hex(32), hex(64), fc.constantFrom(0, 1), (digest, numbers, recovery) => {
    const [one, other] = [native, portable].map((recover) => found(recover, digest, numbers, recovery));
    return one === other;
  });
  fc.assert(areAlike, { numRuns: 200 });
});
