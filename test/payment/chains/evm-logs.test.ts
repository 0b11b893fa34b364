/** How logs are searched for in an EVM chain: which blocks are asked for, and from where a search goes on. */
import t, { type Test } from 'tap';
import {
  findLog,
  firstBlockSince,
  type LogProgress,
  logsIn,
  nothingUntil,
  readBlock,
  type Span,
  same,
} from '../../../src/payment/chains/evm-logs.ts';
import { type EvmChain, type EvmLog, hex, openEvmNode, rangesIn, word } from './evm-chain.ts';
import { GONE } from './node.ts';

const TOKEN = `0x${'c0'.repeat(20)}`;
const TOPIC = word('beef');
const FILTER = { address: TOKEN, topics: [TOPIC] };
/** Blocks of two seconds, the newest of all. */
const LATEST = 5_000;
const timeOf = (block: number): number => 1_600_000_000 + 2 * block;
/** The newest block that is never replaced. */
const SETTLED = LATEST - 64;

const logAt = (block: number, index = 0): EvmLog => ({
  block,
  index,
  address: TOKEN,
  topics: [TOPIC],
  data: word(1),
  transaction: `${block}:${index}`,
});

async function chainOf(t: Test, logs: readonly EvmLog[] = [], changes: Partial<EvmChain> = {}) {
  const node = await openEvmNode(t, { latest: LATEST, timeOf, logs: [...logs], ...changes });
  const latest = await readBlock(node.rpc, 'latest');
  node.asked();
  return { ...node, latest };
}

async function listed(logs: AsyncIterable<Readonly<Record<string, unknown>>>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { transactionHash } of logs) found.push(transactionHash);
  return found;
}

t.test('of a block its number and time are asked, and not what is in it', async (t) => {
  const { rpc, asked, latest } = await chainOf(t);
  t.same(latest, { number: LATEST, timestamp: timeOf(LATEST) });
  t.same(await readBlock(rpc, hex(7)), { number: 7, timestamp: timeOf(7) });
  t.same(asked(), [{ method: 'eth_getBlockByNumber', params: ['0x7', false] }]);
  await t.rejects(readBlock(rpc, hex(LATEST + 1)), { message: "the chain's node does not know block 0x1389" });
});

t.test('hex is the same in any letters', async (t) => {
  t.equal(same('0xAb', '0xaB'), true);
  t.equal(same('0xab', '0xac'), false);
  t.equal(same(undefined, '0xab'), false);
});

t.test('the first block that is not older than a time is found to the block', async (t) => {
  const { rpc, latest } = await chainOf(t);
  for (const block of [0, 1, 2, 3_999, 4_000, 4_001, LATEST - 1, LATEST]) {
    t.equal(await firstBlockSince(rpc, timeOf(block), latest), block, `the time of block ${block}`);
    t.equal(await firstBlockSince(rpc, timeOf(block) - 1, latest), block, `before block ${block}`);
    t.equal(await firstBlockSince(rpc, timeOf(block) + 1, latest), block + 1, `after block ${block}`);
  }
});

t.test('however long a chain is, a time in it is found by a few questions', async (t) => {
  const { rpc, asked, latest } = await chainOf(t, [], { latest: 2_000_000 });
  t.equal(await firstBlockSince(rpc, timeOf(10), latest), 10);
  const questions = asked().length;
  t.ok(questions <= 32, `${questions} questions`);
});

t.test('logs are listed from the first block to the last, a thousand blocks at a time', async (t) => {
  const logs = [999, 1_000, 1_999, 2_000, 3_000, 3_001].map((block) => logAt(block));
  const { rpc, asked } = await chainOf(t, logs, { range: 1_000 });
  t.same(await listed(logsIn(rpc, FILTER, 1_000, 3_000)), ['1000:0', '1999:0', '2000:0', '3000:0']);
  t.same(rangesIn(asked()), [
    [1_000, 1_999],
    [2_000, 2_999],
    [3_000, 3_000],
  ]);
  t.same(await listed(logsIn(rpc, FILTER, 3_001, 3_000)), [], 'no blocks, no questions');
  t.same(asked(), []);
});

t.test('a node that finds a range too large is asked for a smaller one', async (t) => {
  const logs = [4_000, 4_009, 4_010, 4_034].map((block) => logAt(block));
  const { rpc, asked } = await chainOf(t, logs, { range: 10 });
  t.same(await listed(logsIn(rpc, FILTER, 4_000, 4_034)), ['4000:0', '4009:0', '4010:0', '4034:0']);
  t.same(rangesIn(asked()).slice(-4), [
    [4_000, 4_009],
    [4_010, 4_019],
    [4_020, 4_029],
    [4_030, 4_034],
  ]);
});

type Chain = Awaited<ReturnType<typeof chainOf>>;

/** Both ways to search. */
const searches: Readonly<Record<string, (chain: Chain) => Promise<unknown>>> = {
  'a list': async ({ rpc }) => listed(logsIn(rpc, FILTER, 0, LATEST)),
  'a search': async ({ rpc, latest }) =>
    findLog(rpc, FILTER, { since: 0, until: timeOf(LATEST), latest }, { next: { block: 0, logIndex: 0 } }),
};
for (const [name, search] of Object.entries(searches)) {
  t.test(`${name} ends where a node does not answer for ten blocks either`, async (t) => {
    const chain = await chainOf(t, [], { range: 9 });
    await t.rejects(search(chain), { name: 'ChainProblem', code: -32_005 });
    t.same(
      rangesIn(chain.asked()).map(([from, to]) => to - from + 1),
      [1_000, 250, 62, 15, 10],
    );
  });

  t.test(`${name} asks a node that is gone only once`, async (t) => {
    const instead = (method: string) => (method === 'eth_getLogs' ? GONE : undefined);
    const chain = await chainOf(t, [], { instead });
    await t.rejects(search(chain), { name: 'ChainUnreachable' });
    t.equal(chain.asked().length, 1);
  });

  t.test(`${name} takes only an empty list for no logs`, async (t) => {
    for (const answer of [null, 'none', {}]) {
      const instead = (method: string) => (method === 'eth_getLogs' ? answer : undefined);
      const chain = await chainOf(t, [logAt(0)], { instead });
      await t.rejects(search(chain), { message: "the chain's node answered eth_getLogs with something else" });
    }
  });
}

/** A search of the whole chain, from where `progress` says. */
async function found(
  { rpc, latest }: Chain,
  progress: Partial<LogProgress>,
  span: Partial<Span> = {},
  fits?: Parameters<typeof findLog>[4],
): Promise<unknown> {
  const whole = { since: timeOf(0), until: timeOf(LATEST), latest };
  return (await findLog(rpc, FILTER, { ...whole, ...span }, progress, fits))?.transactionHash;
}

t.test('a search begins a little before its time, and goes on to the newest block', async (t) => {
  const chain = await chainOf(t, [logAt(2_000), logAt(LATEST)], { range: 1_000 });
  t.equal(await found(chain, {}, { since: timeOf(3_000) }), `${LATEST}:0`);
  const ranges = rangesIn(chain.asked());
  const [[first = 0] = []] = ranges;
  t.ok(first >= 3_000 - 64 && first < 3_000, `from ${first}`);
  t.same(ranges, [
    [first, first + 999],
    [first + 1_000, first + 1_999],
    [first + 2_000, LATEST],
  ]);
  t.equal(await found(chain, {}, { since: 0 }), '2000:0', 'from the first block where its time is before all');
  t.equal(rangesIn(chain.asked())[0]?.[0], 0);
});

t.test('the newest block is searched where it is the only one left', async (t) => {
  const chain = await chainOf(t, [logAt(LATEST)]);
  t.equal(await found(chain, { next: { block: LATEST - 1_000, logIndex: 0 } }), `${LATEST}:0`);
  t.same(rangesIn(chain.asked()), [
    [LATEST - 1_000, LATEST - 1],
    [LATEST, LATEST],
  ]);
});

t.test('nothing is asked that no block could change', async (t) => {
  const chain = await chainOf(t, []);
  const next = { block: LATEST - 10, logIndex: 0 };
  t.equal(await found(chain, { next }, { until: 0 }), undefined);
  t.same(
    chain.asked().map(({ method }) => method),
    ['eth_getLogs'],
    'behind the newest block there is none',
  );
  t.equal(await found(chain, { next: { block: LATEST + 1, logIndex: 0 } }), undefined);
  t.same(chain.asked(), []);
});

t.test('a search ends with the range in which its time ends', async (t) => {
  const chain = await chainOf(t, [logAt(1_999), logAt(2_000)]);
  const next = () => ({ next: { block: 0, logIndex: 0 } });
  const none = () => false;
  t.equal(await found(chain, next(), { until: timeOf(1_500) }, none), undefined);
  t.same(rangesIn(chain.asked()), [
    [0, 999],
    [1_000, 1_999],
  ]);
  t.equal(await found(chain, next(), { until: timeOf(1_500) }), '1999:0', 'all of the range belongs to it');
});

t.test('blocks of the very second in which its time ends are searched, also in the next range', async (t) => {
  const halves = (block: number) => 1_600_000_000 + (block - 1) / 2;
  const chain = await chainOf(t, [logAt(1_000)], { timeOf: halves });
  t.equal(Math.floor(halves(999)), Math.floor(halves(1_000)));
  const progress = () => ({ next: { block: 0, logIndex: 0 } });
  t.equal(await found(chain, progress(), { until: halves(999) }), '1000:0');
  t.equal(await found(chain, progress(), { until: halves(999) - 1 }), undefined);
});

t.test('a search goes on from the very log that its progress names', async (t) => {
  const logs = [logAt(3_999, 9), logAt(4_000, 1), logAt(4_000, 2), logAt(4_000, 3), logAt(4_001, 0)];
  const chain = await chainOf(t, logs);
  const seen: unknown[] = [];
  const next = { block: 4_000, logIndex: 2 };
  const look = (log: Readonly<Record<string, unknown>>) => {
    seen.push(log.transactionHash);
    return false;
  };
  t.equal(await found(chain, { next }, {}, look), undefined);
  t.same(seen, ['4000:2', '4000:3', '4001:0']);
  t.equal(await found(chain, { next }), '4000:2');
});

t.test('a search that is broken off writes down what it has looked at', async (t) => {
  const chain = await chainOf(t, [logAt(1_200, 4), logAt(1_200, 6), logAt(3_500, 2)]);
  const until = (hash: string) => (log: Readonly<Record<string, unknown>>) => {
    if (log.transactionHash === hash) throw new Error('broken off');
    return false;
  };
  for (const [hash, next] of [
    ['1200:6', { block: 1_200, logIndex: 5 }],
    ['3500:2', { block: 3_000, logIndex: 0 }],
  ] as const) {
    const progress: Partial<LogProgress> = { next: { block: 0, logIndex: 0 } };
    await t.rejects(found(chain, progress, {}, until(hash)), { message: 'broken off' });
    t.same(progress.next, next, hash);
  }
});

t.test('where a search has to begin is written down before anything is searched', async (t) => {
  const instead = (method: string) => (method === 'eth_getLogs' ? GONE : undefined);
  const chain = await chainOf(t, [], { instead });
  const progress: Partial<LogProgress> = {};
  await t.rejects(found(chain, progress, { since: timeOf(3_000) }), { name: 'ChainUnreachable' });
  const { block = 0, logIndex } = progress.next ?? {};
  t.ok(block >= 3_000 - 64 && block < 3_000, `from ${block}`);
  t.equal(logIndex, 0);
});

t.test('blocks that may still be replaced are searched again, and only those', async (t) => {
  const chain = await chainOf(t, [logAt(SETTLED, 3), logAt(SETTLED + 1, 0)]);
  const progress: Partial<LogProgress> = { next: { block: SETTLED - 10, logIndex: 0 } };
  t.equal(await found(chain, progress, {}, () => false), undefined);
  t.same(progress, { next: { block: SETTLED, logIndex: 4 } });
  const short: Partial<LogProgress> = { next: { block: SETTLED - 1_000, logIndex: 0 } };
  t.equal(await found(await chainOf(t), short), undefined);
  t.same(short, { next: { block: SETTLED, logIndex: 0 } }, 'the first range ended before them');
});

t.test('where nothing can be yet, a search begins at the blocks that may be replaced', async (t) => {
  const after = (latest: number, next?: LogProgress['next']): Partial<LogProgress> => {
    const progress: Partial<LogProgress> = next ? { next } : {};
    nothingUntil({ number: latest, timestamp: 0 }, progress);
    return progress;
  };
  const beginning = { next: { block: SETTLED, logIndex: 0 } };
  t.same(after(LATEST), beginning);
  t.same(after(LATEST, { block: SETTLED - 1, logIndex: 7 }), beginning);
  t.same(after(LATEST, { block: SETTLED, logIndex: 7 }), { next: { block: SETTLED, logIndex: 7 } }, 'as far already');
  t.same(after(LATEST, { block: SETTLED + 1, logIndex: 0 }), { next: { block: SETTLED + 1, logIndex: 0 } }, 'further');
  t.same(after(64), {}, 'all blocks may be replaced');
  t.same(after(65), { next: { block: 1, logIndex: 0 } });
});

t.end();
