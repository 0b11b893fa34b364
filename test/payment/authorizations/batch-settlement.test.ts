/** What is read of a payment drawn from a channel, and the digests that its payer signs. */
import type { PaymentRequirements } from '@x402/core/types';
import { BATCH_SETTLEMENT_DOMAIN, voucherTypes } from '@x402/evm';
import {
  computeChannelId,
  createBatchSettlementEIP3009DepositPayload,
  signVoucher,
} from '@x402/evm/batch-settlement/client';
import fc from 'fast-check';
import t from 'tap';
import { type Address, getAddress, type Hex, hashTypedData } from 'viem';
import type { ChannelConfig } from '../../../src/on-chain/channel-config.ts';
import { BATCH_SETTLEMENT, EIP3009_DEPOSITS } from '../../../src/on-chain/escrow-contracts.ts';
import { readBatchSettlement } from '../../../src/payment/authorizations/batch-settlement.ts';
import { channelId, depositNonce, voucherDigest, WITHDRAW_DELAY } from '../../../src/payment/channels/channel.ts';
import { Refusal } from '../../../src/payment/refusal.ts';

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value): Hex => `0x${Buffer.from(value).toString('hex')}`);
const configs: fc.Arbitrary<ChannelConfig> = fc.record({
  payer: hex(20),
  payerAuthorizer: hex(20),
  receiver: hex(20),
  receiverAuthorizer: hex(20),
  token: hex(20),
  withdrawDelay: fc.oneof(fc.nat(2 ** 31 - 1), fc.constantFrom(0, 2 ** 40 - 1)),
  salt: hex(32),
});
const chainIds = fc.oneof(fc.constantFrom(1, 8453, 84532), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
const amounts = fc.oneof(fc.constantFrom(0n, 2n ** 128n - 1n), fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }));

type PublishedConfig = Parameters<typeof computeChannelId>[0];
type TypedData = Parameters<typeof hashTypedData>[0];

/** Signs nothing, and remembers what it was to sign. */
function witness(address: string) {
  const seen: TypedData[] = [];
  const signer: Parameters<typeof signVoucher>[0] = {
    address: getAddress(address),
    async signTypedData(message) {
      seen.push(message as TypedData);
      return '0x00';
    },
  };
  return { signer, seen };
}

t.test('a channel has the same id here as with the published package', async () => {
  const promise = fc.property(chainIds, configs, (chainId, config) => {
    const shown = { ...config, payer: getAddress(config.payer as Address) } as PublishedConfig;
    return (
      channelId(chainId, config) === computeChannelId(shown, chainId) &&
      channelId(chainId, shown) === computeChannelId(shown, `eip155:${chainId}`)
    );
  });
  fc.assert(promise, { numRuns: 300 });
});

t.test('a voucher has the digest that its payer signs, for every amount', async () => {
  const promise = fc.asyncProperty(chainIds, configs, amounts, async (chainId, config, max) => {
    const channel = channelId(chainId, config) as Hex;
    const domain = { ...BATCH_SETTLEMENT_DOMAIN, chainId, verifyingContract: BATCH_SETTLEMENT as Address };
    const message = { channelId: channel, maxClaimableAmount: max };
    const digest = voucherDigest(chainId, channel, max);
    const { signer, seen } = witness(config.payerAuthorizer);
    await signVoucher(signer, channel, String(max), `eip155:${chainId}`);
    return (
      digest === hashTypedData({ domain, types: voucherTypes, primaryType: 'Voucher', message }) &&
      seen.length === 1 &&
      digest === hashTypedData(seen[0] as TypedData)
    );
  });
  await fc.assert(promise, { numRuns: 200 });
});

t.test('a deposit is authorized under the nonce of its channel and salt, to who takes it', async () => {
  const promise = fc.asyncProperty(chainIds, configs, async (chainId, config) => {
    const { signer, seen } = witness(config.payer);
    const requirements: PaymentRequirements = {
      scheme: 'batch-settlement',
      network: `eip155:${chainId}`,
      amount: '1',
      asset: config.token,
      payTo: config.receiver,
      maxTimeoutSeconds: 60,
      extra: { name: 'USDC', version: '2' },
    };
    const { payload } = await createBatchSettlementEIP3009DepositPayload(
      signer,
      2,
      requirements,
      config as PublishedConfig,
      '1000',
      '10',
    );
    const read = readBatchSettlement(payload, chainId, 'request');
    const { nonce, to } = (seen[0]?.message ?? {}) as { nonce?: string; to?: string };
    return (
      read.deposit !== undefined &&
      depositNonce(read.channel, read.deposit.salt) === nonce &&
      to?.toLowerCase() === EIP3009_DEPOSITS.toLowerCase()
    );
  });
  await fc.assert(promise, { numRuns: 100 });
});

const CHAIN_ID = 84532;
const NOW = 1_700_000_000_000;
const SECONDS = NOW / 1000;
const address = (digit: string) => `0x${digit.repeat(40)}`;
const CONFIG: ChannelConfig = {
  payer: address('a'),
  payerAuthorizer: address('b'),
  receiver: address('c'),
  receiverAuthorizer: address('d'),
  token: address('e'),
  withdrawDelay: WITHDRAW_DELAY,
  salt: `0x${'1f'.repeat(32)}`,
};
const TERMS = { chain: `eip155:${CHAIN_ID}`, asset: CONFIG.token, payTo: CONFIG.receiver, amount: 10n };

type Json = Record<string, unknown>;

/** The payload of a deposit with its voucher, of the channel that its config says. */
const payloadOf = (config: Json = { ...CONFIG }): Json => ({
  type: 'deposit',
  channelConfig: config,
  voucher: {
    channelId: channelId(CHAIN_ID, config as unknown as ChannelConfig),
    maxClaimableAmount: '110',
    signature: `0x${'ab'.repeat(65)}`,
  },
  deposit: {
    amount: '1000',
    authorization: {
      erc3009Authorization: {
        validAfter: '0',
        validBefore: String(SECONDS + 60),
        salt: `0x${'2e'.repeat(32)}`,
        signature: `0x${'cd'.repeat(65)}`,
      },
    },
  },
});

const voucherPayload = (): Json => {
  const { deposit: _, ...rest } = payloadOf();
  return { ...rest, type: 'voucher' };
};

const read = (payload: Json, chainId = CHAIN_ID) => readBatchSettlement(payload, chainId, 'request');

/** The payload with one member replaced; `undefined` leaves it out. */
function withMember(payload: Json, path: string, value: unknown): Json {
  const changed = structuredClone(payload);
  const names = path.split('.');
  const last = names.pop() ?? '';
  const holder = names.reduce((at, name) => at[name] as Json, changed);
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return changed;
}

function refusalOf(run: () => unknown): Refusal {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

t.test('a deposit and its voucher are read as they are meant, in lower case', async (t) => {
  const lower = read(payloadOf());
  t.match(lower, {
    kind: 'batch-settlement',
    type: 'deposit',
    channel: channelId(CHAIN_ID, CONFIG),
    config: CONFIG,
    voucher: { max: 110n },
    deposit: { amount: 1_000n, validAfter: 0n, validBefore: BigInt(SECONDS + 60), salt: `0x${'2e'.repeat(32)}` },
    refund: undefined,
    payer: CONFIG.payer,
  });
  const shouted = JSON.parse(
    JSON.stringify(payloadOf()).replaceAll(/0x[0-9a-f]+/g, (text) => `0x${text.slice(2).toUpperCase()}`),
  );
  const upper = read(shouted);
  t.same([upper.config, upper.channel, upper.shown], [lower.config, lower.channel, lower.shown]);
  t.equal(upper.identity(TERMS.chain, TERMS.asset), lower.identity(TERMS.chain, TERMS.asset), 'the same payment');
  t.doesNotThrow(() => upper.check(TERMS, NOW));
});

t.test('only what its type needs is read', async (t) => {
  const voucher = voucherPayload();
  t.match(read(voucher), { type: 'voucher', deposit: undefined, refund: undefined });
  t.match(read({ ...voucher, deposit: 'none', amount: 'none' }), { deposit: undefined, refund: undefined });
  t.match(read({ ...voucher, type: 'refund' }), { type: 'refund', refund: undefined });
  for (const amount of [0n, 7n, 2n ** 128n - 1n]) {
    t.match(read({ ...voucher, type: 'refund', amount: String(amount) }), { refund: amount });
  }
  for (const amount of ['', '-1', null, String(2n ** 128n)]) {
    t.match(
      refusalOf(() => read({ ...voucher, type: 'refund', amount })),
      { kind: 'malformed-credential', message: /^payload\.amount must be/ },
    );
  }
});

const ADDRESSES = [undefined, null, 7, '', 'abc', `0x${'a'.repeat(39)}`, `0x${'a'.repeat(41)}`, `0x${'g'.repeat(40)}`];
const WORDS = [undefined, null, 7, '', 'abc', `0x${'a'.repeat(63)}`, `0x${'a'.repeat(65)}`, `0x${'g'.repeat(64)}`];
const SIGNATURES = [undefined, null, 7, '', '0x', 'abcd', '0xabc', '0xgg', {}];
const NUMBERS = [undefined, null, -1, 1.5, true, {}, '', '-1', '1.5', '0x1', '1e3', ' 1', '9'.repeat(79)];
const AMOUNTS = [...NUMBERS, String(2n ** 128n)];
const TIMES = [...NUMBERS, String(2n ** 256n)];
const OBJECTS = [undefined, null, 'text', 7, []];
const EIP3009 = 'deposit.authorization.erc3009Authorization';

const malformed: Record<string, readonly unknown[]> = {
  type: [undefined, null, 7, '', 'claim', 'settle', 'Deposit', ['deposit']],
  channelConfig: OBJECTS,
  'channelConfig.payer': ADDRESSES,
  'channelConfig.payerAuthorizer': ADDRESSES,
  'channelConfig.receiver': ADDRESSES,
  'channelConfig.receiverAuthorizer': ADDRESSES,
  'channelConfig.token': ADDRESSES,
  'channelConfig.withdrawDelay': [undefined, null, '86400', -1, 1.5, Number.NaN, 2 ** 53, {}],
  'channelConfig.salt': WORDS,
  voucher: OBJECTS,
  'voucher.channelId': WORDS,
  'voucher.maxClaimableAmount': AMOUNTS,
  'voucher.signature': SIGNATURES,
  deposit: OBJECTS,
  'deposit.amount': AMOUNTS,
  [EIP3009]: OBJECTS,
  [`${EIP3009}.validAfter`]: TIMES,
  [`${EIP3009}.validBefore`]: TIMES,
  [`${EIP3009}.salt`]: WORDS,
  [`${EIP3009}.signature`]: SIGNATURES,
};

for (const [path, values] of Object.entries(malformed)) {
  t.test(`a payment whose ${path} is malformed is refused by that name`, async (t) => {
    for (const value of values) {
      const refusal = refusalOf(() => read(withMember(payloadOf(), path, value)));
      t.equal(refusal.kind, 'malformed-credential', JSON.stringify(value));
      t.equal(refusal.message.split(' ')[0], `payload.${path}`, JSON.stringify(value));
    }
  });
}

t.test('a deposit without the one way to make it is refused by name', async (t) => {
  for (const authorization of [undefined, null, 'text', [], {}, { permit2Authorization: {} }]) {
    t.match(
      refusalOf(() => read(withMember(payloadOf(), 'deposit.authorization', authorization))),
      { kind: 'malformed-credential', message: /^payload\.deposit\.authorization\.erc3009Authorization must be/ },
    );
  }
});

t.test('a voucher for another channel is refused, whatever of the channel is another', async (t) => {
  const changes: Json = {
    payer: address('1'),
    payerAuthorizer: address('1'),
    receiver: address('1'),
    receiverAuthorizer: address('1'),
    token: address('1'),
    withdrawDelay: WITHDRAW_DELAY + 1,
    salt: `0x${'00'.repeat(32)}`,
  };
  const refusal = { kind: 'verification-failed', message: /the voucher is for another channel/ };
  for (const [name, value] of Object.entries(changes)) {
    t.match(
      refusalOf(() => read(withMember(payloadOf(), `channelConfig.${name}`, value))),
      refusal,
      name,
    );
  }
  t.match(
    refusalOf(() => read(payloadOf(), CHAIN_ID + 1)),
    refusal,
    'on another chain',
  );
});

t.test('a chain without such channels has none', async (t) => {
  t.match(
    refusalOf(() => read(payloadOf(), Number.NaN)),
    { kind: 'verification-failed' },
  );
});

const checked = (changes: Json, terms = TERMS, now = NOW) =>
  refusalOf(() => read(payloadOf({ ...CONFIG, ...changes })).check(terms, now));

t.test('a channel has to be to the receiver, in the token and with the delay that is asked', async (t) => {
  const kind = 'verification-failed';
  t.match(checked({ receiver: address('1') }), { kind, message: /goes to 0x1{40}, asked is 0xc{40}/ });
  t.match(checked({ token: address('1') }), { kind, message: /is in 0x1{40}, asked is 0xe{40}/ });
  for (const delay of [0, WITHDRAW_DELAY - 1, WITHDRAW_DELAY + 1, 2 ** 40]) {
    t.match(checked({ withdrawDelay: delay }), {
      kind,
      message: `withdrawDelay is ${delay}, asked is ${WITHDRAW_DELAY}`,
    });
  }
  t.match(checked({ payerAuthorizer: address('0') }), { kind, message: /payerAuthorizer must be/ });
});

t.test('a deposit has to be good by now, and for as long as it takes to send it', async (t) => {
  const checkedAt = (seconds: number, validAfter: number, validBefore: number) => {
    const times = withMember(payloadOf(), `${EIP3009}.validAfter`, String(validAfter));
    return read(withMember(times, `${EIP3009}.validBefore`, String(validBefore))).check(TERMS, seconds * 1000);
  };
  t.doesNotThrow(() => checkedAt(SECONDS, SECONDS, SECONDS + 7));
  for (const validBefore of [0, SECONDS, SECONDS + 6]) {
    t.match(
      refusalOf(() => checkedAt(SECONDS, 0, validBefore)),
      { kind: 'payment-expired', message: /sign a new one/ },
    );
  }
  t.match(
    refusalOf(() => checkedAt(SECONDS, SECONDS + 1, SECONDS + 60)),
    { kind: 'verification-failed', message: /validAfter/ },
  );
  const voucher = voucherPayload();
  t.doesNotThrow(() => read(voucher).check(TERMS, NOW * 2), 'a voucher is always good');
});

t.test('a voucher is another payment for another request, sum, channel or chain', async (t) => {
  const id = (payload: Json, request = 'request', chain = TERMS.chain) =>
    readBatchSettlement(payload, CHAIN_ID, request).identity(chain, TERMS.asset);
  const ids = [
    id(payloadOf()),
    id(payloadOf(), 'another request'),
    id(payloadOf(), 'request', 'eip155:1'),
    id(withMember(payloadOf(), 'voucher.maxClaimableAmount', '111')),
    id(payloadOf({ ...CONFIG, salt: `0x${'00'.repeat(32)}` })),
  ];
  t.equal(new Set(ids).size, ids.length);
  const voucher = voucherPayload();
  t.equal(id(voucher), ids[0], 'with a deposit or without');
});

t.end();
