/** What an address got of a token, read from its chain: all of a period, and of a transaction. */
import t, { type Test } from 'tap';
import { evmIncoming } from '../../../src/payment/chains/evm-incoming.ts';
import { TRANSFER } from '../../../src/payment/chains/evm-logs.ts';
import type { Incoming, TokenHolder } from '../../../src/payment/chains/incoming.ts';
import { solanaIncoming } from '../../../src/payment/chains/solana-incoming.ts';
import { tokenAccountOf } from '../../../src/payment/chains/solana-token-account.ts';
import { type EvmChain, type EvmLog, openEvmNode, word } from './evm-chain.ts';
import { GONE, type Node } from './node.ts';
import { addressOf, openSolanaNode, type Row, type SolanaChain, TOKEN_PROGRAM } from './solana-chain.ts';

async function all(found: AsyncIterable<Incoming>): Promise<Incoming[]> {
  const list: Incoming[] = [];
  for await (const one of found) list.push(one);
  return list;
}

t.test('on an EVM chain', async (t) => {
  const [asset, payTo, payer] = ['c0', 'bB', '0a'].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string];
  const holder: TokenHolder = { asset, payTo };
  const timeOf = (block: number): number => 1_600_000_000 + 10 * block;
  const log = (block: number, changes: Partial<EvmLog> = {}): EvmLog => ({
    block,
    index: 0,
    address: asset,
    topics: [TRANSFER, word(payer), word(payTo)],
    data: word(block),
    transaction: `0x${block}`,
    ...changes,
  });
  const got = (block: number): Incoming => ({ transaction: `0x${block}`, amount: BigInt(block), payer });
  const nodeOf = (t: Test, logs: EvmLog[], changes: Partial<EvmChain> = {}) =>
    openEvmNode(t, { latest: 300, timeOf, logs, ...changes });

  t.test('a period has its first moment and not its last', async (t) => {
    const { rpc } = await nodeOf(
      t,
      [99, 100, 101, 199, 200].map((block) => log(block)),
    );
    const between = (from: number, to: number) => all(evmIncoming.between(rpc, holder, from, to));
    t.same(await between(timeOf(100) * 1_000, timeOf(200) * 1_000), [got(100), got(101), got(199)]);
    t.same(await between(timeOf(100) * 1_000 + 1, timeOf(200) * 1_000 + 1), [got(101), got(199), got(200)]);
    t.same(await between(timeOf(199) * 1_000, timeOf(400) * 1_000), [got(199), got(200)], 'as far as there are blocks');
    t.same(await between(timeOf(400) * 1_000, timeOf(500) * 1_000), [], 'nothing is known of what comes');
  });

  t.test('of a transaction its transfers to the address count, and nothing else in it', async (t) => {
    const others = {
      'another token': log(5, { address: `0x${'c1'.repeat(20)}`, index: 1 }),
      'an approval': log(5, { topics: [word('a9'), word(payer), word(payTo)], index: 2 }),
      'to somebody else': log(5, { topics: [TRANSFER, word(payTo), word(payer)], index: 3 }),
      nothing: log(5, { data: word(0), index: 4 }),
      'without topics': { ...log(5, { index: 5 }), topics: undefined } as unknown as EvmLog,
    };
    const { rpc } = await nodeOf(t, [...Object.values(others), log(5), log(5, { index: 9, data: word(70) }), log(6)]);
    const found = await evmIncoming.with(rpc, holder, '0x5');
    t.same(found, [got(5), { ...got(5), amount: 70n }]);
    t.same(await evmIncoming.with(rpc, { asset: asset.toUpperCase(), payTo }, '0x6'), [got(6)], 'in any letters');
  });

  t.test('a log that was taken back does not count', async (t) => {
    const { topics, data, address } = log(5);
    const [taken, kept] = [true, false].map((removed) => ({ address, topics, data, removed, transactionHash: '0x5' }));
    const instead = (method: string) =>
      method === 'eth_getTransactionReceipt' ? { logs: [taken, kept, 'none'] } : undefined;
    const { rpc } = await nodeOf(t, [], { instead });
    t.same(await evmIncoming.with(rpc, holder, '0x5'), [got(5)]);
  });

  t.test('a transaction that the chain does not have brought nothing', async (t) => {
    for (const receipt of [null, {}, { logs: null }]) {
      const instead = (method: string) => (method === 'eth_getTransactionReceipt' ? receipt : undefined);
      const { rpc } = await nodeOf(t, [log(5)], { instead });
      t.same(await evmIncoming.with(rpc, holder, '0x5'), [], JSON.stringify(receipt));
    }
  });
  t.end();
});

t.test('on Solana', async (t) => {
  const [mint, payTo, payer, third] = [addressOf(1), addressOf(2), addressOf(3), addressOf(4)];
  const holder: TokenHolder = { asset: mint, payTo };
  const owners = { [mint]: TOKEN_PROGRAM };
  type Balances = readonly (readonly [owner: string, amount: number, mint?: string])[];
  const balances = (list: Balances) =>
    list.map(([owner, amount, of = mint], accountIndex) => ({
      accountIndex,
      mint: of,
      owner,
      uiTokenAmount: { amount: String(amount), decimals: 6 },
    }));
  const meta = (before: Balances, after: Balances, err: object | null = null) => ({
    meta: { err, preTokenBalances: balances(before), postTokenBalances: balances(after) },
  });
  const paid = (amount: number) =>
    meta(
      [
        [payer, 100],
        [payTo, 50],
      ],
      [
        [payer, 100 - amount],
        [payTo, 50 + amount],
      ],
    );
  const seconds = 1_600_000_000;
  const row = (name: string, after: number | null, changes: Partial<Row> = {}): Row => ({
    signature: name,
    blockTime: after === null ? null : seconds + after,
    shown: paid(7),
    ...changes,
  });
  const got = (transaction: string, amount = 7n): Incoming => ({ transaction, amount, payer });
  const between = async (t: Test, chain: SolanaChain, from = 0, to = 10): Promise<[Incoming[], Node]> => {
    const node = await openSolanaNode(t, { owners, ...chain });
    const found = solanaIncoming.between(node.rpc, holder, (seconds + from) * 1_000, (seconds + to) * 1_000);
    return [await all(found), node];
  };

  t.test("a period has its first moment and not its last, in the wallet's own account of the token", async (t) => {
    const history = [
      row('late', 11),
      row('end', 10),
      row('last', 9),
      row('failed', 8, { err: { InstructionError: [0, 'Custom'] } }),
      row('when?', null),
      row('first', 0),
      row('early', -1),
      row('when, again?', null),
    ];
    const [found, node] = await between(t, { history });
    t.same(
      found,
      ['last', 'when?', 'first'].map((name) => got(name)),
    );
    const asked = node.asked();
    t.same(
      asked.map(({ method, params: [first] }) => (method === 'getTransaction' ? first : method)),
      ['getAccountInfo', 'getSignaturesForAddress', 'last', 'when?', 'first'],
    );
    t.equal(asked[1]?.params[0], await tokenAccountOf(payTo, mint, TOKEN_PROGRAM));
    t.ok(asked.every(({ params: [, options] }) => Object(options).commitment === 'confirmed'));
  });

  t.test('a long history is read page by page, to its end', async (t) => {
    const err = { InstructionError: [0, 'Custom'] };
    const rows = (many: number) => Array.from({ length: many }, (_, at) => row(`failed-${at}`, 5, { err }));
    for (const many of [999, 1_000, 1_001, 2_000]) {
      const [found, node] = await between(t, { history: [...rows(many), row('oldest', 1)] });
      t.same(found, [got('oldest')], `behind ${many} others`);
      const pages = node.asked().filter(({ method }) => method === 'getSignaturesForAddress').length;
      t.equal(pages, Math.floor((many + 1) / 1_000) + 1);
    }
  });

  t.test('what came is how the balance changed, over all accounts of the owner', async (t) => {
    const cases: Record<string, [before: Balances, after: Balances, found: Incoming[]]> = {
      'a new account': [
        [[payer, 9]],
        [
          [payer, 2],
          [payTo, 7],
        ],
        [got('x')],
      ],
      'an account that its payer closed': [
        [
          [payer, 7],
          [payTo, 1],
        ],
        [[payTo, 8]],
        [got('x')],
      ],
      'two accounts': [
        [
          [payTo, 5],
          [payTo, 6],
          [payer, 9],
        ],
        [
          [payTo, 8],
          [payTo, 10],
          [payer, 2],
        ],
        [got('x')],
      ],
      'one account out of another': [
        [
          [payTo, 5],
          [payTo, 6],
        ],
        [
          [payTo, 0],
          [payTo, 11],
        ],
        [],
      ],
      'a payment by the wallet': [
        [
          [payTo, 5],
          [payer, 6],
        ],
        [
          [payTo, 4],
          [payer, 7],
        ],
        [],
      ],
      'new tokens': [[[payTo, 5]], [[payTo, 12]], [{ ...got('x'), payer: 'unknown' }]],
      'a payment that somebody looked on': [
        [
          [third, 1],
          [payer, 9],
        ],
        [
          [third, 1],
          [payer, 2],
          [payTo, 7],
        ],
        [got('x')],
      ],
      'another token': [
        [[payer, 9, third]],
        [
          [payer, 2, third],
          [payTo, 7, third],
        ],
        [],
      ],
    };
    for (const [name, [before, after, expected]] of Object.entries(cases)) {
      const { rpc } = await openSolanaNode(t, { history: [row('x', 1, { shown: meta(before, after) })] });
      t.same(await solanaIncoming.with(rpc, holder, 'x'), expected, name);
    }
  });

  t.test('a transaction that failed, or that nobody has, brought nothing', async (t) => {
    const failed = { ...paid(7).meta, err: { InstructionError: [0, 'Custom'] } };
    for (const shown of [null, {}, { meta: null }, { meta: failed }]) {
      const { rpc } = await openSolanaNode(t, { history: [row('x', 1, { shown })] });
      t.same(await solanaIncoming.with(rpc, holder, 'x'), [], JSON.stringify(shown));
    }
  });

  t.test('amounts that nobody tells are not counted', async (t) => {
    const odd = { mint, owner: payTo, uiTokenAmount: null };
    const shown = { meta: { ...paid(7).meta, postTokenBalances: [odd, 'none', ...paid(7).meta.postTokenBalances] } };
    const { rpc } = await openSolanaNode(t, { history: [row('x', 1, { shown })] });
    t.same(await solanaIncoming.with(rpc, holder, 'x'), [got('x')]);
  });

  t.test('where something cannot be read, nothing is left out in silence', async (t) => {
    const whole = paid(7).meta;
    for (const [chain, message] of [
      [{ owners: {} }, `the chain does not have the token ${mint}`],
      [{ instead: (method) => (method === 'getAccountInfo' ? null : undefined) }, /does not have the token/],
      [{ instead: (method) => (method === 'getAccountInfo' ? { value: {} } : undefined) }, /does not have the token/],
      [
        { instead: (method) => (method === 'getSignaturesForAddress' ? null : undefined) },
        'the history of the address could not be read',
      ],
      [{ instead: (method) => (method === 'getSignaturesForAddress' ? GONE : undefined) }, /gave no answer/],
      [{ history: [row('x', 1, { shown: null })] }, 'the node lists transaction x and does not have it'],
      [{ history: [row('x', 1, { shown: { meta: null } })] }, 'the node lists transaction x and does not have it'],
      [
        { history: [row('x', 1, { shown: { meta: { ...whole, preTokenBalances: null } } })] },
        /tells no token balances/,
      ],
      [
        { history: [row('x', 1, { shown: { meta: { ...whole, postTokenBalances: null } } })] },
        /tells no token balances/,
      ],
    ] as [SolanaChain, string | RegExp][]) {
      await t.rejects(between(t, chain), { message });
    }
  });
  t.end();
});

t.end();
