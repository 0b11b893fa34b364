/** A signed Tempo transfer: when it is taken, to the second, and what is read of its payload. */
import t from 'tap';
import {
  checkSignedTransfer,
  memoEnd,
  readTempoPayment,
  type SignedTransfer,
} from '../../../src/payment/authorizations/tempo.ts';

const NOW = 1_700_000_000_000;
const SECONDS = NOW / 1000;
const ASKED = { chainId: 4217, challengeExpires: NOW + 300_000 };
/** When the challenge ends, by a clock that is a minute behind. */
const LAST = SECONDS + 300 + 60;
const MEMO = `0x${'ab'.repeat(32)}`;
const EXPIRING = { key: 2n ** 256n - 1n, value: 0n };
const SIGNED: SignedTransfer = {
  chainId: 4217,
  validBefore: SECONDS + 60,
  validAfter: 0,
  nonce: EXPIRING,
  provenSigner: true,
  memo: MEMO,
};
const check = (changes: Partial<SignedTransfer>) => checkSignedTransfer({ ...SIGNED, ...changes }, ASKED, NOW);

t.test('it is taken from its first second to its last', async (t) => {
  for (const validBefore of [SECONDS + 1, LAST]) t.same(check({ validBefore }), { memo: MEMO, validBefore });
  t.same(check({ validAfter: SECONDS }), { memo: MEMO, validBefore: SECONDS + 60 });
  t.throws(() => check({ validBefore: SECONDS }), { kind: 'payment-expired', message: /has expired/ });
  t.throws(() => check({ validAfter: SECONDS + 1 }), { kind: 'verification-failed', message: /see validAfter/ });
  t.throws(() => check({ validBefore: LAST + 1 }), {
    kind: 'verification-failed',
    message: /no later than the challenge expires/,
  });
});

t.test('one without an end needs a place in a sequence', async (t) => {
  const nonce = { key: 0n, value: 7n };
  t.same(check({ validBefore: undefined, nonce }), { memo: MEMO, validBefore: undefined });
  t.throws(() => check({ validBefore: undefined }), { kind: 'verification-failed', message: /needs a validBefore/ });
});

t.test('one for another chain, or without the memo of its challenge, is refused', async (t) => {
  t.throws(() => check({ chainId: 1 }), { kind: 'verification-failed', message: /for chain 1, asked is 4217/ });
  t.throws(() => check({ memo: undefined }), { kind: 'verification-failed', message: /no memo/ });
});

t.test('its payload is a transaction or a hash, and nothing between', async (t) => {
  const hash = `0x${'0F'.repeat(32)}`;
  t.same(readTempoPayment({ type: 'transaction', signature: '0x76Ff', hash }), {
    type: 'transaction',
    signature: '0x76Ff',
  });
  t.same(readTempoPayment({ type: 'hash', hash, signature: 1 }), { type: 'hash', hash });
  const malformed = [
    {},
    { type: 'transaction' },
    { type: 'transaction', signature: '0x' },
    { type: 'transaction', signature: '76ff' },
    { type: 'transaction', signature: ['0x76ff'] },
    { type: 'hash' },
    { type: 'hash', hash: `${hash}0` },
    { type: 'hash', hash: [hash] },
    { type: 'hash', signature: '0x76ff' },
    { type: 'proof', hash, signature: '0x76ff' },
  ];
  for (const payload of malformed) {
    t.throws(() => readTempoPayment(payload), { kind: 'malformed-credential', message: /a tempo payload is/ });
  }
});

t.test('challenges have memos of their own, seven bytes of hex', async (t) => {
  t.match(memoEnd('one'), /^[0-9a-f]{14}$/);
  t.equal(memoEnd('one'), memoEnd('one'));
  t.not(memoEnd('one'), memoEnd('two'));
});

t.end();
