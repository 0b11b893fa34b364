/** Driving channels by what a node answers: its refusals, its silences, and transactions that come to nothing. */
import t, { type Test } from 'tap';
import {
  type Address,
  decodeFunctionData,
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionResult,
  type Hex,
  numberToHex,
  parseAbi,
  parseSignature,
  recoverAddress,
} from 'viem';
import type { ChannelConfig } from '../../../src/on-chain/channel-config.ts';
import { BATCH_SETTLEMENT, EIP3009_DEPOSITS } from '../../../src/on-chain/escrow-contracts.ts';
import { channelId, depositNonce, voucherDigest } from '../../../src/payment/channels/channel.ts';
import type { ChannelClaim, Deposit } from '../../../src/payment/channels/operator.ts';
import { FacilitatorUnreachable } from '../../../src/payment/facilitators/facilitator.ts';
import { createLocalEvmNetwork } from '../../../src/payment/facilitators/local-evm.ts';
import { ownNonces } from '../../../src/payment/facilitators/own-nonces.ts';
import { CAIP2, config, signatureOf } from '../channels/paying.ts';
import { type RpcNode, reverted, rpcNode } from './rpc-node.ts';

const CHAIN_ID = Number(CAIP2.split(':')[1]);
const KEY: Hex = `0x${'2'.repeat(64)}`;
const CHANNEL = channelId(CHAIN_ID, config);

/** The contract, and the token's part that says whether an authorization was used. */
const abi = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }',
  'struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }',
  'function deposit(ChannelConfig config, uint128 amount, address collector, bytes collectorData)',
  'function claim(VoucherClaim[] voucherClaims)',
  'function settle(address receiver, address token)',
  'function refund(ChannelConfig config, uint128 amount)',
  'function multicall(bytes[] data) returns (bytes[])',
  'function channels(bytes32) view returns (uint128 balance, uint128 totalClaimed)',
  'function pendingWithdrawals(bytes32) view returns (uint128 amount, uint40 initiatedAt)',
  'function refundNonce(bytes32) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'error DepositCollectionFailed()',
  'error InvalidSignature()',
]);
const failing = (errorName: 'DepositCollectionFailed' | 'InvalidSignature') =>
  reverted(encodeErrorResult({ abi, errorName }));

/** Who drives channels through a node, and the contract behind that. */
async function scene(t: Test, { nativeValue = 0n } = {}) {
  const node = rpcNode(t, CHAIN_ID);
  const contract = {
    /** Salts of channels whose claims are turned down. */
    bad: new Set<string>(),
    /** Receivers that the token sends nothing. */
    frozen: new Set<string>(),
    takesDeposits: true,
    /** What was signed for a deposit, once it was used. */
    used: new Set<string>(),
    calls: [] as (readonly [from: string | undefined, name: string])[],
  };
  node.answers.eth_call = ({ to, data, from }: { to: Address; data: Hex; from?: string }, block: Hex) => {
    const call = decodeFunctionData({ abi, data });
    contract.calls.push([from, call.functionName]);
    const isContract = to.toLowerCase() === BATCH_SETTLEMENT.toLowerCase();
    if (call.functionName === 'authorizationState') {
      const [authorizer, nonce] = call.args;
      const isOurs = to.toLowerCase() === config.token && authorizer.toLowerCase() === config.payer;
      if (!isOurs) throw reverted();
      return encodeFunctionResult({ abi, functionName: call.functionName, result: contract.used.has(nonce) });
    }
    if (!isContract) throw reverted();
    switch (call.functionName) {
      case 'channels':
        if (block !== '0x10' || call.args[0] !== CHANNEL) throw reverted();
        return encodeFunctionResult({ abi, functionName: call.functionName, result: [900n, 300n] });
      case 'pendingWithdrawals':
        return encodeFunctionResult({ abi, functionName: call.functionName, result: [5n, 1_700_000_123] });
      case 'refundNonce':
        return encodeFunctionResult({ abi, functionName: call.functionName, result: 4n });
      case 'claim':
        if (call.args[0].some(({ voucher }) => contract.bad.has(voucher.channel.salt)))
          throw failing('InvalidSignature');
        return '0x';
      case 'multicall':
        for (const each of call.args[0]) {
          const { functionName, args } = decodeFunctionData({ abi, data: each });
          if (functionName === 'settle' && contract.frozen.has(args[0].toLowerCase())) throw reverted();
        }
        return '0x';
      case 'deposit':
        if (!contract.takesDeposits) throw failing('DepositCollectionFailed');
        return '0x';
      default:
        throw reverted();
    }
  };
  const network = createLocalEvmNetwork(
    { caip2: CAIP2, chainId: CHAIN_ID, rpcUrl: node.url, privateKey: KEY, nativeValue },
    ownNonces,
    { confirmationTimeoutMs: 20 },
  );
  t.teardown(network.close);
  const { channels } = network;
  if (!channels) throw new Error('nobody drives channels');
  return { node, contract, operator: channels };
}

/** What the contract was called with, in one transaction. */
function calledIn({ sent }: RpcNode, at = 0): unknown[] {
  const data = sent[at]?.data ?? '0x';
  const call = decodeFunctionData({ abi, data });
  if (call.functionName !== 'multicall') return [call.functionName, ...call.args];
  return call.args[0].map((each) => {
    const { functionName, args } = decodeFunctionData({ abi, data: each });
    return [functionName, ...(args ?? [])];
  });
}

const configWith = (salt: number, changes: Partial<ChannelConfig> = {}): ChannelConfig => ({
  ...config,
  ...changes,
  salt: numberToHex(salt, { size: 32 }),
});
const claimOf = (salt: number, changes: Partial<ChannelClaim> = {}): ChannelClaim => ({
  config: configWith(salt),
  max: 200n,
  signature: `0x${'ab'.repeat(65)}`,
  charged: 150n,
  due: 60n,
  ...changes,
});
const DEPOSIT: Deposit = {
  amount: 1_000n,
  validAfter: 1n,
  validBefore: 2_000_000_000n,
  salt: `0x${'5'.repeat(64)}`,
  signature: `0x${'cd'.repeat(65)}`,
};
const NONCE = depositNonce(CHANNEL, DEPOSIT.salt);

/** Addresses without their case, to compare what was decoded with what was given. */
const lower = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each)).toLowerCase());

const HASH = /^0x[0-9a-f]{64}$/;
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const ORDER = 2n * HALF_ORDER + 1n;

t.test('a voucher is signed where the key of its channel signed for that sum, as the contract takes it', async (t) => {
  const { operator, node } = await scene(t);
  const isSigned = (max: bigint, signature: string, by = config) => operator.isSigned(CHANNEL, by, { max, signature });
  const seen = new Set<string>();
  for (let max = 1n; max <= 4n; max += 1n) {
    const good = await signatureOf(max);
    const { r, s, v } = parseSignature(good);
    seen.add(String(v));
    t.equal(await isSigned(max, good), true);
    t.equal(await isSigned(max, `0x${good.slice(2).toUpperCase()}`), true);
    t.equal(await isSigned(max + 1n, good), false, 'for another sum');
    const rest = good.slice(0, -2);
    const bad: Record<string, string> = {
      'by another': await signatureOf(max, KEY),
      'with the other v': rest + (v === 27n ? '1c' : '1b'),
      'with v from 0': rest + (v === 27n ? '00' : '01'),
      'with v past 28': `${rest}1d`,
      'a byte too long': `${good}1b`,
      'a byte too short': rest,
      'without 0x': good.slice(2),
      'its twin': r + numberToHex(ORDER - BigInt(s), { size: 32 }).slice(2) + (v === 27n ? '1c' : '1b'),
      'of nothing': '0x',
      'no point of the curve': `0x${'f'.repeat(64)}${s.slice(2)}1b`,
    };
    for (const [name, signature] of Object.entries(bad)) t.equal(await isSigned(max, signature), false, name);
  }
  t.same([...seen].sort(), ['27', '28']);
  t.same(node.asked, [], 'the chain is not asked');
});

t.test('the highest half of the curve is none of the contract’s', async (t) => {
  const { operator } = await scene(t);
  const { r } = parseSignature(await signatureOf(1n));
  for (const [s, expected] of [
    [HALF_ORDER, true],
    [HALF_ORDER + 1n, false],
  ] as const) {
    const signature = `${r}${numberToHex(s, { size: 32 }).slice(2)}1b` as Hex;
    const signer = await recoverAddress({ hash: voucherDigest(CHAIN_ID, CHANNEL, 7n) as Hex, signature });
    const by = { ...config, payerAuthorizer: signer.toLowerCase() };
    t.equal(await operator.isSigned(CHANNEL, by, { max: 7n, signature }), expected);
  }
});

t.test('how a channel stands is read at one block', async (t) => {
  const { operator, node } = await scene(t);
  t.same(await operator.read(CHANNEL), {
    balance: '900',
    totalClaimed: '300',
    withdrawRequestedAt: 1_700_000_123,
    refundNonce: '4',
  });
  node.silent.add('eth_call');
  await t.rejects(operator.read(CHANNEL), {
    constructor: FacilitatorUnreachable,
    message: 'the chain could not be asked about the channel',
  });
});

t.test('a deposit is good where the contract would take it and it is worth its gas', async (t) => {
  const { operator, node, contract } = await scene(t);
  t.same(await operator.verifyDeposit(config, DEPOSIT), { valid: true, payer: config.payer });
  t.same(contract.calls, [[operator.authorizer, 'deposit']], 'run as it would be sent');
  contract.takesDeposits = false;
  node.answers.eth_estimateGas = () => {
    throw reverted();
  };
  t.same(await operator.verifyDeposit(config, DEPOSIT), { valid: false, reason: 'DepositCollectionFailed' });
  node.silent.add('all');
  await t.rejects(operator.verifyDeposit(config, DEPOSIT), {
    constructor: FacilitatorUnreachable,
    message: 'the chain could not be asked about the deposit',
  });
  const dear = await scene(t, { nativeValue: 10n ** 18n });
  t.match(await dear.operator.verifyDeposit(config, DEPOSIT), { valid: false, reason: /more than half the price/ });
  t.same(node.sent, []);
});

t.test('whether a deposit was made the token says', async (t) => {
  const { operator, node, contract } = await scene(t);
  t.equal(await operator.isDeposited(config, DEPOSIT), false);
  contract.used.add(NONCE);
  t.equal(await operator.isDeposited(config, DEPOSIT), true);
  node.silent.add('eth_call');
  await t.rejects(operator.isDeposited(config, DEPOSIT), {
    constructor: FacilitatorUnreachable,
    message: 'the chain could not be asked about the deposit',
  });
});

t.test('a deposit is sent as it was signed, and is there once its transaction went through', async (t) => {
  const { operator, node } = await scene(t);
  t.match(await operator.deposit(config, DEPOSIT), { state: 'settled', transaction: HASH, amount: 1_000n });
  const collected = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }],
    [DEPOSIT.validAfter, DEPOSIT.validBefore, BigInt(DEPOSIT.salt), DEPOSIT.signature as Hex],
  );
  t.same(lower(calledIn(node)), lower(['deposit', config, 1_000n, EIP3009_DEPOSITS, collected]));
  t.equal(node.sent[0]?.to?.toLowerCase(), BATCH_SETTLEMENT.toLowerCase());
});

t.test('a deposit that does not go through is asked of the token', async (t) => {
  const pending = { state: 'unknown', reason: 'the chain has not confirmed the deposit' };
  const madeBefore = { state: 'settled', transaction: '', amount: 1_000n };
  const cases: readonly [name: string, given: (parts: Awaited<ReturnType<typeof scene>>) => void, expected: object][] =
    [
      [
        'it reverts in its block',
        ({ node }) => {
          node.ends = 'reverted';
        },
        { state: 'refused', reason: 'the contract turned the deposit down' },
      ],
      [
        'it reverts, for it was made before',
        ({ node, contract }) => {
          node.ends = 'reverted';
          contract.used.add(NONCE);
        },
        madeBefore,
      ],
      [
        'it reverts, and the token is not heard of',
        ({ node }) => {
          node.ends = 'reverted';
          node.silent.add('eth_call');
        },
        { state: 'refused', reason: 'the contract turned the deposit down' },
      ],
      [
        'it is in no block yet',
        ({ node }) => {
          node.ends = undefined;
        },
        pending,
      ],
      [
        'it is in no block that we hear of, and was made',
        ({ node, contract }) => {
          node.ends = undefined;
          contract.used.add(NONCE);
        },
        madeBefore,
      ],
      ['no answer at all', ({ node }) => void node.silent.add('all'), pending],
      [
        'it is not sent, for its estimate fails',
        ({ node }) => {
          node.answers.eth_estimateGas = () => {
            throw reverted();
          };
        },
        { state: 'refused', reason: 'Execution reverted for an unknown reason.' },
      ],
    ];
  for (const [name, given, expected] of cases) {
    const parts = await scene(t);
    given(parts);
    t.same(await parts.operator.deposit(config, DEPOSIT), expected, name);
  }
});

t.test('what the contract would turn down is left out of a claim, wherever it stands', async (t) => {
  const { operator, node, contract } = await scene(t);
  const rows = [1, 2, 3, 4, 5, 6, 7].map((salt) => claimOf(salt));
  for (const salt of [1, 4, 5, 7]) contract.bad.add(configWith(salt).salt);
  const { claimed, refused, transaction } = await operator.claim(rows);
  const saltsOf = (claims: readonly ChannelClaim[]) => claims.map(({ config }) => Number(config.salt));
  t.same(
    [saltsOf(claimed), saltsOf(refused)],
    [
      [2, 3, 6],
      [1, 4, 5, 7],
    ],
  );
  t.match(transaction, HASH);
  t.same(lower(calledIn(node)), [
    [
      'claim',
      lower(
        claimed.map(({ config, max, signature, charged }) => ({
          voucher: { channel: config, maxClaimableAmount: max },
          signature,
          totalClaimed: charged,
        })),
      ),
    ],
    ['settle', config.receiver, config.token],
  ]);
  t.equal(contract.calls[0]?.[0], operator.authorizer, 'run as it would be sent');
});

t.test('what is claimed goes to each receiver, in each token', async (t) => {
  const { operator, node } = await scene(t);
  const other = `0x${'9'.repeat(40)}`;
  const rows = [
    claimOf(1),
    claimOf(2, { config: configWith(2, { receiver: other }) }),
    claimOf(3),
    claimOf(4, { config: configWith(4, { token: other }) }),
  ];
  await operator.claim(rows);
  t.same(
    lower(calledIn(node).slice(1)),
    lower([
      ['settle', config.receiver, config.token],
      ['settle', other, config.token],
      ['settle', config.receiver, other],
    ]),
  );
  t.equal(node.sent.length, 1);
});

t.test('what is claimed for a receiver that its token sends nothing is claimed all the same', async (t) => {
  const { operator, node, contract } = await scene(t);
  const other = `0x${'9'.repeat(40)}`;
  contract.frozen.add(other);
  const rows = [claimOf(1), claimOf(2, { config: configWith(2, { receiver: other }) })];
  t.match(await operator.claim(rows), { claimed: rows, unsent: [other] });
  const [claimed, ...settled] = calledIn(node) as [string, unknown[]][];
  t.match(claimed, ['claim', { length: 2 }]);
  t.same(lower(settled), lower([['settle', config.receiver, config.token]]));
});

t.test('where nothing can be claimed nothing is sent', async (t) => {
  const { operator, node, contract } = await scene(t);
  t.same(await operator.claim([]), { claimed: [], refused: [], unsent: [], transaction: undefined });
  t.same(node.asked, []);
  contract.bad.add(configWith(1).salt);
  const row = claimOf(1);
  t.same(await operator.claim([row]), { claimed: [], refused: [row], unsent: [], transaction: undefined });
  t.same(node.sent, []);
});

t.test('a claim that nobody can be asked about, or that is in no block, is refused to nobody', async (t) => {
  const cases: readonly [given: (node: RpcNode) => void, message: string][] = [
    [(node) => void node.silent.add('eth_call'), 'the chain could not be asked about the claims'],
    [
      (node) => {
        node.ends = undefined;
      },
      'the chain has not confirmed the claims',
    ],
    [
      (node) => {
        node.ends = 'reverted';
      },
      'the chain has not confirmed the claims',
    ],
  ];
  for (const [given, message] of cases) {
    const { operator, node } = await scene(t);
    given(node);
    await t.rejects(operator.claim([claimOf(1)]), { constructor: FacilitatorUnreachable, message });
  }
});

/** At this price of a coin a transaction has to be worth 100 atomic units. */
const WORTH_100 = (100n * 10n ** 18n) / (2n * 110_000n * 1_200_000_000n);

t.test('claims are sent where they are worth their gas together', async (t) => {
  const { operator, node } = await scene(t, { nativeValue: WORTH_100 });
  await t.rejects(operator.claim([claimOf(1)]), {
    constructor: FacilitatorUnreachable,
    message: /^settling costs more than half the price/,
  });
  t.equal(node.sent.length, 0);
  t.match(await operator.claim([claimOf(1), claimOf(2)]), { transaction: HASH });
  t.equal(node.sent.length, 1);
});

t.test('what is due is claimed with what is given back, and where nothing is due nothing is', async (t) => {
  const { operator, node } = await scene(t);
  const row = claimOf(1, { due: 1n });
  t.match(await operator.refund(row, 70n), { state: 'settled', transaction: HASH, amount: 70n });
  const { config: given, max, signature, charged } = row;
  const voucher = { channel: given, maxClaimableAmount: max };
  t.same(
    lower(calledIn(node)),
    lower([
      ['claim', [{ voucher, signature, totalClaimed: charged }]],
      ['settle', given.receiver, given.token],
      ['refund', given, 70n],
    ]),
  );
  await operator.refund(claimOf(1, { due: 0n }), 80n);
  t.same(lower(calledIn(node, 1)), lower([['refund', given, 80n]]));
});

t.test('a refund that does not go through is refused only where it cannot any more', async (t) => {
  const [unconfirmed, turnedDown] = [await scene(t), await scene(t)];
  unconfirmed.node.ends = undefined;
  t.same(await unconfirmed.operator.refund(claimOf(1), 70n), {
    state: 'unknown',
    reason: 'the chain has not confirmed the refund',
  });
  turnedDown.node.ends = 'reverted';
  t.same(await turnedDown.operator.refund(claimOf(1), 70n), {
    state: 'refused',
    reason: 'the contract turned the refund down',
  });
  const dear = await scene(t, { nativeValue: WORTH_100 });
  const opened = claimOf(1, { charged: 29n, due: 0n });
  t.match(await dear.operator.refund(opened, 70n), {
    state: 'refused',
    reason: /^its transaction costs more than half of what the channel was charged and has left: ask again when/,
  });
  t.match(await dear.operator.refund(opened, 71n), { state: 'settled' });
  t.match(await dear.operator.refund(claimOf(1, { charged: 99n }), 1n), { state: 'settled' }, 'its calls paid for it');
});
