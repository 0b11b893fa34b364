/** The channels of x402's `batch-settlement`: what fills one, and only as much as its payer signed for it. */
import t from 'tap';
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  zeroAddress,
} from 'viem';
import { readArtifact } from '../../../src/sandbox/chains/contract.ts';
import {
  type ChannelConfig,
  COLLECTOR,
  collectorData,
  type Filling,
  SETTLEMENT,
  settlementAbi,
  startScene,
} from './batch-settlement-scene.ts';
import { TOKENS } from './chain-scene.ts';
import { answering, callingBack, sending, tellingOf } from './contract-codes.ts';

const FILL = 500_000n;
/** Where the last argument of `collect` begins, with its length. */
const COLLECTOR_DATA_AT = 0xa4;
const CHANNELS_SLOT = 0n;

const { abi: collectorAbi } = readArtifact(
  new URL('../../../src/sandbox/chains/Eip3009DepositCollector.json', import.meta.url),
);
const receiveAbi = parseAbi([
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

for (const asset of TOKENS) {
  const scene = await startScene(t, asset);
  const {
    calls,
    does,
    tells,
    refuses,
    balances,
    gains,
    newConfig,
    idOf,
    signFilling,
    channel,
    payer,
    operator,
    stranger,
  } = scene;
  const { deposit } = calls;
  const name = `${asset.name} ${asset.version}`;
  const token = asset.address as Address;

  t.test(`${name}: a channel is known by all of its terms, as the published client knows it`, async (t) => {
    const config = newConfig();
    const changes: Partial<ChannelConfig>[] = [
      { payer: stranger.address },
      { payerAuthorizer: zeroAddress },
      { receiver: stranger.address },
      { receiverAuthorizer: stranger.address },
      { token: stranger.address },
      { withdrawDelay: config.withdrawDelay + 1 },
      { salt: numberToHex(2n ** 255n, { size: 32 }) },
    ];
    const ids = new Set<unknown>();
    for (const change of [{}, ...changes]) {
      const changed = { ...config, ...change };
      const id = await scene.read('getChannelId', [changed]);
      t.equal(id, idOf(changed));
      ids.add(id);
    }
    t.equal(ids.size, 1 + changes.length);
  });

  t.test(`${name}: all that was signed is put in, once, and more of it later`, async (t) => {
    const before = await balances();
    const config = newConfig();
    const [first, second] = [await signFilling(config, FILL), await signFilling(config, 1n)];
    t.same(await channel(config), [0n, 0n]);
    const filling = await does(t, deposit(first));
    t.same(await gains(before), { payer: -FILL, settlement: FILL });
    t.same(await channel(config), [FILL, 0n]);
    tells(t, filling, [
      ['ChannelCreated', { channelId: idOf(config), config }],
      ['Deposited', { channelId: idOf(config), sender: operator.address, amount: FILL, newBalance: FILL }],
    ]);
    await refuses(t, deposit(first), /authorization is used or canceled/);

    const added = await does(t, deposit(second));
    t.same(await channel(config), [FILL + 1n, 0n]);
    tells(t, added, [['Deposited', { amount: 1n, newBalance: FILL + 1n }]]);
    t.same(await gains(before), { payer: -FILL - 1n, settlement: FILL + 1n });
  });

  t.test(`${name}: nothing else than what was signed is put in`, async (t) => {
    const config = newConfig();
    const filling = await signFilling(config, FILL);
    const changes: Partial<Filling>[] = [
      { config: { ...config, receiver: stranger.address } },
      { config: { ...config, payerAuthorizer: stranger.address } },
      { config: { ...config, receiverAuthorizer: stranger.address } },
      { config: { ...config, withdrawDelay: config.withdrawDelay + 1 } },
      { config: { ...config, salt: numberToHex(1n, { size: 32 }) } },
      { config: { ...config, payer: stranger.address } },
      { amount: FILL + 1n },
      { amount: FILL - 1n },
      { validAfter: 1n },
      { validBefore: filling.validBefore + 1n },
      { salt: filling.salt ^ 1n },
      { signature: filling.signature.slice(0, -2) as Hex },
    ];
    for (const change of changes) await refuses(t, deposit({ ...filling, ...change }), /invalid signature/);
    await refuses(t, deposit(await signFilling(config, FILL, { lastsSeconds: -1_000 })), /authorization is expired/);
    await does(t, deposit(filling));
  });

  t.test(`${name}: terms that no channel may have are refused`, async (t) => {
    const filling = await signFilling(newConfig(), FILL);
    await refuses(t, deposit(filling, 0n), /^ZeroDeposit$/);
    await refuses(t, deposit(filling, FILL, zeroAddress), /^InvalidCollector$/);
    const filledWith = async (extra: Partial<ChannelConfig>) => deposit(await signFilling(newConfig(extra), 1n));
    for (const member of ['payer', 'receiver', 'receiverAuthorizer', 'token']) {
      await refuses(t, await filledWith({ [member]: zeroAddress }), /^InvalidChannel$/);
    }
    for (const withdrawDelay of [0, 899, 2_592_001]) {
      await refuses(t, await filledWith({ withdrawDelay }), /^WithdrawDelayOutOfRange$/);
    }
    for (const withdrawDelay of [900, 2_592_000]) await does(t, await filledWith({ withdrawDelay }));
    await does(t, await filledWith({ payerAuthorizer: zeroAddress }));
  });

  t.test(`${name}: no more is put in than can be counted`, async (t) => {
    const config = newConfig();
    const slot = keccak256(
      encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [idOf(config), CHANNELS_SLOT]),
    );
    const full = 2n ** 128n - 1n;
    await scene.rpc('anvil_setStorageAt', [SETTLEMENT, slot, numberToHex(full - 1n, { size: 32 })]);
    t.same(await channel(config), [full - 1n, 0n]);
    await refuses(t, deposit(await signFilling(config, 2n)), /^DepositOverflow$/);
    await does(t, deposit(await signFilling(config, 1n)));
    t.same(await channel(config), [full, 0n]);
  });

  t.test(`${name}: a collector that brings nothing, too little or too much puts nothing in`, async (t) => {
    const collector: Address = '0x00000000000000000000000000000000001d1e03';
    await does(t, { from: payer, to: token, abi: erc20Abi, functionName: 'transfer', args: [collector, 3n * FILL] });
    const filling = await signFilling(newConfig(), FILL);
    const codes = [
      answering(0),
      sending(token, SETTLEMENT, FILL - 1n),
      sending(token, SETTLEMENT, FILL + 1n),
      sending(token, stranger.address, FILL),
    ];
    for (const code of codes) {
      await scene.rpc('anvil_setCode', [collector, code]);
      await refuses(t, deposit(filling, FILL, collector), /^DepositCollectionFailed$/);
    }
    await scene.rpc('anvil_setCode', [collector, sending(token, SETTLEMENT, FILL)]);
    await does(t, deposit(filling, FILL, collector));
    t.same(await channel(filling.config), [FILL, 0n]);
  });

  t.test(`${name}: what is brought for one channel does not count for another around it`, async (t) => {
    const crook: Address = '0x00000000000000000000000000000000001d1e04';
    await scene.rpc('anvil_setCode', [crook, callingBack(SETTLEMENT, COLLECTOR_DATA_AT)]);
    const inner = await signFilling(newConfig(), FILL);
    const { functionName, args } = deposit(inner);
    const data = encodeFunctionData({ abi: settlementAbi, functionName, args });
    const outer = { from: stranger, functionName, args: [newConfig(), FILL, crook, data] };
    await refuses(t, outer, /^DepositCollectionFailed$/);
  });

  t.test(`${name}: nothing is done with channels while a collector is at work`, async (t) => {
    const crook: Address = '0x00000000000000000000000000000000001d1e05';
    await scene.rpc('anvil_setCode', [crook, tellingOf(SETTLEMENT, COLLECTOR_DATA_AT)]);
    const config = newConfig();
    const row = await scene.row(config, 0n);
    const inside = [
      deposit(await signFilling(config, FILL)),
      calls.claim([row]),
      calls.claimSigned([row], '0x'),
      calls.settle(),
      calls.withdraw(config),
      calls.refund(config, 1n),
      calls.refundSigned(config, 1n, 0n, '0x'),
    ];
    for (const { functionName, args } of inside) {
      const data = encodeFunctionData({ abi: settlementAbi, functionName, args });
      const outer = { functionName: 'deposit', args: [newConfig(), FILL, crook, data] };
      t.equal(await scene.refusal(outer, crook), 'ReentrancyGuardReentrantCall', functionName);
    }
  });

  t.test(`${name}: only the collector uses the authorization, and only for the channels`, async (t) => {
    const filling = await signFilling(newConfig(), FILL);
    const { config, amount, validAfter, validBefore, salt, signature } = filling;
    const id = idOf(config);
    const nonce = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [id, salt]));
    const args = [payer.address, COLLECTOR, amount, validAfter, validBefore, nonce, signature];
    const take = { from: stranger, to: token, abi: receiveAbi, functionName: 'receiveWithAuthorization', args };
    await refuses(t, take, /caller must be the payee/);
    const collecting = [payer.address, token, amount, id, collectorData(filling)];
    const collect = { from: stranger, to: COLLECTOR, abi: collectorAbi, functionName: 'collect', args: collecting };
    await refuses(t, collect, /^OnlySettlement$/);
    await does(t, deposit(filling));
  });

  t.test(`${name}: a wallet that is a contract fills a channel by what it takes for its signature`, async (t) => {
    const wallet: Address = '0x00000000000000000000000000000000001d1e06';
    await does(t, { from: payer, to: token, abi: erc20Abi, functionName: 'transfer', args: [wallet, FILL] });
    const signer = scene.contractAt(wallet);
    const config = newConfig({ payer: wallet });
    const forgotten = await signFilling(config, FILL, { signer });
    const filling = await signFilling(config, FILL, { signer });
    await refuses(t, deposit(forgotten), /invalid signature/);
    await does(t, deposit(filling));
    t.same(await channel(config), [FILL, 0n]);
    t.equal(await scene.balance(wallet), 0n);
  });
}

t.end();
