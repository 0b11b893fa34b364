/** The fields of what strangers send, at their bounds. */
import t from 'tap';
import {
  readAddress,
  readObject,
  readSignature,
  readUint,
  readWord,
} from '../../../src/payment/authorizations/fields.ts';
import { Refusal } from '../../../src/payment/refusal.ts';

const MOST = 2n ** 256n - 1n;

t.test('a number of at most 256 bits is read, in a string or not', async (t) => {
  t.same(
    ['0', '1', 7, 0, String(MOST), '007'].map((value) => readUint(value, 'x')),
    [0n, 1n, 7n, 0n, MOST, 7n],
  );
});

t.test('any other number is refused by its name and what would be accepted', async (t) => {
  for (const value of [
    '',
    '-1',
    ' 1',
    '1.5',
    '0x1',
    '1e3',
    -1,
    1.5,
    1e21,
    Number.NaN,
    7n,
    true,
    null,
    undefined,
    [1],
  ]) {
    t.throws(
      () => readUint(value, 'payload.x'),
      new Refusal('malformed-credential', 'payload.x must be a whole number in a string'),
    );
  }
  t.throws(() => readUint(String(MOST + 1n), 'payload.x'), {
    kind: 'malformed-credential',
    message: 'payload.x must be a number of at most 256 bits',
  });
});

t.test('addresses and words are read in lower case, signatures as they are', async (t) => {
  const [address, word] = [`0x${'aB'.repeat(20)}`, `0x${'Cd'.repeat(32)}`];
  t.equal(readAddress(address, 'x'), address.toLowerCase());
  t.equal(readWord(word, 'x'), word.toLowerCase());
  t.equal(readSignature('0xAb01', 'x'), '0xAb01');
  const refused: [read: () => unknown, message: string][] = [
    [() => readAddress(`${address}0`, 'x'), 'x must be an address'],
    [() => readAddress([address], 'x'), 'x must be an address'],
    [() => readWord(`1${word}`, 'x'), 'x must be 32 bytes of hex'],
    [() => readSignature('0x', 'x'), 'x must be hex'],
    [() => readSignature('0xabc', 'x'), 'x must be hex'],
  ];
  for (const [read, message] of refused) t.throws(read, { kind: 'malformed-credential', message });
});

t.test('an object is neither a list nor null', async (t) => {
  t.same(readObject({ a: 1 }, 'x'), { a: 1 });
  for (const value of [[], null, undefined, 'text', 1, () => 1]) {
    t.throws(() => readObject(value, 'x'), { kind: 'malformed-credential', message: 'x must be an object' });
  }
});

t.end();
