/** Signatures of wallets that may not exist yet, read as the published encoder writes them. */
import fc from 'fast-check';
import t from 'tap';
import { getAddress, type Hex, serializeErc6492Signature } from 'viem';
import { isCounterfactual, readCounterfactual } from '../../../src/payment/authorizations/counterfactual.ts';

const FIELD = 'payload.signature';
const hex = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((value): Hex => `0x${Buffer.from(value).toString('hex')}`);
const wrapped = fc.record({ address: hex(20, 20), data: hex(0, 200), signature: hex(1, 200) });
const refusal = { kind: 'malformed-credential', message: /^payload\.signature must be a factory/ };
const PLAIN: Hex = `0x${'ab'.repeat(65)}`;
const ADDRESS = getAddress(`0x${'1f'.repeat(20)}`);

t.test('factory, call and inner signature are read as they were written', async () => {
  const promise = fc.property(wrapped, ({ address, data, signature }) => {
    const read = readCounterfactual(serializeErc6492Signature({ address, data, signature }), FIELD);
    return read?.factory === address.toLowerCase() && read.calldata === data && read.signature === signature;
  });
  fc.assert(promise, { numRuns: 300 });
});

t.test('any other signature is none', async (t) => {
  t.notOk(isCounterfactual(PLAIN));
  t.equal(readCounterfactual(PLAIN, FIELD), undefined);
});

t.test('one that is cut off, wherever, is refused by its name', async (t) => {
  const whole = serializeErc6492Signature({ address: ADDRESS, data: '0x1234', signature: PLAIN });
  const [body, suffix] = [whole.slice(2, -64), whole.slice(-64)];
  // The last word is filled up with zeros, which nobody needs.
  const needed = body.length - (64 - ((65 * 2) % 64));
  t.equal(readCounterfactual(`0x${body.slice(0, needed)}${suffix}`, FIELD)?.signature, PLAIN);
  for (let length = 0; length < needed; length += 2) {
    t.throws(() => readCounterfactual(`0x${body.slice(0, length)}${suffix}`, FIELD), refusal, `${length} digits`);
  }
});

t.test('what nobody could deploy or check is refused', async (t) => {
  const none = serializeErc6492Signature({ address: ADDRESS, data: '0x12', signature: '0x' });
  const inner = serializeErc6492Signature({ address: ADDRESS, data: '0x12', signature: PLAIN });
  const nested = serializeErc6492Signature({ address: ADDRESS, data: '0x12', signature: inner });
  const long = `0x1${inner.slice(3)}`;
  for (const signature of [none, nested, long]) t.throws(() => readCounterfactual(signature, FIELD), refusal);
});

t.end();
