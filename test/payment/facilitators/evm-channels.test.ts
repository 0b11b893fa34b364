/** Driving channels on a real chain: what is taken for signed, and what becomes of deposits, claims and refunds. */
import type { PaymentRequirements } from '@x402/core/types';
import { createBatchSettlementEIP3009DepositPayload, signVoucher } from '@x402/evm/batch-settlement/client';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import {
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  parseSignature,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { ChannelConfig } from '../../../src/on-chain/channel-config.ts';
import { BATCH_SETTLEMENT } from '../../../src/on-chain/escrow-contracts.ts';
import { readBatchSettlement } from '../../../src/payment/authorizations/batch-settlement.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { channelId, WITHDRAW_DELAY } from '../../../src/payment/channels/channel.ts';
import type { ChannelClaim, ChannelOperator, Deposit } from '../../../src/payment/channels/operator.ts';
import { FacilitatorUnreachable } from '../../../src/payment/facilitators/facilitator.ts';
import { type LocalOptions, localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { json, serve } from './front.ts';
import { baseSepolia } from './networks.ts';

const chains = await startChains({ networks: [baseSepolia] });
t.teardown(chains.stop);
const { caip2, asset } = baseSepolia.sandbox;
const [evm] = chains.facilitatorOptions.evm;
const payTo = chains.payTo[baseSepolia.id];
if (!evm || payTo === undefined) throw new Error('no EVM network was started');
const { chainId } = evm;
const rpc = createRpc(evm.rpcUrl);
const payer = privateKeyToAccount(chains.wallets.evm.payer.privateKey as Hex);
const voucherSigner = privateKeyToAccount(generatePrivateKey());
const stranger = privateKeyToAccount(generatePrivateKey());
const FILL = 500_000n;

async function operatorOn(options: LocalOptions): Promise<ChannelOperator> {
  const operator = await localFacilitator(options).channels?.(caip2);
  if (!operator) throw new Error('nobody drives channels');
  return operator;
}

const operator = await operatorOn(chains.facilitatorOptions);

let salts = 0;
/** Of a channel that there was not before. */
const newConfig = (changes: Partial<ChannelConfig> = {}): ChannelConfig => ({
  payer: payer.address.toLowerCase(),
  payerAuthorizer: voucherSigner.address.toLowerCase(),
  receiver: payTo.toLowerCase(),
  receiverAuthorizer: operator.authorizer.toLowerCase(),
  token: asset.address.toLowerCase(),
  withdrawDelay: WITHDRAW_DELAY,
  salt: numberToHex(++salts, { size: 32 }),
  ...changes,
});

const idOf = (config: ChannelConfig) => channelId(chainId, config) as Hex;

async function signDeposit(config: ChannelConfig, amount = FILL, signer = payer): Promise<Deposit> {
  const requirements: PaymentRequirements = {
    scheme: 'batch-settlement',
    network: caip2 as PaymentRequirements['network'],
    amount: '1',
    asset: config.token,
    payTo: config.receiver,
    maxTimeoutSeconds: 3_600,
    extra: { name: asset.name, version: asset.version },
  };
  const signed = await createBatchSettlementEIP3009DepositPayload(
    signer,
    2,
    requirements,
    config as Parameters<typeof createBatchSettlementEIP3009DepositPayload>[3],
    String(amount),
    '1',
    voucherSigner,
  );
  const { deposit } = readBatchSettlement(signed.payload, chainId, 'request');
  if (!deposit) throw new Error('no deposit was signed');
  return deposit;
}

/** A new channel with so much in it. */
async function filled(amount = FILL, changes: Partial<ChannelConfig> = {}): Promise<ChannelConfig> {
  const config = newConfig(changes);
  const made = await operator.deposit(config, await signDeposit(config, amount));
  if (made.state !== 'settled') throw new Error(`the deposit is ${made.state}`);
  return config;
}

const signatureOf = async (config: ChannelConfig, max: bigint, signer = voucherSigner): Promise<Hex> =>
  (await signVoucher(signer, idOf(config), String(max), caip2)).signature as Hex;

/** All that its voucher gives, if nothing else is said. */
const claimOf = async (config: ChannelConfig, max: bigint, changes: Partial<ChannelClaim> = {}) => ({
  config,
  max,
  signature: await signatureOf(config, max),
  charged: max,
  due: max,
  ...changes,
});

const balances = async () => {
  const [ofPayer, ofReceiver, ofContract] = await Promise.all(
    [payer.address, payTo, BATCH_SETTLEMENT].map((address) => chains.balance(baseSepolia.id, address)),
  );
  return { payer: ofPayer ?? 0n, receiver: ofReceiver ?? 0n, contract: ofContract ?? 0n };
};

/** Atomic units that everybody has more than before, once it is done. */
async function moved<Result>(run: () => Promise<Result>) {
  const before = await balances();
  const result = await run();
  const after = await balances();
  const gained = Object.entries(after).map(
    ([who, units]) => [who, units - before[who as keyof typeof before]] as const,
  );
  return { result, gains: Object.fromEntries(gained.filter(([, units]) => units !== 0n)) };
}

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The other signature of the same key over the same digest. */
function twin(signature: Hex): Hex {
  const { r, s, v } = parseSignature(signature);
  return concat([r, numberToHex(CURVE_ORDER - BigInt(s), { size: 32 }), v === 27n ? '0x1c' : '0x1b']);
}

const withLast = (signature: Hex, byte: number): Hex =>
  concat([signature.slice(0, -2) as Hex, numberToHex(byte, { size: 1 })]);

/** ERC-2098. */
function compact(signature: Hex): Hex {
  const { r, s, yParity } = parseSignature(signature);
  return concat([r, numberToHex(BigInt(s) | (BigInt(yParity) << 255n), { size: 32 })]);
}

/** By what they have been changed in; `sign` signs for another. */
const variants: Record<string, (good: Hex, sign: (signer: typeof stranger) => Promise<Hex>) => Hex | Promise<Hex>> = {
  'as it was signed': (good) => good,
  'in upper case': (good) => `0x${good.slice(2).toUpperCase()}`,
  'v from 0': (good) => withLast(good, Number(parseSignature(good).yParity)),
  'the other v': (good) => withLast(good, good.endsWith('1b') ? 28 : 27),
  'the other v from 0': (good) => withLast(good, 1 - Number(parseSignature(good).yParity)),
  'v of a chain': (good) => withLast(good, 35),
  'v past 28': (good) => withLast(good, 29),
  'its twin': twin,
  'its twin with the v of the first': (good) => withLast(twin(good), Number(`0x${good.slice(-2)}`)),
  '64 bytes': compact,
  '64 bytes, cut': (good) => good.slice(0, -2) as Hex,
  '66 bytes': (good) => `${good}00`,
  '130 bytes': (good) => concat([good, good]),
  'no s': (good) => concat([good.slice(0, 66) as Hex, numberToHex(0, { size: 32 }), '0x1b']),
  'no r': (good) => concat([numberToHex(0, { size: 32 }), `0x${good.slice(66)}`]),
  's of the order': (good) => concat([good.slice(0, 66) as Hex, numberToHex(CURVE_ORDER, { size: 32 }), '0x1b']),
  'r of the order': (good) => concat([numberToHex(CURVE_ORDER, { size: 32 }), `0x${good.slice(66)}`]),
  zeros: () => numberToHex(0, { size: 65 }),
  'one byte': () => '0x00',
  'by another key': (_, sign) => sign(stranger),
  'by the payer, who is not its authorizer': (_, sign) => sign(payer),
};

t.test('a voucher is taken for signed where the contract takes it, and nowhere else', async (t) => {
  const config = await filled();
  const taken: string[] = [];
  const agrees = async (t: Test, name: string, max: bigint, signature: Hex) => {
    const isSigned = await operator.isSigned(idOf(config), config, { max, signature });
    const { claimed } = await operator.claim([await claimOf(config, max, { signature })]);
    t.equal(isSigned, claimed.length === 1, name);
    if (isSigned) taken.push(name);
  };
  let max = 0n;
  for (const [name, vary] of Object.entries(variants)) {
    max += 1_000n;
    const sum = max;
    const sign = (signer: typeof stranger) => signatureOf(config, sum, signer);
    await agrees(t, name, sum, await vary(await sign(voucherSigner), sign));
  }
  t.same(taken, ['as it was signed', 'in upper case']);
  const good = await signatureOf(config, FILL);
  const changed = fc.asyncProperty(fc.nat(64), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
    const bytes = Buffer.from(good.slice(2), 'hex');
    bytes.writeUInt8(bytes.readUInt8(at) ^ mask, at);
    await agrees(t, `${mask} at byte ${at}`, FILL, `0x${bytes.toString('hex')}`);
  });
  await fc.assert(changed, { numRuns: 60 });
  await agrees(t, 'unchanged', FILL, good);
  t.equal(await operator.isSigned(idOf(config), config, { max: FILL - 1n, signature: good }), false, 'for another sum');
  const other = newConfig();
  t.equal(await operator.isSigned(idOf(other), other, { max: FILL, signature: good }), false, 'for another channel');
});

t.test('what its chain says of a channel is read', async (t) => {
  const config = newConfig();
  const nothing = { balance: '0', totalClaimed: '0', withdrawRequestedAt: 0, refundNonce: '0' };
  t.same(await operator.read(idOf(config)), nothing);
  await operator.deposit(config, await signDeposit(config));
  t.same(await operator.read(idOf(config)), { ...nothing, balance: '500000' });
  await operator.claim([await claimOf(config, 70_000n, { charged: 60_000n })]);
  t.same(await operator.read(idOf(config)), { ...nothing, balance: '500000', totalClaimed: '60000' });
  const struct = '(address,address,address,address,address,uint40,bytes32)';
  const data = encodeFunctionData({
    abi: parseAbi([`function initiateWithdraw(${struct} config, uint128 amount)`]),
    args: [Object.values(config) as never, 1_000n],
  });
  await actAs(rpc, payer.address, [{ to: BATCH_SETTLEMENT, data }]);
  const { withdrawRequestedAt } = await operator.read(idOf(config));
  t.ok(Math.abs(withdrawRequestedAt - Date.now() / 1000) < 3_600, 'in seconds since the epoch');
});

t.test('a deposit is checked, made once, and known from then on', async (t) => {
  const config = newConfig();
  const deposit = await signDeposit(config);
  const checked = await moved(() => operator.verifyDeposit(config, deposit));
  t.same(checked, { result: { valid: true, payer: config.payer }, gains: {} });
  t.equal(await operator.isDeposited(config, deposit), false);
  const made = await moved(() => operator.deposit(config, deposit));
  t.match(made.result, { state: 'settled', transaction: /^0x[0-9a-f]{64}$/, amount: FILL });
  t.same(made.gains, { payer: -FILL, contract: FILL });
  t.equal(await operator.isDeposited(config, deposit), true);

  t.match(await operator.verifyDeposit(config, deposit), { valid: false, reason: /./ });
  const again = await moved(() => operator.deposit(config, deposit));
  t.same(again, { result: { state: 'settled', transaction: '', amount: FILL }, gains: {} }, 'it is there already');
  t.match(await operator.read(idOf(config)), { balance: '500000' });
  const more = await moved(async () => operator.deposit(config, await signDeposit(config, 7n)));
  t.same(more.gains, { payer: -7n, contract: 7n }, 'another one is added');
});

t.test('a deposit made twice at the same moment is there once', async (t) => {
  const config = newConfig();
  const deposit = await signDeposit(config);
  const other = await operatorOn(chains.facilitatorOptions);
  const { result, gains } = await moved(() =>
    Promise.all([operator.deposit(config, deposit), operator.deposit(config, deposit), other.read(idOf(config))]),
  );
  t.match(result[0], { state: 'settled' });
  t.match(result[1], { state: 'settled' });
  t.same(gains, { payer: -FILL, contract: FILL });
});

t.test('a deposit that the contract turns down is refused, and nothing moves', async (t) => {
  const config = newConfig();
  const good = await signDeposit(config);
  const balance = (await balances()).payer;
  const bad: Record<string, [ChannelConfig, Deposit]> = {
    'signed by another': [config, await signDeposit(config, FILL, { ...stranger, address: payer.address })],
    'for more than was signed': [config, { ...good, amount: FILL + 1n }],
    'of nothing': [config, await signDeposit(config, 0n)],
    'for another channel': [newConfig(), good],
    'with another salt': [config, { ...good, salt: numberToHex(1, { size: 32 }) }],
    expired: [config, { ...good, validBefore: 1n }],
    'of more than its payer has': [config, await signDeposit(config, balance + 1n)],
    'with a delay that the contract does not take': await (async () => {
      const short = newConfig({ withdrawDelay: 1 });
      return [short, await signDeposit(short)] as [ChannelConfig, Deposit];
    })(),
    'with a signature of nothing': [config, { ...good, signature: '0x00' }],
  };
  for (const [name, [channel, deposit]] of Object.entries(bad)) {
    t.match(await operator.verifyDeposit(channel, deposit), { valid: false, reason: /./ }, name);
    const { result, gains } = await moved(() => operator.deposit(channel, deposit));
    t.match(result, { state: 'refused', reason: /./ }, name);
    t.same(gains, {}, name);
    t.equal(await operator.isDeposited(channel, deposit), false, name);
  }
});

t.test('what can be claimed is claimed and sent in one transaction, and the rest is told apart', async (t) => {
  const [one, two, three, four, five] = await Promise.all(Array.from({ length: 5 }, () => filled()));
  if (!one || !two || !three || !four || !five) throw new Error('five channels should be there');
  const foreign = await filled(FILL, { receiverAuthorizer: stranger.address.toLowerCase() });
  const good = [await claimOf(one, 100_000n), await claimOf(three, 200_000n, { charged: 150_000n, due: 150_000n })];
  const bad = [
    await claimOf(two, 100_000n, { signature: await signatureOf(two, 100_001n) }),
    await claimOf(four, 100_000n, { charged: 100_001n }),
    await claimOf(five, FILL + 1n),
    await claimOf(foreign, 100_000n),
    await claimOf(newConfig(), 1n),
  ];
  const rows = [bad[0], good[0], bad[1], bad[2], bad[3], good[1], bad[4]].filter((row) => row !== undefined);
  const { result, gains } = await moved(() => operator.claim(rows));
  const transaction = /^0x[0-9a-f]{64}$/;
  t.match(result, { claimed: good, refused: bad, transaction });
  t.equal(result.claimed.length, good.length);
  t.same(gains, { receiver: 250_000n, contract: -250_000n });
  t.match(await operator.read(idOf(three)), { balance: '500000', totalClaimed: '150000' });
  for (const config of [two, four, five, foreign]) t.match(await operator.read(idOf(config)), { totalClaimed: '0' });

  const nothing = await moved(() => operator.claim(bad));
  t.same(nothing, { result: { claimed: [], refused: bad, unsent: [], transaction: undefined }, gains: {} });
  t.same(await operator.claim([]), { claimed: [], refused: [], unsent: [], transaction: undefined });
  const again = await moved(() => operator.claim(good));
  t.match(again.result, { claimed: good, refused: [], transaction });
  t.same(again.gains, {}, 'what is claimed already moves nothing');
});

t.test('what is claimed for several receivers is sent to each', async (t) => {
  const other = privateKeyToAccount(generatePrivateKey()).address;
  const rows = [
    await claimOf(await filled(), 1_000n),
    await claimOf(await filled(FILL, { receiver: other.toLowerCase() }), 2_000n),
  ];
  const { gains } = await moved(() => operator.claim(rows));
  t.same(gains, { receiver: 1_000n, contract: -3_000n });
  t.equal(await chains.balance(baseSepolia.id, other), 2_000n);
});

t.test('as many claims as a transaction has gas for are made, and those after them by the next', async (t) => {
  const receiver = privateKeyToAccount(generatePrivateKey()).address;
  const changes = { receiver: receiver.toLowerCase() };
  const rows: ChannelClaim[] = [];
  for (let made = 0; made < 16; made += 1) rows.push(await claimOf(await filled(1_000n, changes), 1_000n));
  let left = rows;
  const made: number[] = [];
  while (left.length > 0) {
    const { claimed, refused } = await operator.claim(left);
    t.same([refused, claimed], [[], left.slice(0, claimed.length)]);
    made.push(claimed.length);
    left = left.slice(claimed.length);
  }
  t.ok(made.length > 1, `${made} at a time`);
  t.equal(await chains.balance(baseSepolia.id, receiver), 16_000n);
});

/** A receiver whose balance the token cannot add to, as it would be of one that its issuer has frozen. */
async function frozenReceiver(): Promise<string> {
  const receiver = privateKeyToAccount(generatePrivateKey()).address;
  const balance = keccak256(encodeAbiParameters(parseAbiParameters('address, uint256'), [receiver, 9n]));
  await rpc('anvil_setStorageAt', [asset.address, balance, numberToHex(2n ** 256n - 1n, { size: 32 })]);
  return receiver.toLowerCase();
}

t.test('a receiver that its token sends nothing keeps no claim waiting, its own neither', async (t) => {
  const receiver = await frozenReceiver();
  const [sound, frozen] = [await filled(), await filled(FILL, { receiver })];
  const rows = [await claimOf(frozen, 3_000n), await claimOf(sound, 1_000n)];
  const { result, gains } = await moved(() => operator.claim(rows));
  t.match(result, { claimed: rows, refused: [], unsent: [receiver], transaction: /^0x/ });
  t.same(gains, { receiver: 1_000n, contract: -1_000n });
  t.match(await operator.read(idOf(frozen)), { totalClaimed: '3000' }, 'its payer can not have it back');
  t.match(await operator.claim([await claimOf(sound, 2_000n)]), { unsent: [] });

  const given = await moved(async () => operator.refund(await claimOf(frozen, 5_000n, { due: 2_000n }), 100n));
  t.match(given.result, { state: 'settled', amount: 100n });
  t.same(given.gains, { payer: 100n, contract: -100n });
  t.match(await operator.read(idOf(frozen)), { totalClaimed: '5000' });
});

t.test('what is due is claimed before a deposit is given back, in one transaction', async (t) => {
  const config = await filled();
  const claim = await claimOf(config, 200_000n, { charged: 150_000n, due: 150_000n });
  const { result, gains } = await moved(() => operator.refund(claim, 350_000n));
  t.match(result, { state: 'settled', transaction: /^0x[0-9a-f]{64}$/, amount: 350_000n });
  t.same(gains, { payer: 350_000n, receiver: 150_000n, contract: -FILL });
  t.same(await operator.read(idOf(config)), {
    balance: '150000',
    totalClaimed: '150000',
    withdrawRequestedAt: 0,
    refundNonce: '1',
  });
});

t.test('a part of a deposit is given back where nothing is due, and the rest can be drawn from', async (t) => {
  const config = await filled();
  const unsigned = { config, max: 0n, signature: '0x', charged: 0n, due: 0n };
  const { result, gains } = await moved(() => operator.refund(unsigned, 200_000n));
  t.match(result, { state: 'settled', amount: 200_000n });
  t.same(gains, { payer: 200_000n, contract: -200_000n });
  t.match(await operator.claim([await claimOf(config, 300_000n)]), { refused: [] });
});

t.test('nothing is given back where what is due cannot be claimed', async (t) => {
  const config = await filled();
  const claim = await claimOf(config, 100_000n, { signature: await signatureOf(config, 1n) });
  const { result, gains } = await moved(() => operator.refund(claim, 400_000n));
  t.match(result, { state: 'refused', reason: /./ });
  t.same(gains, {});
  const foreign = await filled(FILL, { receiverAuthorizer: stranger.address.toLowerCase() });
  const unsigned = { config: foreign, max: 0n, signature: '0x', charged: 0n, due: 0n };
  t.match(await operator.refund(unsigned, 1n), { state: 'refused' }, 'nor from a channel that is another’s');
});

/**
 * An operator behind a node that fails at the methods that `failing` has, or at `all`. Whoever asks it for a receipt waits for
 * the block: it is on the chain by then, told or not.
 */
async function behind(t: Test) {
  const failing = new Set<string>();
  const answerTo = async (body: string) => {
    const { method, params } = JSON.parse(body);
    if (failing.has('all')) return undefined;
    while (method === 'eth_getTransactionReceipt' && !(await rpc(method, params)));
    if (failing.has(method)) return undefined;
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    return (await fetch(evm?.rpcUrl ?? '', init)).json();
  };
  const front = await serve((_, response, body) => {
    answerTo(body).then(
      (answer) => (answer ? json(response, 200, answer) : json(response, 503, {})),
      () => json(response, 503, {}),
    );
  });
  t.teardown(front.stop);
  const options = { ...chains.facilitatorOptions, evm: evm ? [{ ...evm, rpcUrl: front.url }] : [] };
  return { failing, operator: await operatorOn({ ...options, confirmationTimeoutMs: 200 }) };
}

t.test('a node that does not answer leaves everything open, and refuses nothing', async (t) => {
  const { failing, operator: cut } = await behind(t);
  const config = await filled();
  const deposit = await signDeposit(config);
  const claim = await claimOf(config, 1_000n);
  failing.add('all');
  const asks: (() => Promise<unknown>)[] = [
    () => cut.read(idOf(config)),
    () => cut.verifyDeposit(config, deposit),
    () => cut.isDeposited(config, deposit),
    () => cut.claim([claim]),
  ];
  for (const ask of asks) await t.rejects(ask(), FacilitatorUnreachable);
  const { result, gains } = await moved(async () => [await cut.deposit(config, deposit), await cut.refund(claim, 1n)]);
  t.match(result, [{ state: 'unknown' }, { state: 'unknown' }]);
  t.same(gains, {});
  t.equal(await cut.isSigned(idOf(config), config, claim), true, 'a signature is known without it');
});

t.test('what was sent and is not confirmed is open, and found when it is asked for again', async (t) => {
  const { failing, operator: cut } = await behind(t);
  const config = await filled();
  const deposit = await signDeposit(config);
  failing.add('eth_getTransactionReceipt');
  const seen = await moved(() => cut.deposit(config, deposit));
  t.same(seen.result, { state: 'settled', transaction: '', amount: FILL }, 'its token says that it was used');
  t.same(seen.gains, { payer: -FILL, contract: FILL });

  const claim = await claimOf(config, 1_000n);
  const claimed = await moved(() => t.rejects(cut.claim([claim]), FacilitatorUnreachable));
  t.same(claimed.gains, { receiver: 1_000n, contract: -1_000n });
  const given = await moved(() => cut.refund({ ...claim, due: 0n }, 5n));
  t.match(given.result, { state: 'unknown' });
  t.same(given.gains, { payer: 5n, contract: -5n });
  failing.clear();
  t.match(await cut.claim([claim]), { claimed: [claim], refused: [] });
  t.match(await cut.read(idOf(config)), { totalClaimed: '1000', balance: String(2n * FILL - 5n) });

  const unseen = await signDeposit(config);
  failing.add('eth_getTransactionReceipt').add('eth_call');
  t.match(await cut.deposit(config, unseen), { state: 'unknown' });
  failing.clear();
  t.match(await cut.deposit(config, unseen), { state: 'settled', transaction: '', amount: FILL });
});

t.test('nothing is sent that costs more than it is worth', async (t) => {
  const config = await filled();
  const [dear] = chains.facilitatorOptions.evm.map((network) => ({ ...network, nativeValue: 10n ** 18n }));
  const frugal = await operatorOn({ ...chains.facilitatorOptions, evm: dear ? [dear] : [] });
  const deposit = await signDeposit(config);
  const { gains } = await moved(async () => {
    t.match(await frugal.verifyDeposit(config, deposit), { valid: false, reason: /./ });
    t.match(await frugal.deposit(config, deposit), { state: 'refused', reason: /./ });
    await t.rejects(frugal.claim([await claimOf(config, 1_000n)]), FacilitatorUnreachable);
    const tooDear = { state: 'refused', reason: /^its transaction costs more than half/ };
    t.match(await frugal.refund(await claimOf(config, 1_000n), 5n), tooDear);
    // Anybody can deposit at the contract itself, as little as pleases.
    t.match(await frugal.refund(await claimOf(config, 0n), 1n), tooDear);
  });
  t.same(gains, {});
});

t.end();
