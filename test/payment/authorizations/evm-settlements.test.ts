/** What an EVM chain says became of what was signed: an EIP-3009 authorization, a permit, a hold. */
import t, { type Test } from 'tap';
import { ESCROW } from '../../../src/on-chain/escrow-contracts.ts';
import { heldForUs, refused, unknown, unused } from '../../../src/on-chain/settlement.ts';
import { findHold } from '../../../src/payment/authorizations/auth-capture.ts';
import { type Eip3009Query, findEip3009Settlement } from '../../../src/payment/authorizations/eip3009.ts';
import { findPermit2Settlement, PERMIT2, type Permit2Query } from '../../../src/payment/authorizations/permit2.ts';
import { type LogProgress, TRANSFER } from '../../../src/payment/chains/evm-logs.ts';
import { openLooks } from '../../../src/payment/chains/looks.ts';
import { type PaymentInfo, paymentHash } from '../../../src/payment/escrow/payment-info.ts';
import { type EvmChain, type EvmLog, openEvmNode, rangesIn, word } from '../chains/evm-chain.ts';
import { type Node, NodeError } from '../chains/node.ts';

const address = (byte: string): string => `0x${byte.repeat(20)}`;
const [TOKEN, PAYER, PAY_TO, OTHER] = [address('c0'), address('0A'), address('bB'), address('dd')];
/** Blocks of two seconds. */
const LATEST = 5_000;
const timeOf = (block: number): number => 1_600_000_000 + 2 * block;
const NOW = timeOf(LATEST);
/** In this block it was used: long ago, and not the first thing in it. */
const USED_IN = 1_500;
const HASH = word('5e771e');
/** For how long after its end something that was not used may still come up. */
const MARGIN = 30;
/** For how long a node may not show what is on the chain. */
const BEHIND = 60;

const log = (index: number, changes: Partial<EvmLog>): EvmLog => ({
  block: USED_IN,
  index,
  address: TOKEN,
  topics: [],
  data: '0x',
  transaction: HASH,
  ...changes,
});
const transfer = (index: number, amount: number, from: string, to: string, changes: Partial<EvmLog> = {}): EvmLog =>
  log(index, { topics: [TRANSFER, word(from), word(to)], data: word(amount), ...changes });

const open = (t: Test, chain: Partial<EvmChain>): Promise<Node> =>
  openEvmNode(t, { latest: LATEST, timeOf, logs: [], ...chain });

/** A node that says nothing else to this method. */
const always = (asked: string, answer: unknown) => ({
  instead: (method: string) => (method === asked ? answer : undefined),
});

t.test('an EIP-3009 authorization', async (t) => {
  const [USED, CANCELED] = [
    '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
    '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
  ];
  const NONCE = `0x${'4E'.repeat(32)}`;
  const use = (changes: Partial<EvmLog> = {}) => log(4, { topics: [USED, word(PAYER), word(NONCE)], ...changes });
  const paid = (index: number, amount: number, changes: Partial<EvmLog> = {}) =>
    transfer(index, amount, PAYER, PAY_TO, changes);

  /** `authorizationState(address,bytes32)`, of the one authorization that there is. */
  const tokenWhere = (isUsed: () => boolean) => (to: string, data: string, block: string) => {
    if (to !== TOKEN || data !== `0xe94a0102${word(PAYER).slice(2)}${word(NONCE).slice(2)}`) return '0x';
    if (Number(block) !== LATEST) throw new NodeError(-32_000, 'the state of the block is not there');
    return word(isUsed() ? 1 : 0);
  };
  const queryOf = (node: Node, changes: Partial<Eip3009Query> = {}): Eip3009Query => ({
    rpcUrl: node.url,
    asset: TOKEN,
    payer: PAYER,
    payTo: PAY_TO,
    value: '100',
    nonce: NONCE,
    validBefore: timeOf(USED_IN) + 60,
    since: timeOf(USED_IN) - 60,
    ...changes,
  });
  async function found(t: Test, logs: EvmLog[], changes: Partial<Eip3009Query> = {}, chain: Partial<EvmChain> = {}) {
    const node = await open(t, { logs, call: tokenWhere(() => logs.length > 0), ...chain });
    return findEip3009Settlement(queryOf(node, changes));
  }
  const settled = { state: 'settled', transaction: HASH, amount: 100n };

  t.test('is settled by the transfer behind its use, in whatever order the node lists them', async (t) => {
    t.same(await found(t, [use(), paid(5, 100)]), settled);
    const around = [
      paid(9, 3),
      paid(8, 2),
      paid(7, 100),
      paid(6, 9, { address: OTHER }),
      log(5, { topics: [word('a9'), word(PAYER), word(PAY_TO)], data: word(9) }),
      transfer(5, 9, OTHER, PAY_TO),
      use(),
      paid(3, 9),
      paid(2, 8),
      paid(5, 9, { transaction: word('another') }),
    ];
    t.same(await found(t, around), settled);
    t.same(await found(t, [use(), paid(5, 100, { address: TOKEN.toUpperCase() })]), settled, 'in any letters');
  });

  t.test('is settled for ever once it is, however long ago it ended', async (t) => {
    const late = { latest: 400_000, call: () => word(1) };
    t.same(await found(t, [use(), paid(5, 100)], {}, late), settled);
  });

  t.test('that its payer used otherwise is refused', async (t) => {
    for (const [logs, reason] of [
      [[use(), transfer(5, 100, PAYER, OTHER)], 'the payer used the nonce for a transfer to someone else'],
      [[use(), paid(5, 99)], 'the payer used the nonce for another amount'],
      [[use(), paid(5, 101)], 'the payer used the nonce for another amount'],
      [[use({ topics: [CANCELED, word(PAYER), word(NONCE)] }), paid(5, 100)], 'the payer cancelled the authorization'],
    ] as const) {
      t.same(await found(t, [...logs]), refused(reason));
    }
  });

  t.test('that was not used is open until its end and a margin', async (t) => {
    t.same(await found(t, [], { validBefore: NOW - MARGIN + 1 }), unused('the authorization has not been used yet'));
    t.same(await found(t, [], { validBefore: NOW - MARGIN }), refused('the authorization expired without being used'));
  });

  t.test('whose use nobody finds is open until its end and a margin', async (t) => {
    const chain = { call: tokenWhere(() => true) };
    t.same(
      await found(t, [], { validBefore: NOW - BEHIND + 1 }, chain),
      unknown('the authorization was used, but no log of it was found'),
    );
    t.same(
      await found(t, [], { validBefore: NOW - BEHIND }, chain),
      refused('the authorization expired before it was used'),
    );
    const afterwards = [use({ block: 4_000 }), paid(5, 100, { block: 4_000 })];
    t.same(await found(t, afterwards), refused('the authorization expired before it was used'), 'nor used after it');
  });

  t.test('is looked for from when it was first seen, or for a day before its end', async (t) => {
    const before = [use(), paid(5, 100)];
    const late = { validBefore: timeOf(4_900), since: timeOf(4_000) };
    const node = await open(t, { logs: before, call: tokenWhere(() => true) });
    t.same(
      await findEip3009Settlement(queryOf(node, late)),
      refused('the authorization expired before it was used'),
      'it could not be used before it was seen',
    );
    t.ok((rangesIn(node.asked())[0]?.[0] ?? 0) > 3_900);
    const { since: _, ...sinceUnknown } = queryOf(node, { validBefore: NOW });
    t.same(await findEip3009Settlement(sinceUnknown), settled);
  });

  t.test('is unknown where the node tells only half', async (t) => {
    const logs = [use(), paid(5, 100)];
    const noTransfer = unknown('the settling transaction shows no transfer of the payer');
    for (const [chain, expected] of [
      [{ call: () => '0x' }, unknown('the token does not tell the state of authorizations')],
      [{ call: () => `${word(1)}00` }, unknown('the token does not tell the state of authorizations')],
      [always('eth_getTransactionReceipt', null), unknown('the settling transaction has no receipt yet')],
      [always('eth_getTransactionReceipt', { status: '0x1' }), noTransfer],
      [always('eth_getTransactionReceipt', { status: '0x1', logs: [] }), noTransfer],
      [always('eth_getLogs', null), unknown("the chain's node answered eth_getLogs with something else")],
    ] as [Partial<EvmChain>, object][]) {
      t.same(await found(t, logs, {}, chain), expected);
    }
  });

  t.test('that was searched on a node which did not have its use yet is searched again', async (t) => {
    let isBehind = true;
    const node = await open(t, {
      logs: [use(), paid(5, 100)],
      call: tokenWhere(() => true),
      instead: (method) => (isBehind && method === 'eth_getLogs' ? [] : undefined),
    });
    let time = 0;
    const looks = openLooks<LogProgress>(() => time);
    const query = queryOf(node, { validBefore: NOW - BEHIND + 1 });
    const missing = unknown('the authorization was used, but no log of it was found');
    t.same(await findEip3009Settlement(query, looks), missing);
    [time, isBehind] = [60_000, false];
    t.same(await findEip3009Settlement(query, looks), settled);
  });

  t.test('that was unused a moment ago is looked for only in what came since', async (t) => {
    const logs: EvmLog[] = [];
    const node = await open(t, { logs, call: tokenWhere(() => logs.length > 0) });
    const looks = openLooks<LogProgress>();
    const query = queryOf(node, { validBefore: NOW });
    t.same(await findEip3009Settlement(query, looks), unused('the authorization has not been used yet'));
    t.equal(node.asked().length, 2);
    logs.push(use({ block: 4_999 }), paid(5, 100, { block: 4_999 }));
    t.same(await findEip3009Settlement(query, looks), settled);
    const asked = node.asked();
    t.same(rangesIn(asked), [[LATEST - 64, LATEST]]);
    t.equal(asked.length, 4, 'the newest block, the state, the log and its receipt');
  });
  t.end();
});

t.test('a permit', async (t) => {
  const UPTO_PROXY = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002';
  const NONCE = (7n << 8n) + 5n;
  const OURS = 1n << 5n;
  /** `nonceBitmap(address,uint256)`. */
  const permit2With =
    (bitmap: bigint) =>
    (to: string, data: string, block: string): string => {
      const isAsked = to === PERMIT2 && data === `0x4fe02b44${word(PAYER).slice(2)}${word(7).slice(2)}`;
      return isAsked && Number(block) === LATEST ? word(bitmap) : '0x';
    };
  /** Token, permitted amount, nonce, deadline, amount, owner, to, facilitator, valid after. */
  const WORDS = [TOKEN, 500, NONCE, timeOf(USED_IN) + 60, 100, PAYER, PAY_TO, OTHER, 0] as const;
  const inputOf = (changes: Readonly<Record<number, string | bigint>> = {}, selector = '0xff11e7b4', skipped = 0) =>
    selector +
    [...Array.from({ length: skipped }, () => PAY_TO), ...WORDS.map((value, place) => changes[place] ?? value)]
      .map((value) => word(value).slice(2))
      .join('');
  const call = (input: string, to: string = UPTO_PROXY) => ({ [HASH]: { hash: HASH, to, input } });

  const queryOf = (node: Node, changes: Partial<Permit2Query> = {}): Permit2Query => ({
    rpcUrl: node.url,
    asset: TOKEN,
    payer: PAYER,
    payTo: PAY_TO,
    nonce: String(NONCE),
    deadline: timeOf(USED_IN) + 60,
    since: timeOf(USED_IN) - 60,
    ...changes,
  });
  async function found(t: Test, chain: Partial<EvmChain>, changes: Partial<Permit2Query> = {}) {
    const logs = [transfer(3, 100, PAYER, PAY_TO)];
    const node = await open(t, { logs, call: permit2With(OURS), transactions: call(inputOf()), ...chain });
    return findPermit2Settlement(queryOf(node, changes));
  }
  const settled = { state: 'settled', transaction: HASH, amount: 100n };

  t.test('is settled by the call that carries it, with an approval before it or without', async (t) => {
    t.same(await found(t, {}), settled);
    t.same(await found(t, { transactions: call(inputOf({}, '0x016c1748', 5)) }), settled);
    t.same(
      await found(t, { transactions: call(inputOf().toUpperCase().replace('X', 'x')) }),
      settled,
      'in any letters',
    );
    const earlier = transfer(2, 9, PAYER, PAY_TO, { transaction: word('another') });
    const transactions = { ...call(inputOf()), [word('another')]: { to: OTHER, input: '0x' } };
    const logs = [earlier, transfer(3, 100, PAYER, PAY_TO)];
    t.same(await found(t, { logs, transactions }), settled, 'among other transfers');
  });

  t.test('is not settled by a call that only looks like it', async (t) => {
    for (const [name, transactions] of Object.entries({
      'to another contract': call(inputOf(), OTHER),
      'of another function': call(inputOf({}, '0xff11e7b5')),
      'of another token': call(inputOf({ 0: OTHER })),
      'of another nonce': call(inputOf({ 2: NONCE + 1n })),
      'of another payer': call(inputOf({ 5: OTHER })),
      'to another receiver': call(inputOf({ 6: OTHER })),
      'with words where there are none': call(inputOf({}, '0xff11e7b4', 5)),
      'without the words before it': call(inputOf({}, '0x016c1748', 0)),
    })) {
      t.same(await found(t, { transactions }), refused('the permit expired without a transfer to us'), name);
      t.same(
        await found(t, { transactions }, { deadline: NOW - BEHIND + 1 }),
        unknown('the permit was used, but no transfer of it to us was found'),
        name,
      );
    }
  });

  t.test('is not given up for a transaction that its node does not have, and found once it has it', async (t) => {
    let transactions = {};
    const node = await open(t, {
      logs: [transfer(3, 100, PAYER, PAY_TO)],
      call: permit2With(OURS),
      instead: (method) => (method === 'eth_getTransactionByHash' ? (Object(transactions)[HASH] ?? null) : undefined),
    });
    let time = 0;
    const looks = openLooks<LogProgress>(() => time);
    const query = queryOf(node, { deadline: NOW - MARGIN });
    const missing = unknown("the chain's node tells of a transfer and does not have its transaction");
    t.same(await findPermit2Settlement(query, looks), missing);
    [time, transactions] = [60_000, call(inputOf())];
    t.same(await findPermit2Settlement(query, looks), settled);
  });

  t.test('that was not used is open until its end and a margin, whatever other permits were', async (t) => {
    const others = { call: permit2With(2n ** 256n - 1n - OURS) };
    t.same(await found(t, others, { deadline: NOW - MARGIN + 1 }), unused('the permit has not been used yet'));
    t.same(await found(t, others, { deadline: NOW - MARGIN }), refused('the permit expired without being used'));
  });

  t.test('that was used is open until its end and a margin, where no transfer is found', async (t) => {
    const none = { logs: [] };
    t.same(
      await found(t, none, { deadline: NOW - BEHIND + 1 }),
      unknown('the permit was used, but no transfer of it to us was found'),
    );
    t.same(await found(t, none, { deadline: NOW - BEHIND }), refused('the permit expired without a transfer to us'));
  });

  t.test('that was searched on a node which did not have its transfer yet is searched again', async (t) => {
    for (const [name, blocksASecond] of Object.entries({ 'of slow blocks': 0.5, 'of fast blocks': 4 })) {
      let isBehind = true;
      const time = (block: number): number => NOW - Math.floor((LATEST - block) / blocksASecond);
      const usedIn = LATEST - 58 * blocksASecond;
      const node = await open(t, {
        timeOf: time,
        logs: [transfer(3, 100, PAYER, PAY_TO, { block: usedIn })],
        call: permit2With(OURS),
        transactions: call(inputOf()),
        instead: (method) => (isBehind && method === 'eth_getLogs' ? [] : undefined),
      });
      let clock = 0;
      const looks = openLooks<LogProgress>(() => clock);
      const query = queryOf(node, { deadline: time(usedIn) + 1, since: time(usedIn) - 120 });
      const missing = unknown('the permit was used, but no transfer of it to us was found');
      t.same(await findPermit2Settlement(query, looks), missing, name);
      [clock, isBehind] = [60_000, false];
      t.same(await findPermit2Settlement(query, looks), settled, name);
    }
  });

  t.test('is unknown on a chain without Permit2', async (t) => {
    for (const answer of ['0x', `${word(0)}00`]) {
      t.same(await found(t, { call: () => answer }), unknown('the chain has no Permit2'));
    }
  });

  t.test('is looked for from when it was first seen, or for a day before its end', async (t) => {
    t.same(
      await found(t, {}, { since: timeOf(4_000), deadline: timeOf(4_900) }),
      refused('the permit expired without a transfer to us'),
    );
    const logs = [transfer(3, 100, PAYER, PAY_TO)];
    const node = await open(t, { logs, call: permit2With(OURS), transactions: call(inputOf()) });
    const { since: _, ...sinceUnknown } = queryOf(node, { deadline: NOW });
    t.same(await findPermit2Settlement(sinceUnknown), settled);
  });

  t.test('that was unused a moment ago is looked for only in what came since', async (t) => {
    let bitmap = 0n;
    const logs: EvmLog[] = [];
    const node = await open(t, {
      logs,
      transactions: call(inputOf()),
      call: (...asked) => permit2With(bitmap)(...asked),
    });
    const looks = openLooks<LogProgress>();
    t.same(
      await findPermit2Settlement(queryOf(node, { deadline: NOW }), looks),
      unused('the permit has not been used yet'),
    );
    node.asked();
    bitmap = OURS;
    logs.push(transfer(3, 100, PAYER, PAY_TO, { block: 4_999 }));
    t.same(await findPermit2Settlement(queryOf(node, { deadline: NOW }), looks), settled);
    t.same(rangesIn(node.asked()), [[LATEST - 64, LATEST]]);
  });
  t.end();
});

t.test('a hold', async (t) => {
  const CHAIN_ID = 84_532;
  /** Of both versions of the escrow. */
  const CAPTURED = [
    '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e',
    '0xe749f7bbd01b49bb05abf26ca492cb4dfdea6bedeada8a40fdccd478c73a74e2',
  ];
  const INFO: PaymentInfo = {
    operator: OTHER,
    payer: PAYER,
    receiver: PAY_TO,
    token: TOKEN,
    maxAmount: '500',
    preApprovalExpiry: timeOf(USED_IN) + 60,
    authorizationExpiry: timeOf(USED_IN) + 600,
    salt: word('2e'),
  };
  /** `paymentState(bytes32)`. */
  const escrowWith =
    (wasLocked: number, capturable: number, captured: number, info: PaymentInfo) =>
    (to: string, data: string, block: string): string => {
      const isAsked = to === ESCROW && data === `0x34b778ed${paymentHash(CHAIN_ID, info).slice(2)}`;
      if (!isAsked || Number(block) !== LATEST) return '0x';
      return `0x${[wasLocked, capturable, captured].map((value) => word(value).slice(2)).join('')}`;
    };
  const taken = (info: PaymentInfo, changes: Partial<EvmLog> = {}, event = 0) =>
    log(3, { address: ESCROW, topics: [CAPTURED[event] ?? '', paymentHash(CHAIN_ID, info)], ...changes });
  async function found(
    t: Test,
    [wasLocked, capturable, captured]: readonly [number, number, number],
    {
      logs = [],
      changes = {},
      chain = {},
    }: { logs?: EvmLog[]; changes?: Partial<PaymentInfo>; chain?: Partial<EvmChain> } = {},
  ) {
    const info = { ...INFO, ...changes };
    const node = await open(t, { logs, call: escrowWith(wasLocked, capturable, captured, info), ...chain });
    return findHold({ rpcUrl: node.url, chainId: CHAIN_ID, info, since: timeOf(USED_IN) - 60 });
  }

  t.test('that was not locked is open until it cannot be, and a margin', async (t) => {
    for (const [preApprovalExpiry, expected] of [
      [NOW - MARGIN + 1, unused('the authorization has not been used yet')],
      [NOW - MARGIN, refused('the authorization expired without being used')],
    ] as const) {
      t.same(await found(t, [0, 0, 0], { changes: { preApprovalExpiry } }), expected);
    }
  });

  t.test('is for us while there is something to take, and refused once its payer has it back', async (t) => {
    t.same(await found(t, [1, 1, 0]), heldForUs('the escrow has the money'));
    t.same(await found(t, [1, 100, 400]), heldForUs('the escrow has the money'));
    t.same(await found(t, [1, 0, 0]), refused('the payer has the money back'));
  });

  t.test('is settled for what was taken, by the transaction that took it', async (t) => {
    for (const event of [0, 1]) {
      const logs = [taken({ ...INFO, salt: word('2f') }, { transaction: word('another') }), taken(INFO, {}, event)];
      t.same(await found(t, [1, 0, 123], { logs }), { state: 'settled', transaction: HASH, amount: 123n });
    }
  });

  t.test('that was taken by nobody knows whom is unknown', async (t) => {
    const unseen = unknown('the money was taken, but no log of it was found');
    t.same(await found(t, [1, 0, 123]), unseen);
    t.same(await found(t, [1, 0, 123], { logs: [taken(INFO, { block: 4_900 })] }), unseen, 'nor after its end');
    const stateless = unknown('the escrow does not tell the state of payments');
    for (const answer of ['0x', word(1), `0x${'0'.repeat(191)}`]) {
      t.same(await found(t, [0, 0, 0], { chain: { call: () => answer } }), stateless);
    }
  });

  t.test('that was searched on a node which did not have its taking yet is searched again', async (t) => {
    let isBehind = true;
    const node = await open(t, {
      logs: [taken(INFO)],
      call: escrowWith(1, 0, 123, INFO),
      instead: (method) => (isBehind && method === 'eth_getLogs' ? [] : undefined),
    });
    let time = 0;
    const looks = openLooks<LogProgress>(() => time);
    const query = { rpcUrl: node.url, chainId: CHAIN_ID, info: INFO, since: timeOf(USED_IN) - 60 };
    t.same(await findHold(query, looks), unknown('the money was taken, but no log of it was found'));
    [time, isBehind] = [60_000, false];
    t.same(await findHold(query, looks), { state: 'settled', transaction: HASH, amount: 123n });
  });

  t.test('that was not locked a moment ago is looked for only in what came since', async (t) => {
    let state: [number, number, number] = [0, 0, 0];
    const info = { ...INFO, preApprovalExpiry: NOW, authorizationExpiry: NOW + 600 };
    const logs: EvmLog[] = [];
    const node = await open(t, { logs, call: (...asked) => escrowWith(...state, info)(...asked) });
    const looks = openLooks<LogProgress>();
    const query = { rpcUrl: node.url, chainId: CHAIN_ID, info, since: timeOf(USED_IN) };
    t.same(await findHold(query, looks), unused('the authorization has not been used yet'));
    node.asked();
    state = [1, 0, 123];
    logs.push(taken(info, { block: 4_999 }));
    t.same(await findHold(query, looks), { state: 'settled', transaction: HASH, amount: 123n });
    t.same(rangesIn(node.asked()), [[LATEST - 64, LATEST]]);
  });
  t.end();
});

t.end();
