/** Wallets that pay before they exist: which are deployed, at whose cost, and what becomes of those that are not. */
import { setImmediate as immediately } from 'node:timers/promises';
import t, { type Test } from 'tap';
import {
  type Address,
  decodeFunctionData,
  encodeAbiParameters,
  encodeErrorResult,
  encodeEventTopics,
  encodeFunctionResult,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  parseTransaction,
  serializeErc6492Signature,
} from 'viem';
import type { ChannelConfig } from '../../../src/on-chain/channel-config.ts';
import { FacilitatorUnreachable } from '../../../src/payment/facilitators/facilitator.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { signPayload } from '../../exact-offer.ts';
import { baseSepolia } from './networks.ts';
import { NodeRefusal, type RpcNode, reverted, rpcNode } from './rpc-node.ts';

const { caip2, asset } = baseSepolia.live;
const CHAIN_ID = Number(caip2.split(':')[1]);
const TOKEN = asset.address.toLowerCase() as Address;
const KEY: Hex = `0x${'2'.repeat(64)}`;
const PAY_TO: Address = `0x${'8'.repeat(40)}`;
const ALLOWED = '0x00000000000000000000000000000000000fac01';
const OTHER = '0x00000000000000000000000000000000000fac02';
/** Nothing is deployed there. */
const ABSENT = '0x00000000000000000000000000000000000fac03';
/** Many calls at once. */
const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11';
const START = 1_700_000_000_000;
const HOUR = 3_600_000;
const PRICE = 60_000n;

const abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function balanceOf(address) view returns (uint256)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function authorizationState(address, bytes32) view returns (bool)',
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[])',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'error Error(string)',
]);
const saying = (words: string) =>
  new NodeRefusal(3, `execution reverted: ${words}`, encodeErrorResult({ abi, errorName: 'Error', args: [words] }));

/** What every wallet here takes for signed. */
const GOOD: Hex = `0x${'aa'.repeat(66)}`;
const BAD: Hex = `0x${'bb'.repeat(66)}`;
const MAGIC = '0x1626ba7e';

interface Options {
  readonly factories?: readonly string[];
  readonly nativeValue?: bigint;
  readonly confirmationTimeoutMs?: number;
}

/** A facilitator on a node, behind which are a token, two factories, and wallets that each may not exist. */
async function scene(t: Test, { factories = [ALLOWED], nativeValue = 0n, confirmationTimeoutMs = 20 }: Options = {}) {
  const node = rpcNode(t, CHAIN_ID);
  const clock = { now: START };
  const told = () => clock.now;
  t.intercept(Date, 'now', { value: told });
  t.intercept(performance, 'now', { value: told });
  const transfers = new Map<Hex, readonly object[]>();
  const world = {
    ...{ node, clock },
    /** Those that exist. */
    wallets: new Set<string>(),
    balance: 1_000_000n,
    /** Whether what a factory is called with makes the wallet that it names. */
    deploys: (_wallet: string): boolean => true,
    /** What a factory makes in place of the wallet that was named. */
    makes: (wallet: string): string => wallet,
    /** Why the token turns a transfer down that it would take otherwise. */
    fault: undefined as NodeRefusal | undefined,
    /** What a deployed wallet's transfer meets when it is sent. */
    sendingFault: undefined as NodeRefusal | undefined,
    settlingGas: 80_000n,
    /** A wallet is seen when it was looked for so often since the last transaction. */
    seenAt: 0,
    /** What passes with each of these looks. */
    lookMs: 0,
    /** How often it was looked for a wallet since the last transaction. */
    looks: () => {
      const last = node.asked.lastIndexOf('eth_sendRawTransaction');
      return last < 0 ? 0 : node.asked.slice(last).filter((method) => method === 'eth_getCode').length;
    },
    /** Where transactions went. */
    sentTo: () => node.sent.map(({ to }) => to?.toLowerCase()),
  };

  /** Throws NodeRefusal for one that nothing here has. */
  function callIn(data: Hex) {
    try {
      return decodeFunctionData({ abi, data });
    } catch {
      throw reverted();
    }
  }

  const exists = (address: string): boolean => world.wallets.has(address.toLowerCase());

  /** What a call answers, by those that exist then. Throws NodeRefusal. */
  function answer(to: string, data: Hex, isThere: (address: string) => boolean, seconds: bigint): Hex {
    const target = to.toLowerCase();
    if (target !== TOKEN && target !== MULTICALL && !isThere(target)) return '0x';
    const call = callIn(data);
    switch (call.functionName) {
      case 'isValidSignature': {
        const [, signature] = call.args;
        return encodeFunctionResult({
          abi,
          functionName: call.functionName,
          result: signature === GOOD ? MAGIC : '0xffffffff',
        });
      }
      case 'transferWithAuthorization': {
        const [from, , value, validAfter, validBefore, , signature] = call.args;
        if (world.fault) throw world.fault;
        // A key's, which the scheme has checked.
        if (call.args.length === 9) return '0x';
        if (seconds <= validAfter) throw saying('FiatTokenV2: authorization is not yet valid');
        if (seconds >= validBefore) throw saying('FiatTokenV2: authorization is expired');
        if (!isThere(from) || signature !== GOOD) throw saying('FiatTokenV2: invalid signature');
        if (value > world.balance) throw saying('ERC20: transfer amount exceeds balance');
        return '0x';
      }
      case 'balanceOf':
        return encodeFunctionResult({ abi, functionName: call.functionName, result: world.balance });
      case 'name':
      case 'version':
        return encodeFunctionResult({ abi, functionName: call.functionName, result: asset[call.functionName] ?? '' });
      case 'authorizationState':
        return encodeFunctionResult({ abi, functionName: call.functionName, result: false });
      case 'aggregate3':
        return encodeFunctionResult({
          abi,
          functionName: call.functionName,
          result: call.args[0].map(({ target, callData }) => ({
            success: true,
            returnData: answer(target, callData, isThere, seconds),
          })),
        });
      default:
        throw reverted();
    }
  }

  const seconds = () => BigInt(Math.floor(clock.now / 1000));
  const isFactory = (to: string) => [ALLOWED, OTHER].includes(to.toLowerCase());
  /** A factory is called with the address of the wallet that it is to deploy. */
  const walletOf = (data: Hex): string => data.toLowerCase();
  /** What is there already cannot be made again. */
  const canDeploy = (wallet: string): boolean => !exists(wallet) && world.deploys(wallet);

  Object.assign(node.answers, {
    eth_getCode(address: string) {
      const code = '0x6001';
      if (isFactory(address) || address.toLowerCase() === TOKEN) return code;
      if (world.looks() > 0) clock.now += world.lookMs;
      return exists(address) && world.looks() >= world.seenAt ? code : '0x';
    },
    eth_call: ({ to, data }: { to: string; data: Hex }) => answer(to, data, exists, seconds()),
    eth_estimateGas({ to, data, input = data }: { to: string; data: Hex; input?: Hex }) {
      if (isFactory(to)) {
        if (!canDeploy(walletOf(input))) throw reverted();
        return numberToHex(node.gas);
      }
      if (world.sendingFault) throw world.sendingFault;
      answer(to, input, exists, seconds());
      return numberToHex(world.settlingGas);
    },
    eth_simulateV1({
      blockStateCalls,
    }: {
      blockStateCalls: { blockOverrides?: { time?: Hex }; calls: { to: string; data: Hex }[] }[];
    }) {
      let last = node.timestamp;
      const made = new Set<string>();
      const isThere = (address: string) => exists(address) || made.has(address.toLowerCase());
      return blockStateCalls.map(({ blockOverrides, calls }, at) => {
        const time = blockOverrides?.time === undefined ? last + 12n : BigInt(blockOverrides.time);
        if (time <= last) throw new NodeRefusal(-38021, 'block timestamps must be in order');
        last = time;
        const block = { number: numberToHex(17 + at), timestamp: numberToHex(time), transactions: [] };
        return {
          ...block,
          calls: calls.map(({ to, data }) => {
            const logs: object[] = [];
            if (isFactory(to)) {
              const gasUsed = numberToHex(node.gas);
              if (!canDeploy(walletOf(data)))
                return { status: '0x0', gasUsed, returnData: '0x', logs, error: { code: 3, message: 'reverted' } };
              made.add(world.makes(walletOf(data)));
              return { status: '0x1', gasUsed, returnData: '0x', logs };
            }
            try {
              const isPlain = data === undefined;
              const returnData = isPlain ? '0x' : answer(to, data, isThere, time);
              // A check of a signature takes less than the transfer that it is for.
              const gas = returnData === '0x' ? world.settlingGas : 30_000n;
              return { status: '0x1', gasUsed: numberToHex(gas), returnData, logs };
            } catch (error) {
              if (!(error instanceof NodeRefusal)) throw error;
              const { code, message, data: said } = error;
              return { status: '0x0', gasUsed: '0x1', logs, error: { code, message, ...(said && { data: said }) } };
            }
          }),
        };
      });
    },
    eth_sendRawTransaction(serialized: Hex) {
      const transaction = parseTransaction(serialized);
      const { to, data } = transaction;
      node.sent.push(transaction as (typeof node.sent)[number]);
      const hash = keccak256(serialized);
      if (node.ends !== 'success') return hash;
      if (isFactory(String(to))) world.wallets.add(walletOf(data ?? '0x'));
      else {
        const call = decodeFunctionData({ abi, data: data ?? '0x' });
        if (call.functionName !== 'transferWithAuthorization') throw new Error('only the price is moved here');
        const [from, receiver, value] = call.args;
        world.balance -= value;
        transfers.set(hash, [
          {
            ...{ address: TOKEN, blockHash: hash, blockNumber: '0x11', logIndex: '0x0', removed: false },
            ...{ transactionHash: hash, transactionIndex: '0x0' },
            topics: encodeEventTopics({ abi, eventName: 'Transfer', args: { from, to: receiver } }),
            data: encodeAbiParameters([{ type: 'uint256' }], [value]),
          },
        ]);
      }
      return hash;
    },
  });
  node.logsOf = (hash) => transfers.get(hash) ?? [];
  node.timestamp = seconds() - 2n;

  const facilitator = localFacilitator({
    evm: [{ caip2, chainId: CHAIN_ID, rpcUrl: node.url, privateKey: KEY, nativeValue, walletFactories: factories }],
    solana: [],
    confirmationTimeoutMs,
    // Nothing is sent a second time meanwhile.
    resendAfterMs: HOUR,
  });
  t.teardown(facilitator.close);
  /** What the operator is told of the factories. */
  const notice = async () => (await facilitator.supported()).find(({ scheme }) => scheme === 'exact')?.notice;
  await notice();
  return {
    ...world,
    world,
    notice,
    verify: (paid: Paid) => facilitator.verify(...paidBy(paid, clock.now)),
    settle: (paid: Paid) => facilitator.settle(...paidBy(paid, clock.now)),
    facilitator,
  };
}

type Scene = Awaited<ReturnType<typeof scene>>;

let wallets = 0;
/** An address that nothing is at. */
const newWallet = (): Address => {
  wallets += 1;
  return `0x${wallets.toString(16).padStart(40, 'e')}`;
};

interface Paid {
  readonly wallet: Address;
  readonly factory?: string;
  readonly price?: bigint;
  /** What the wallet has signed. */
  readonly signature?: Hex;
  /** What the factory is called with, if not with the wallet. */
  readonly calldata?: Hex;
  /** As the wallet itself signs, without what deploys it. */
  readonly isBare?: boolean;
  readonly validAfter?: bigint;
  readonly token?: string;
}

let nonces = 0;
function paidBy(
  {
    wallet,
    factory = ALLOWED,
    price = PRICE,
    signature = GOOD,
    calldata = wallet,
    isBare = false,
    validAfter = 0n,
    token = TOKEN,
  }: Paid,
  now: number,
): [payload: object, requirements: object] {
  nonces += 1;
  const accepted = {
    ...{ scheme: 'exact', network: caip2, amount: price.toString(), asset: token, payTo: PAY_TO },
    ...{ maxTimeoutSeconds: 300, extra: { name: asset.name, version: asset.version } },
  };
  const authorization = {
    ...{ from: wallet, to: PAY_TO, value: price.toString(), validAfter: validAfter.toString() },
    ...{ validBefore: String(Math.floor(now / 1000) + 3_600), nonce: numberToHex(nonces, { size: 32 }) },
  };
  const wrapped = serializeErc6492Signature({ address: factory as Address, data: calldata, signature });
  return [{ x402Version: 2, accepted, payload: { signature: isBare ? signature : wrapped, authorization } }, accepted];
}

const deploysOf = ({ sentTo }: { sentTo(): (string | undefined)[] }) => sentTo().filter((to) => to === ALLOWED).length;
/** What the node does with the next transaction, in place of taking it. */
function firstSend({ answers }: RpcNode, does: () => unknown): void {
  const usual = answers.eth_sendRawTransaction;
  answers.eth_sendRawTransaction = () => {
    Object.assign(answers, { eth_sendRawTransaction: usual });
    return does();
  };
}
const turnDown = (): never => {
  throw new NodeRefusal(-32000, 'insufficient funds for gas * price + value');
};
const NOT_CONFIRMED = { state: 'unknown', reason: 'the chain could not be asked about the payment' };

t.test('a wallet that does not exist is deployed before it pays, and only then', async (t) => {
  const { verify, settle, sentTo, world, node } = await scene(t);
  const wallet = newWallet();
  t.same(await verify({ wallet }), { valid: true, payer: wallet, deploys: true });
  t.same(sentTo(), [], 'to look at a payment moves nothing');
  t.match(await settle({ wallet }), { state: 'settled', transaction: /^0x[0-9a-f]{64}$/, amount: PRICE });
  t.same(sentTo(), [ALLOWED, TOKEN]);
  t.match(node.sent[0], { data: wallet, gas: 110_000n });
  t.equal(world.balance, 1_000_000n - PRICE);

  t.same(await verify({ wallet }), { valid: true, payer: wallet });
  t.match(await settle({ wallet }), { state: 'settled' });
  t.match(await settle({ wallet, isBare: true }), { state: 'settled' });
  t.same(sentTo(), [ALLOWED, TOKEN, TOKEN, TOKEN]);
});

t.test('who signs with a key pays without any of this', async (t) => {
  const { facilitator, node } = await scene(t);
  node.asked.length = 0;
  const offer = {
    ...{ scheme: 'exact', network: caip2, amount: PRICE.toString(), asset: TOKEN, payTo: PAY_TO },
    ...{ maxTimeoutSeconds: 300, extra: { name: String(asset.name), version: String(asset.version) } },
  };
  const payment = await signPayload(offer, `0x${'3'.repeat(64)}`);
  t.same(await facilitator.verify(payment, offer), { valid: true, payer: payment.payload.authorization.from });
  t.notOk(node.asked.includes('eth_simulateV1'));
  const nobodys = { ...payment, payload: { ...payment.payload, authorization: {} } };
  t.match(await facilitator.verify(nobodys, offer), { valid: false });
});

t.test('the operator is told which factories cannot be used, and payers which can', async (t) => {
  const upper = `0x${ALLOWED.slice(2).toUpperCase()}`;
  const noSimulation = 'no wallets are deployed: the node does not answer eth_simulateV1';
  const cases: readonly [
    factories: readonly string[],
    simulates: boolean,
    notice: string | undefined,
    refusal: string | undefined,
  ][] = [
    [[], false, undefined, 'none is deployed here'],
    [[upper], true, undefined, undefined],
    [[OTHER], true, undefined, `those of ${OTHER} are deployed here`],
    [[ABSENT], true, `no wallets of ${ABSENT} are deployed: there is no contract`, 'none is deployed here'],
    [
      [OTHER, ABSENT, ALLOWED.replace('01', '09')],
      true,
      `no wallets of ${ABSENT}, ${ALLOWED.replace('01', '09')} are deployed: there is no contract`,
      `those of ${OTHER} are deployed here`,
    ],
    [[ALLOWED, ABSENT], false, noSimulation, 'none is deployed here'],
  ];
  for (const [factories, simulates, notice, refusal] of cases) {
    await t.test(`${factories.join(' and ')}${simulates ? '' : ', without simulation'}`, async (t) => {
      const given = await scene(t, { factories });
      if (!simulates) {
        given.node.answers.eth_simulateV1 = () => {
          throw new NodeRefusal(-32601, 'the method eth_simulateV1 does not exist');
        };
      }
      t.equal(await given.notice(), notice);
      const wallet = newWallet();
      const beginning = `the wallet that pays does not exist on the chain, and is of the factory ${ALLOWED}: `;
      const expected = refusal === undefined ? { valid: true } : { valid: false, reason: beginning + refusal };
      t.match(await given.verify({ wallet }), expected);
      if (refusal !== undefined)
        t.same(await given.settle({ wallet }), { state: 'refused', reason: beginning + refusal });
      t.equal(given.sentTo().length, 0);
    });
  }
});

t.test('a payment is tried at the time at which it will be settled, after the newest block', async (t) => {
  const { verify, node, clock } = await scene(t);
  const now = BigInt(clock.now / 1000);
  for (const behind of [100n, 1n, 0n, -1n, -5n]) {
    node.timestamp = now - behind;
    const verdict = await verify({ wallet: newWallet(), validAfter: now - 1n });
    t.match(verdict, { valid: true }, `the newest block is ${behind} seconds old`);
  }
});

t.test('what would not pay is not deployed', async (t) => {
  const too = 'within 500000 gas';
  const words: readonly [name: string, given: (made: Scene) => void, paid: Partial<Paid>, reason: RegExp | string][] = [
    [
      'the factory fails',
      ({ world }) => {
        world.deploys = () => false;
      },
      {},
      `the factory does not deploy the wallet that pays ${too}`,
    ],
    [
      'the factory makes another wallet',
      ({ world }) => {
        world.makes = () => newWallet();
      },
      {},
      'what the factory deploys is not the wallet that pays',
    ],
    ['the wallet has not signed', () => {}, { signature: BAD }, /signature is not the payer/],
    [
      'it has too little',
      ({ world }) => {
        world.balance = PRICE - 1n;
      },
      {},
      /^the payer has too few tokens/,
    ],
    [
      'the token turns it down in words',
      ({ world }) => {
        world.fault = saying('FiatTokenV2: authorization is expired');
      },
      {},
      /^the authorization has expired/,
    ],
    [
      'the token turns it down without a word',
      ({ world }) => {
        world.fault = reverted();
      },
      {},
      /^the transfer would fail on the chain/,
    ],
    ['there is no such token', () => {}, { token: `0x${'9'.repeat(40)}` }, /does not take this authorization/],
    [
      'deploying takes too much gas',
      ({ node }) => {
        node.gas = 500_001n;
      },
      {},
      'deploying the wallet takes more than 500000 gas',
    ],
  ];
  const made = await scene(t);
  const { deploys, makes, balance, fault } = made.world;
  const usual = { deploys, makes, balance, fault, gas: made.node.gas };
  for (const [name, given, paid, reason] of words) {
    Object.assign(made.world, usual);
    made.node.gas = usual.gas;
    given(made);
    const payment = { wallet: newWallet(), ...paid };
    t.match(await made.verify(payment), { valid: false, reason }, name);
    t.match(await made.settle(payment), { state: 'refused' }, name);
    t.same(made.sentTo(), [], name);
  }
});

t.test('the price has to be worth the deployment and the transfer', async (t) => {
  // 110,000 gas for the one and 88,000 for the other, at a fifth more than the base fee of a gwei.
  const cost = 198_000n * 1_200_000_000n;
  const nativeValue = (PRICE * 10n ** 18n) / (2n * cost);
  const { verify, settle, sentTo } = await scene(t, { nativeValue });
  const least = (cost * nativeValue * 2n + 10n ** 18n - 1n) / 10n ** 18n;
  const wallet = newWallet();
  const reason = `deploying the wallet and settling costs more than half the price: that has to be ${least} atomic units, or deploy the wallet first`;
  t.same(await verify({ wallet, price: least - 1n }), { valid: false, reason });
  t.same(await verify({ wallet, price: least / 10n }), { valid: false, reason }, 'however little it is');
  t.same(await settle({ wallet, price: least - 1n }), { state: 'refused', reason });
  t.same(sentTo(), []);
  t.match(await verify({ wallet, price: least }), { valid: true });
  t.match(await settle({ wallet, price: least }), { state: 'settled' });
});

t.test('a node that does not say what the deployment takes has refused nothing', async (t) => {
  const cases: readonly [name: string, given: (made: Scene) => void][] = [
    ['it does not estimate', ({ node }) => void node.silent.add('eth_estimateGas')],
    ['it does not simulate any more', ({ node }) => void node.silent.add('eth_simulateV1')],
    ['it says nothing of code', ({ node }) => void node.silent.add('eth_getCode')],
    [
      'it simulates the first call alone',
      ({ node }) => {
        const whole = node.answers.eth_simulateV1 as (given: object) => object[];
        node.answers.eth_simulateV1 = (given) => whole(given).slice(0, 1);
      },
    ],
  ];
  const made = await scene(t);
  for (const [name, given] of cases) {
    given(made);
    const payment = { wallet: newWallet() };
    await t.rejects(made.verify(payment), FacilitatorUnreachable, name);
    t.same(await made.settle(payment), NOT_CONFIRMED, name);
    t.same(made.sentTo(), [], name);
    made.node.silent.clear();
  }
});

t.test('a deployment that the node fails to estimate is refused in the words of the chain', async (t) => {
  const { verify, node } = await scene(t);
  node.answers.eth_estimateGas = () => {
    throw saying('ERC20: transfer amount exceeds balance');
  };
  t.match(await verify({ wallet: newWallet() }), { valid: false, reason: /^the payer has too few tokens/ });
});

t.test('a wallet may be seen a little later than its deployment', async (t) => {
  const { settle, sentTo, world } = await scene(t);
  world.lookMs = 1_000;
  for (const [seenAt, isSeen] of [
    [1, true],
    [5, true],
    [6, false],
  ] as const) {
    world.seenAt = seenAt;
    const before = sentTo().length;
    const settlement = await settle({ wallet: newWallet() });
    const name = `at look ${seenAt} of a second each`;
    if (isSeen) t.match(settlement, { state: 'settled' }, name);
    else t.same(settlement, { state: 'refused', reason: 'the factory did not deploy the wallet that pays' }, name);
    t.same(sentTo().slice(before), isSeen ? [ALLOWED, TOKEN] : [ALLOWED], name);
  }
});

t.test('a node that says nothing of the wallet has not seen it', async (t) => {
  const { settle, sentTo, world, node } = await scene(t);
  world.lookMs = 5_000;
  const usual = node.answers.eth_getCode;
  node.answers.eth_getCode = (address) => {
    const code = usual?.(address);
    if (world.looks() > 0) throw new NodeRefusal(-32000, 'the node is busy');
    return code;
  };
  t.match(await settle({ wallet: newWallet() }), { state: 'refused', reason: /did not deploy/ });
  t.same(sentTo(), [ALLOWED]);
});

t.test('a deployment that fails in its block is over, and the next payment tries again', async (t) => {
  const { settle, node, sentTo, looks } = await scene(t);
  const wallet = newWallet();
  node.ends = 'reverted';
  const reason = 'the factory did not deploy the wallet that pays';
  t.same(await settle({ wallet }), { state: 'refused', reason });
  t.equal(looks(), 1, 'somebody else may have deployed it first: it is looked for once');
  node.ends = 'success';
  t.match(await settle({ wallet }), { state: 'settled' });
  t.same(sentTo(), [ALLOWED, ALLOWED, TOKEN]);
});

t.test('a deployment that the node turns down is over in its words', async (t) => {
  const { settle, node, sentTo, looks } = await scene(t);
  firstSend(node, turnDown);
  const wallet = newWallet();
  t.same(await settle({ wallet }), { state: 'refused', reason: 'the facilitator has no gas left' });
  t.equal(looks(), 1);
  t.match(await settle({ wallet }), { state: 'settled' });
  t.same(sentTo(), [ALLOWED, TOKEN]);
});

t.test('a deployment that is in no block yet is not sent again, and the payment goes on from there', async (t) => {
  const made = await scene(t);
  const { settle, node, sentTo, looks, world } = made;
  const wallet = newWallet();
  node.ends = undefined;
  t.same(await settle({ wallet }), NOT_CONFIRMED);
  t.equal(looks(), 1, 'whose hash is known is asked for by that');
  t.same(await settle({ wallet }), NOT_CONFIRMED);
  t.equal(deploysOf(made), 1);
  node.ends = 'success';
  world.wallets.add(wallet);
  t.match(await settle({ wallet }), { state: 'settled' });
  t.same(sentTo(), [ALLOWED, TOKEN]);
});

t.test('one that turns out to have failed is over', async (t) => {
  const made = await scene(t);
  const { settle, node } = made;
  const wallet = newWallet();
  node.ends = undefined;
  t.same(await settle({ wallet }), NOT_CONFIRMED);
  node.ends = 'reverted';
  t.match(await settle({ wallet }), { state: 'refused', reason: /did not deploy/ });
  t.equal(deploysOf(made), 1);
  node.ends = 'success';
  t.match(await settle({ wallet }), { state: 'settled' });
  t.equal(deploysOf(made), 2);
});

t.test('a deployment of which nothing is heard for ten minutes is given up', async (t) => {
  const made = await scene(t);
  const { settle, node, clock } = made;
  const wallet = newWallet();
  node.ends = undefined;
  await settle({ wallet });
  clock.now = START + 600_000;
  await settle({ wallet });
  t.equal(deploysOf(made), 1);
  clock.now += 1;
  node.ends = 'success';
  t.match(await settle({ wallet }), { state: 'settled' });
  t.equal(deploysOf(made), 2);
});

t.test('where the answer is lost, the wallet is waited for as long as for a confirmation', async (t) => {
  const { settle, node, sentTo, world } = await scene(t, { confirmationTimeoutMs: 40 });
  world.lookMs = 10;
  for (const [seenAt, isSeen] of [
    [3, true],
    [4, true],
    [5, false],
  ] as const) {
    const wallet = newWallet();
    world.seenAt = seenAt;
    firstSend(node, () => {
      world.wallets.add(wallet);
      throw new NodeRefusal(-32603, 'the node behind does not answer');
    });
    const before = sentTo().length;
    const settlement = await settle({ wallet });
    const name = `seen at look ${seenAt} of four`;
    if (isSeen) t.match(settlement, { state: 'settled' }, name);
    else t.same(settlement, NOT_CONFIRMED, name);
    t.same(sentTo().slice(before), isSeen ? [TOKEN] : [], name);
  }
});

t.test('a wallet that a reorganisation took back is deployed again', async (t) => {
  const made = await scene(t);
  const { settle, world } = made;
  const wallet = newWallet();
  t.match(await settle({ wallet }), { state: 'settled' });
  world.wallets.delete(wallet);
  t.match(await settle({ wallet }), { state: 'settled' });
  t.equal(deploysOf(made), 2);
});

t.test('payments of one wallet take turns: where the deployment of one fails, the next makes its own', async (t) => {
  const { settle, node, sentTo, world } = await scene(t);
  world.lookMs = 10;
  const wallet = newWallet();
  firstSend(node, turnDown);
  const [first, second] = await Promise.all([settle({ wallet }), settle({ wallet })]);
  t.match(first, { state: 'refused' });
  t.match(second, { state: 'settled' });
  t.same(sentTo(), [ALLOWED, TOKEN]);
});

t.test('who comes while another has its turn comes after it', async (t) => {
  const { settle, node, sentTo, world } = await scene(t);
  world.lookMs = 10;
  const wallet = newWallet();
  let third: ReturnType<typeof settle> | undefined;
  const simulated = () => node.asked.filter((method) => method === 'eth_simulateV1').length;
  firstSend(node, () => {
    firstSend(node, async () => {
      const before = simulated();
      third = settle({ wallet });
      while (simulated() === before) await immediately();
      for (let more = 0; more < 50; more += 1) await immediately();
      return turnDown();
    });
    return turnDown();
  });
  const earlier = await Promise.all([settle({ wallet }), settle({ wallet })]);
  t.match(earlier, [{ state: 'refused' }, { state: 'refused' }]);
  t.match(await third, { state: 'settled' });
  t.same(sentTo(), [ALLOWED, TOKEN]);
});

t.test('two payments of a new wallet at once deploy it once', async (t) => {
  const { settle, sentTo } = await scene(t);
  const wallet = newWallet();
  t.match(await Promise.all([settle({ wallet }), settle({ wallet })]), [{ state: 'settled' }, { state: 'settled' }]);
  t.same(sentTo(), [ALLOWED, TOKEN, TOKEN]);
});

t.test('twenty wallets are deployed in an hour that do not pay, whosever they are', async (t) => {
  const made = await scene(t);
  const { settle, verify, node, world, clock } = made;
  const tooMany = 'too many wallets were deployed here that did not pay: deploy yours first, or come back later';
  let unpaid = 0;
  const deployUnpaid = async () => {
    world.sendingFault = saying('FiatTokenV2: invalid signature');
    unpaid += 1;
    t.match(await settle({ wallet: newWallet() }), { state: 'refused', reason: /signature/ }, `unpaid ${unpaid}`);
    world.sendingFault = undefined;
  };
  while (unpaid < 18) await deployUnpaid();
  const paid = newWallet();
  t.match(await settle({ wallet: paid }), { state: 'settled' }, 'one that pays does not count');
  firstSend(node, turnDown);
  t.match(await settle({ wallet: newWallet() }), { reason: /no gas left/ }, 'nor does one that was not sent');
  const late = newWallet();
  node.ends = undefined;
  t.same(await settle({ wallet: late }), NOT_CONFIRMED, 'one that is under way does');
  node.ends = 'success';
  await deployUnpaid();
  const before = deploysOf(made);
  t.equal(before, 21);
  t.same(await verify({ wallet: newWallet() }), { valid: false, reason: tooMany });
  t.same(await settle({ wallet: newWallet() }), { state: 'refused', reason: tooMany });
  t.match(await settle({ wallet: paid }), { state: 'settled' }, 'who exists pays as ever');
  t.match(await verify({ wallet: late }), { valid: true }, 'and what is under way costs nothing more');
  node.ends = undefined;
  t.same(await settle({ wallet: late }), NOT_CONFIRMED);

  clock.now = START + 600_001;
  t.same(await settle({ wallet: late }), { state: 'refused', reason: tooMany }, 'until it is given up');
  clock.now = START + HOUR - 1;
  t.same(await verify({ wallet: newWallet() }), { valid: false, reason: tooMany });
  t.equal(deploysOf(made), before);
  clock.now = START + HOUR;
  t.match(await verify({ wallet: newWallet() }), { valid: true });
});

t.test(
  'a wallet has paid for its deployment once as much as that is worth is ours for good, by whatever is drawn from it',
  async (t) => {
    // 110,000 gas for the deployment and 88,000 for what follows, at a fifth more than the base fee of a gwei.
    const nativeValue = (PRICE * 10n ** 18n) / (2n * 198_000n * 1_200_000_000n);
    const { settle, verify, world, facilitator } = await scene(t, { nativeValue });
    const channels = await facilitator.channels?.(caip2);
    const config = (payer: string) => ({ payer }) as ChannelConfig;
    const deployed = Array.from({ length: 20 }, newWallet);
    world.sendingFault = saying('FiatTokenV2: invalid signature');
    for (const wallet of deployed) t.match(await settle({ wallet }), { state: 'refused', reason: /signature/ });
    const [first = '0x', second = '0x'] = deployed;
    const isOpen = async () => (await verify({ wallet: newWallet() })).valid;
    channels?.charged(config(newWallet()), PRICE);
    channels?.charged(config(first), PRICE / 2n);
    channels?.charged(config(second), PRICE / 2n);
    t.notOk(await isOpen());
    channels?.charged(config(first.toUpperCase().replace('0X', '0x')), PRICE / 2n);
    t.ok(await isOpen());
  },
);
