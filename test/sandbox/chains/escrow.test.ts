/** The escrow of x402's `auth-capture`: who moves what is locked, how much of it, and until when. */
import t, { type Test } from 'tap';
import { type Address, encodeFunctionData, type Hex, zeroAddress } from 'viem';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { baseSepolia, stable } from '../../payment/facilitators/networks.ts';
import { COLLECTOR as DEPOSIT_COLLECTOR, SETTLEMENT } from './batch-settlement-scene.ts';
import { selectorsOf, TOKENS } from './chain-scene.ts';
import { answering, callingBack } from './contract-codes.ts';
import { COLLECTOR, ESCROW, escrowAbi, startScene } from './escrow-scene.ts';

const PRICE = 250_000n;

/** Selectors and topics of version 1.1 (base/commerce-payments). */
const PUBLISHED = {
  authorize: '0x41d66202',
  capture: '0x3efa46e1',
  void: '0xfa1cad17',
  reclaim: '0xe1a2a66d',
  getHash: '0x063a70ff',
  paymentState: '0x34b778ed',
  getTokenStore: '0x9d3facde',
  PaymentAuthorized: '0x1c81fb2e3bab27f6bb09bee9a0dddf61600b7cbaf2c12683e4864e0cbdb9d284',
  PaymentCaptured: '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e',
  InvalidSender: '0xe1130dba',
  ZeroAmount: '0x1f2a2005',
  AmountOverflow: '0x6c0442a2',
  ExceedsMaxAmount: '0x092af19e',
  AfterPreApprovalExpiry: '0xc46cf60f',
  InvalidExpiries: '0x88ef0760',
  FeeBpsOverflow: '0xbf47e3f7',
  InvalidFeeBpsRange: '0x0950d5d0',
  FeeAmountOutOfRange: '0x7c2dcc22',
  ZeroFeeReceiver: '0xb6802b7f',
  InvalidFeeReceiver: '0x4caf6a34',
  InvalidCollectorForOperation: '0x5313287d',
  TokenCollectionFailed: '0x3c73c4a0',
  PaymentAlreadyCollected: '0xad7c145a',
  AfterAuthorizationExpiry: '0x36f2d211',
  InsufficientAuthorization: '0x604b0947',
  ZeroAuthorization: '0x93bb7a12',
  BeforeAuthorizationExpiry: '0xaa5674ad',
};

/** Where the last argument of `collectTokens` begins, with its length. */
const COLLECTOR_DATA_AT = 0x1e4;

for (const asset of TOKENS) {
  const scene = await startScene(t, asset);
  const { calls, does, refuses, sign, balances, gains, state, at, now, payer, operator, stranger } = scene;
  const { authorize, capture, release, reclaim } = calls;
  const name = `${asset.name} ${asset.version}`;

  /** A payment whose whole amount is locked. */
  const locked = async (t: Test, extra: object = {}) => {
    const payment = await sign(PRICE, extra);
    await does(t, authorize(payment));
    return payment;
  };

  t.test(`${name}: the payment is known by what its payer signed, and by who signed it`, async (t) => {
    const { info, authorization } = await sign(PRICE);
    t.equal(authorization.to, COLLECTOR);
    t.equal(await scene.read('getHash', [{ ...info, payer: zeroAddress }]), authorization.nonce);
    t.not(await scene.read('getHash', [info]), authorization.nonce);
    t.equal(await scene.read('getTokenStore', [operator.address]), ESCROW);
  });

  t.test(`${name}: all that was signed is locked, once`, async (t) => {
    const before = await balances();
    const payment = await sign(PRICE);
    t.same(await state(payment), [false, 0n, 0n]);
    await does(t, authorize(payment));
    t.same(await gains(before), { payer: -PRICE, escrow: PRICE });
    t.same(await state(payment), [true, PRICE, 0n]);
    await refuses(t, authorize(payment), /^PaymentAlreadyCollected$/);
    await does(t, release(payment));
    await refuses(t, authorize(payment), /^PaymentAlreadyCollected$/);
  });

  t.test(`${name}: all that is locked is captured`, async (t) => {
    const before = await balances();
    const payment = await locked(t);
    const { logs } = await does(t, capture(payment, PRICE));
    t.same(await gains(before), { payer: -PRICE, receiver: PRICE });
    t.same(await state(payment), [true, 0n, PRICE]);
    const told = logs.find(({ address }) => address.toLowerCase() === ESCROW.toLowerCase());
    t.equal(told?.topics[1], await scene.read('getHash', [payment.info]));
    await refuses(t, capture(payment, 1n), /^InsufficientAuthorization$/);
    await refuses(t, release(payment), /^ZeroAuthorization$/);
  });

  t.test(`${name}: a part is captured, and its rest given back`, async (t) => {
    const before = await balances();
    const payment = await locked(t);
    await does(t, capture(payment, 100_001n));
    t.same(await gains(before), { payer: -PRICE, receiver: 100_001n, escrow: 149_999n });
    await refuses(t, capture(payment, 150_000n), /^InsufficientAuthorization$/);
    await does(t, release(payment));
    t.same(await gains(before), { payer: -100_001n, receiver: 100_001n });
    t.same(await state(payment), [true, 0n, 100_001n]);
    await refuses(t, release(payment), /^ZeroAuthorization$/);
  });

  t.test(`${name}: what is not captured is given back to the unit`, async (t) => {
    const before = await balances();
    const payment = await locked(t);
    await does(t, release(payment));
    t.same(await gains(before), {});
    t.same(await state(payment), [true, 0n, 0n]);
    await refuses(t, capture(payment, 1n), /^InsufficientAuthorization$/);
  });

  t.test(`${name}: one payment is not captured from what another has locked`, async (t) => {
    const [one, other] = [await locked(t), await locked(t)];
    await refuses(t, capture(one, PRICE + 1n), /^InsufficientAuthorization$/);
    await does(t, capture(one, PRICE));
    await refuses(t, capture(one, 1n), /^InsufficientAuthorization$/);
    await does(t, release(other));
  });

  t.test(`${name}: only the operator that the payer signed for moves anything`, async (t) => {
    const payment = await sign(PRICE);
    await refuses(t, { ...authorize(payment), from: stranger }, /^InvalidSender$/);
    await refuses(t, { ...authorize(payment), from: payer }, /^InvalidSender$/);
    await does(t, authorize(payment));
    for (const call of [capture(payment, PRICE), release(payment)]) {
      await refuses(t, { ...call, from: stranger }, /^InvalidSender$/);
      await refuses(t, { ...call, from: payer }, /^InvalidSender$/);
    }
    // Who makes himself the operator speaks of a payment that nobody locked.
    const info = { ...payment.info, operator: stranger.address };
    const stolen = { ...payment, info };
    await refuses(t, { ...capture(stolen, PRICE), from: stranger }, /^InsufficientAuthorization$/);
    await refuses(t, { ...release(stolen), from: stranger }, /^ZeroAuthorization$/);
    await refuses(t, { ...authorize(stolen), from: stranger }, /invalid signature/);
    await does(t, release(payment));
  });

  t.test(`${name}: nothing else than what was signed is locked`, async (t) => {
    const payment = await sign(PRICE);
    const { info } = payment;
    const changes = [
      { receiver: stranger.address },
      { maxAmount: PRICE + 1n },
      { maxAmount: PRICE - 1n },
      { authorizationExpiry: info.authorizationExpiry - 1 },
      { refundExpiry: info.refundExpiry + 1 },
      { preApprovalExpiry: info.preApprovalExpiry + 1 },
      { maxFeeBps: 1 },
      { feeReceiver: stranger.address },
      { salt: info.salt ^ 1n },
      { payer: stranger.address },
    ];
    for (const change of changes) {
      await refuses(t, authorize({ ...payment, info: { ...info, ...change } }), /invalid signature/);
    }
    await refuses(t, authorize(payment, PRICE + 1n), /^ExceedsMaxAmount$/);
    await refuses(t, authorize(payment, 0n), /^ZeroAmount$/);
    await refuses(t, authorize(payment, 2n ** 120n), /^AmountOverflow$/);
    const cut = payment.signature.slice(0, -2) as Hex;
    await refuses(t, authorize({ ...payment, signature: cut }), /invalid signature/);
    await does(t, authorize(payment));
    await refuses(t, capture(payment, 0n), /^ZeroAmount$/);
    await refuses(t, capture({ ...payment, info: { ...info, receiver: stranger.address } }, PRICE), /^Insufficient/);
    await does(t, release(payment));
  });

  t.test(`${name}: less than was signed is locked, and the payer keeps the rest`, async (t) => {
    const before = await balances();
    const payment = await sign(PRICE);
    await does(t, authorize(payment, 1n));
    t.same(await gains(before), { payer: -1n, escrow: 1n });
    await does(t, capture(payment, 1n));
    t.same(await gains(before), { payer: -1n, receiver: 1n });
  });

  t.test(`${name}: terms that contradict themselves are refused`, async (t) => {
    const now = Math.floor(Date.now() / 1000);
    const unordered = [{ captureDeadline: now + 200 }, { refundDeadline: now + 400 }];
    for (const extra of unordered) await refuses(t, authorize(await sign(PRICE, extra)), /^InvalidExpiries$/);
    await refuses(t, authorize(await sign(PRICE, { maxFeeBps: 10_001 })), /^FeeBpsOverflow$/);
    await refuses(t, authorize(await sign(PRICE, { minFeeBps: 2, maxFeeBps: 1 })), /^InvalidFeeBpsRange$/);
  });

  t.test(`${name}: a fee is what the payer signed for, and comes out of what is captured`, async (t) => {
    const before = await balances();
    const { feeReceiver } = scene;
    const free = await locked(t);
    await refuses(t, capture(free, PRICE, 1n, feeReceiver), /^FeeAmountOutOfRange$/);
    await does(t, release(free));
    const open = await locked(t, { maxFeeBps: 500 });
    await refuses(t, capture(open, 100_000n, 1_000n, zeroAddress), /^ZeroFeeReceiver$/);
    await does(t, release(open));
    const payment = await locked(t, { minFeeBps: 100, maxFeeBps: 500, feeRecipient: feeReceiver });
    for (const fee of [999n, 5_001n]) {
      await refuses(t, capture(payment, 100_000n, fee, feeReceiver), /^FeeAmountOutOfRange$/);
    }
    await refuses(t, capture(payment, 100_000n, 1_000n, stranger.address), /^InvalidFeeReceiver$/);
    await does(t, capture(payment, 100_000n, 1_000n, feeReceiver));
    await does(t, release(payment));
    t.same(await gains(before), { payer: -100_000n, receiver: 99_000n, feeReceiver: 1_000n });
  });

  t.test(`${name}: a collector that brings nothing locks nothing`, async (t) => {
    const { info, signature } = await sign(PRICE);
    const collector: Address = '0x00000000000000000000000000000000001d1e00';
    const authorizing = { from: operator, functionName: 'authorize', args: [info, PRICE, collector, signature] };
    await scene.rpc('anvil_setCode', [collector, answering(0)]);
    await refuses(t, authorizing, /^TokenCollectionFailed$/);
    await scene.rpc('anvil_setCode', [collector, answering(1)]);
    await refuses(t, authorizing, /^InvalidCollectorForOperation$/);
  });

  t.test(`${name}: what is brought for one payment does not count for another around it`, async (t) => {
    const crook: Address = '0x00000000000000000000000000000000001d1e02';
    await scene.rpc('anvil_setCode', [crook, callingBack(ESCROW, COLLECTOR_DATA_AT)]);
    const inner = await sign(PRICE, { captureAuthorizer: crook });
    const outer = { ...inner.info, salt: 1n };
    const paying = encodeFunctionData({
      abi: escrowAbi,
      functionName: 'authorize',
      args: [inner.info, PRICE, COLLECTOR, inner.signature],
    });
    const reason = await scene.refusal({ functionName: 'authorize', args: [outer, PRICE, crook, paying] }, crook);
    t.equal(reason, 'TokenCollectionFailed');
  });

  t.test(`${name}: until the deadline only the operator takes, from it on only the payer`, async (t) => {
    const before = await balances();
    const [part, unused] = [await locked(t), await sign(PRICE)];
    const deadline = part.info.authorizationExpiry;
    const later = { captureDeadline: deadline + 600, refundDeadline: deadline + 600 };
    const [all, late] = [await locked(t, later), await locked(t, later)];
    await refuses(t, reclaim(part), /^BeforeAuthorizationExpiry$/);
    await now(unused.info.preApprovalExpiry);
    await refuses(t, authorize(unused), /^AfterPreApprovalExpiry$/);

    await at(deadline - 1);
    await does(t, capture(part, 1n));
    await at(deadline);
    await does(t, reclaim(part));
    await refuses(t, reclaim(part), /^ZeroAuthorization$/);
    t.same(await state(part), [true, 0n, 1n]);

    await now(deadline + 600);
    await refuses(t, capture(all, PRICE), /^AfterAuthorizationExpiry$/);
    for (const from of [operator, stranger]) await refuses(t, { ...reclaim(all), from }, /^InvalidSender$/);
    await does(t, reclaim(all));
    t.same(await gains(before), { payer: -PRICE - 1n, receiver: 1n, escrow: PRICE });
    await does(t, release(late));
    t.same(await gains(before), { payer: -1n, receiver: 1n });
  });
}

t.test('it is called, answers and fails as the published escrow does', async (t) => {
  t.match(selectorsOf(escrowAbi), PUBLISHED);
});

t.test('only the test network that has it in reality has it', async (t) => {
  const chains = await startChains({ networks: [baseSepolia, stable] });
  t.teardown(chains.stop);
  for (const address of [ESCROW, COLLECTOR, SETTLEMENT, DEPOSIT_COLLECTOR]) {
    const codeOn = (id: string) => createRpc(chains.evm[id]?.rpcUrl ?? '')('eth_getCode', [address, 'latest']);
    t.match(await codeOn('chain-c'), /^0x6080/);
    t.equal(await codeOn('chain-e'), '0x');
  }
});

t.end();
