/** What is signed on EVM chains, for a transfer, a hold or a permit: which terms it has to meet, and when, to the second. */
import t from 'tap';
import { EIP3009_COLLECTOR } from '../../../src/on-chain/escrow-contracts.ts';
import { type HoldTerms, readAuthCapture } from '../../../src/payment/authorizations/auth-capture.ts';
import type { Authorization } from '../../../src/payment/authorizations/authorization.ts';
import { readApproval } from '../../../src/payment/authorizations/eip2612.ts';
import { readEip3009 } from '../../../src/payment/authorizations/eip3009.ts';
import { PERMIT2, readPermit2 } from '../../../src/payment/authorizations/permit2.ts';
import { authorizationNonce, type PaymentInfo } from '../../../src/payment/escrow/payment-info.ts';

const CHAIN_ID = 84532;
const NOW = 1_700_000_000_000;
const SECONDS = NOW / 1000;
const [PAYER, PAY_TO, ASSET, OPERATOR] = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
  string,
];
const TERMS = { chain: `eip155:${CHAIN_ID}`, asset: ASSET, payTo: PAY_TO, amount: 100n };
const SIGNATURE = `0x${'ab'.repeat(65)}`;
const SALT = `0x${'2e'.repeat(32)}`;
const DEADLINE = SECONDS + 600;
const MESSAGE = { from: PAYER, to: PAY_TO, value: '100', validAfter: '0', validBefore: String(SECONDS + 60) };

type Changes = Readonly<Record<string, unknown>>;

const transfer = (changes: Changes): Authorization =>
  readEip3009({ ...MESSAGE, nonce: SALT, ...changes }, SIGNATURE, 'payload.authorization');

/** By default with the nonce that the payer of these terms signs. */
function hold(changes: Changes, echoed: Partial<HoldTerms> = {}, chainId = CHAIN_ID): Authorization {
  const terms = {
    operator: OPERATOR,
    captureDeadline: DEADLINE,
    asset: ASSET,
    payTo: PAY_TO,
    amount: '100',
    ...echoed,
  };
  const message = { ...MESSAGE, to: EIP3009_COLLECTOR, ...changes };
  const info: PaymentInfo = {
    operator: terms.operator,
    payer: PAYER,
    receiver: terms.payTo,
    token: terms.asset,
    maxAmount: message.value,
    preApprovalExpiry: Number(message.validBefore),
    authorizationExpiry: terms.captureDeadline,
    salt: SALT,
  };
  const authorization = { nonce: authorizationNonce(CHAIN_ID, info), ...message };
  return readAuthCapture({ authorization, signature: SIGNATURE, salt: SALT }, terms, chainId);
}

for (const [name, signed] of Object.entries({ transfer, hold })) {
  t.test(`a ${name} is taken from the second it is valid after until the one it is valid before`, async (t) => {
    t.doesNotThrow(() => signed({ validAfter: String(SECONDS), validBefore: String(SECONDS + 1) }).check(TERMS, NOW));
    t.throws(() => signed({ validAfter: String(SECONDS + 1) }).check(TERMS, NOW), {
      kind: 'verification-failed',
      message: /not valid yet: see validAfter/,
    });
    t.throws(() => signed({ validBefore: String(SECONDS) }).check(TERMS, NOW + 999), {
      kind: 'payment-expired',
      message: /has expired: sign a new one/,
    });
    t.equal(signed({}).endsAt, (SECONDS + 60) * 1000);
  });

  t.test(`a ${name} is for the price, no less and no more`, async (t) => {
    t.throws(() => signed({ value: '99' }).check(TERMS, NOW), {
      kind: 'payment-insufficient',
      message: 'the payment is for 99, the price is 100 atomic units',
    });
    t.throws(() => signed({ value: '101' }).check(TERMS, NOW), {
      kind: 'verification-failed',
      message: /is for 101, the price is 100 atomic units: that is more than the call costs/,
    });
  });
}

t.test('a transfer goes to who is paid', async (t) => {
  t.throws(() => transfer({ to: OPERATOR }).check(TERMS, NOW), {
    message: `the payment goes to ${OPERATOR}, asked is ${PAY_TO}`,
  });
  t.doesNotThrow(() => transfer({ to: PAY_TO.toUpperCase().replace('0X', '0x') }).check(TERMS, NOW));
});

t.test('a hold goes to the collector, for who is paid, in the token that is asked', async (t) => {
  const kind = 'verification-failed';
  t.throws(() => hold({ to: PAY_TO }).check(TERMS, NOW), { kind, message: /the authorization goes to 0xb+, asked is/ });
  t.throws(() => hold({}, { payTo: OPERATOR }).check(TERMS, NOW), { kind, message: /the payment goes to 0xd+/ });
  t.throws(() => hold({}, { asset: OPERATOR }).check(TERMS, NOW), { kind, message: /the payment is in 0xd+/ });
});

t.test('a hold is signed for the very terms that it echoes, on its chain', async (t) => {
  const refusal = { kind: 'verification-failed', message: /the nonce is not that of the terms that are echoed/ };
  t.throws(() => hold({ nonce: SALT }).check(TERMS, NOW), refusal);
  t.throws(() => hold({}, {}, CHAIN_ID + 1).check(TERMS, NOW), refusal);
});

t.test('a hold can be locked until its capture deadline and no later', async (t) => {
  t.doesNotThrow(() => hold({ validBefore: String(DEADLINE) }).check(TERMS, NOW));
  t.throws(() => hold({ validBefore: String(DEADLINE + 1) }).check(TERMS, NOW), {
    kind: 'verification-failed',
    message: /ends after the capture deadline/,
  });
});

t.test("a hold's times fit the chain's clock, and its parts are all there", async (t) => {
  const kind = 'malformed-credential';
  const last = 2n ** 48n - 1n;
  t.equal(hold({ validBefore: String(last) }).endsAt, Number(last) * 1000);
  t.throws(() => hold({ validBefore: String(last + 1n) }), {
    kind,
    message: /^payload\.authorization\.validBefore must be/,
  });
  const terms = { operator: OPERATOR, captureDeadline: DEADLINE, asset: ASSET, payTo: PAY_TO, amount: '100' };
  const authorization = { ...MESSAGE, nonce: SALT };
  for (const [payload, field] of [
    [{ signature: SIGNATURE, salt: SALT }, 'payload.authorization'],
    [{ authorization: [], signature: SIGNATURE, salt: SALT }, 'payload.authorization'],
    [{ authorization, salt: SALT }, 'payload.signature'],
    [{ authorization, signature: SIGNATURE }, 'payload.salt'],
  ] as const) {
    t.throws(() => readAuthCapture(payload, terms, CHAIN_ID), { kind, message: new RegExp(`^${field} must be`) });
  }
});

const word = (value: number): string => value.toString(16).padStart(64, '0');
/** A signature of 65 bytes with the call that deploys its wallet (ERC-6492), as the published encoder writes them. */
const UNDEPLOYED = [
  '0x',
  ...[PAY_TO.slice(2).padStart(64, '0'), word(0x60), word(0xa0)],
  ...[word(2), '1234'.padEnd(64, '0')],
  ...[word(65), SIGNATURE.slice(2).padEnd(192, '0')],
  '6492'.repeat(16),
].join('');

t.test('the wallet that pays may not exist yet', async (t) => {
  const message = { ...MESSAGE, nonce: SALT };
  const [signed, undeployed] = [readEip3009(message, SIGNATURE), readEip3009(message, UNDEPLOYED)];
  t.match(signed, { isCounterfactual: false, shown: SIGNATURE, payload: { signature: SIGNATURE } });
  t.match(undeployed, { isCounterfactual: true, shown: SIGNATURE, payload: { signature: UNDEPLOYED } });
  t.equal(undeployed.identity(TERMS.chain, ASSET), signed.identity(TERMS.chain, ASSET), 'the same payment');
  const terms = { operator: OPERATOR, captureDeadline: DEADLINE, asset: ASSET, payTo: PAY_TO, amount: '100' };
  const held = (signature: string) =>
    readAuthCapture({ authorization: message, signature, salt: SALT }, terms, CHAIN_ID);
  t.match(held(SIGNATURE), { isCounterfactual: false, shown: SIGNATURE, signature: SIGNATURE });
  t.match(held(UNDEPLOYED), { isCounterfactual: true, shown: SIGNATURE, signature: UNDEPLOYED });
  t.equal(held(UNDEPLOYED).identity(TERMS.chain, ASSET), held(SIGNATURE).identity(TERMS.chain, ASSET));
  const cut = `0x${'00'.repeat(96)}${'6492'.repeat(16)}`;
  t.throws(() => held(cut), { kind: 'malformed-credential', message: /^payload\.signature must be a factory/ });
});

const APPROVAL = {
  from: PAYER,
  asset: ASSET,
  spender: PERMIT2,
  amount: '100',
  nonce: '007',
  deadline: String(SECONDS + 30),
  signature: SIGNATURE,
  version: '1',
};
const approval = (changes: Changes = {}) => readApproval({ ...APPROVAL, ...changes }, 'info');
const permit = (changes: Changes = {}, approved?: Changes) =>
  readPermit2(
    {
      from: PAYER,
      permitted: { token: ASSET, amount: '100' },
      nonce: '5',
      deadline: String(SECONDS + 60),
      ...changes,
    },
    SIGNATURE,
    approved && approval(approved),
  );

t.test('a permit is in the token that is asked, and ends by its deadline', async (t) => {
  t.equal(permit().endsAt, (SECONDS + 60) * 1000);
  t.doesNotThrow(() => permit().check({ ...TERMS, asset: ASSET.toUpperCase() }, NOW));
  t.throws(() => permit().check({ ...TERMS, asset: OPERATOR }, NOW), {
    kind: 'verification-failed',
    message: `the payment is in ${ASSET}, asked is ${OPERATOR}`,
  });
});

t.test('a permit with an approval ends with what ends first', async (t) => {
  t.equal(permit({}, {}).endsAt, (SECONDS + 30) * 1000);
  t.equal(permit({}, { deadline: String(SECONDS + 90) }).endsAt, (SECONDS + 60) * 1000);
});

t.test('an approval is for the permit that it comes with', async (t) => {
  t.doesNotThrow(() => permit({}, {}).check(TERMS, NOW));
  for (const [changes, message] of [
    [{ from: OPERATOR }, `the permit (EIP-2612) is of ${OPERATOR}, the payer is ${PAYER}`],
    [{ asset: OPERATOR }, `the permit (EIP-2612) is for the token ${OPERATOR}, the payment is in ${ASSET}`],
    [
      { spender: OPERATOR },
      `the permit (EIP-2612) approves ${OPERATOR}, to approve is Permit2, ${PERMIT2.toLowerCase()}`,
    ],
    [{ amount: '99' }, 'the permit (EIP-2612) approves the amount 99, the payment is for 100'],
    [{ amount: '101' }, 'the permit (EIP-2612) approves the amount 101, the payment is for 100'],
  ] as const) {
    t.throws(() => permit({}, changes).check(TERMS, NOW), { kind: 'verification-failed', message });
  }
});

t.test('an approval is signed by a key, and handed on as it was read', async (t) => {
  t.same(approval().info, { ...APPROVAL, spender: PERMIT2.toLowerCase(), nonce: '7' });
  t.equal(approval().endsAt, (SECONDS + 30) * 1000);
  const kind = 'malformed-credential';
  for (const signature of [SIGNATURE.slice(0, -2), `${SIGNATURE}00`, UNDEPLOYED]) {
    t.throws(() => approval({ signature }), { kind, message: 'info.signature must be 65 bytes of hex' });
  }
  t.throws(() => approval({ version: '2' }), { kind, message: 'info.version must be "1"' });
  t.throws(() => approval({ deadline: 'soon' }), { kind, message: /^info\.deadline must be/ });
});

t.end();
