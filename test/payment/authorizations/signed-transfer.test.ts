/** A signed Tempo transfer: when it is taken, to the second, what is read of its payload, and what became of it. */
import t, { type Test } from 'tap';
import { refused, unknown, unused } from '../../../src/on-chain/settlement.ts';
import {
  checkSignedTransfer,
  demandCover,
  demandNextNonce,
  type ExpectedTransfer,
  memoEnd,
  openTempoTransfers,
  readTempoPayment,
  type SignedTransfer,
  searchedFrom,
} from '../../../src/payment/authorizations/tempo.ts';
import type { LogProgress } from '../../../src/payment/chains/evm-logs.ts';
import { openLooks } from '../../../src/payment/chains/looks.ts';
import { type EvmChain, type EvmLog, hex, openEvmNode, rangesIn, word } from '../chains/evm-chain.ts';
import { NodeError } from '../chains/node.ts';

const NOW = 1_700_000_000_000;
const SECONDS = NOW / 1000;
const ASKED = { chainId: 4217, challengeExpires: NOW + 300_000 };
/** When the challenge ends, by a clock that is a minute behind. */
const LAST = SECONDS + 300 + 60;
const MEMO = `0x${'ab'.repeat(32)}`;
const EXPIRING = { key: 2n ** 256n - 1n, value: 0n };
const SIGNED: SignedTransfer = {
  chainId: 4217,
  validBefore: SECONDS + 60,
  validAfter: 0,
  nonce: EXPIRING,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  gas: 0n,
  feeToken: undefined,
  provenSigner: true,
  isSponsored: false,
  memo: MEMO,
};
const check = (changes: Partial<SignedTransfer>) => checkSignedTransfer({ ...SIGNED, ...changes }, ASKED, NOW);

t.test('it is taken from its first second to its last', async (t) => {
  for (const validBefore of [SECONDS + 1, LAST]) t.same(check({ validBefore }), { memo: MEMO, validBefore });
  t.same(check({ validAfter: SECONDS }), { memo: MEMO, validBefore: SECONDS + 60 });
  t.throws(() => check({ validBefore: SECONDS }), { kind: 'payment-expired', message: /has expired/ });
  t.throws(() => check({ validAfter: SECONDS + 1 }), { kind: 'verification-failed', message: /see validAfter/ });
  t.throws(() => check({ validBefore: LAST + 1 }), {
    kind: 'verification-failed',
    message: /no later than the challenge expires/,
  });
});

t.test('one without an end needs a place in a sequence', async (t) => {
  const nonce = { key: 0n, value: 7n };
  t.same(check({ validBefore: undefined, nonce }), { memo: MEMO, validBefore: undefined });
  t.throws(() => check({ validBefore: undefined }), { kind: 'verification-failed', message: /needs a validBefore/ });
});

t.test('one for another chain, or without the memo of its challenge, is refused', async (t) => {
  t.throws(() => check({ chainId: 1 }), { kind: 'verification-failed', message: /for chain 1, asked is 4217/ });
  t.throws(() => check({ memo: undefined }), { kind: 'verification-failed', message: /no memo/ });
});

t.test('its payload is a transaction or a hash, and nothing between', async (t) => {
  const hash = `0x${'0F'.repeat(32)}`;
  t.same(readTempoPayment({ type: 'transaction', signature: '0x76Ff', hash }), {
    type: 'transaction',
    signature: '0x76Ff',
  });
  t.same(readTempoPayment({ type: 'hash', hash, signature: 1 }), { type: 'hash', hash });
  const malformed = [
    {},
    { type: 'transaction' },
    { type: 'transaction', signature: '0x' },
    { type: 'transaction', signature: '76ff' },
    { type: 'transaction', signature: ['0x76ff'] },
    { type: 'hash' },
    { type: 'hash', hash: `${hash}0` },
    { type: 'hash', hash: [hash] },
    { type: 'hash', signature: '0x76ff' },
    { type: 'proof', hash, signature: '0x76ff' },
  ];
  for (const payload of malformed) {
    t.throws(() => readTempoPayment(payload), { kind: 'malformed-credential', message: /a tempo payload is/ });
  }
});

t.test('challenges have memos of their own, seven bytes of hex', async (t) => {
  t.match(memoEnd('one'), /^[0-9a-f]{14}$/);
  t.equal(memoEnd('one'), memoEnd('one'));
  t.not(memoEnd('one'), memoEnd('two'));
});

const address = (byte: string): string => `0x${byte.repeat(20)}`;
const [CURRENCY, PAYER, RECIPIENT, OTHER] = [address('c0'), address('0A'), address('bB'), address('dd')];
const TRANSFER_WITH_MEMO = '0x57bc7354aa85aed339e000bccffabbc529466af35f0772c8f8ee1145927de7f0';
/** Half-second blocks. */
const LATEST = 30_000;
const timeOf = (block: number): number => SECONDS + Math.floor(block / 2);
const FROM = 25_000;
const HASH = word('5e771e');

/** The nonces that the chain takes next of the payer, by their keys, at its newest block and behind all that waits. */
type Nonces = Readonly<Record<number, readonly [latest: number, pending: number]>>;

/** `since`: the block that took the payer's last transaction. */
function nonceNode(t: Test, nonces: Nonces, chain: Partial<EvmChain> = {}, since = 0) {
  const nonceAt = (key: number, block: unknown) => {
    const [latest = 0, pending = 0] = nonces[key] ?? [];
    if (block === 'pending') return hex(pending);
    return hex(Number(block) < since ? latest - 1 : latest);
  };
  return openEvmNode(t, {
    latest: LATEST,
    timeOf,
    logs: [],
    // The precompile's `getNonce(address,uint256)`, of all keys but the account's own.
    call: (to, data, block) => {
      const asked = `0x89535803${word(PAYER).slice(2)}`;
      const isAsked = to === '0x4e4f4e4345000000000000000000000000000000' && data.startsWith(asked);
      const key = Number(`0x${data.slice(asked.length)}`);
      if (!isAsked || key === 0) throw new NodeError(3, 'execution reverted');
      return word(nonceAt(key, block));
    },
    instead: (method, [account, block]) =>
      method === 'eth_getTransactionCount' && account === PAYER ? nonceAt(0, block) : undefined,
    ...chain,
  });
}

t.test("one with a place in a sequence has to be the payer's next, or behind those that wait", async (t) => {
  const { rpc } = await nonceNode(t, { 0: [5, 7], 8: [20, 20] });
  for (const [key, values] of [
    [0n, [5n, 6n, 7n]],
    [8n, [20n]],
  ] as const) {
    for (const value of values) await t.resolves(demandNextNonce(rpc, PAYER, { key, value }), `${key}: ${value}`);
  }
  await t.resolves(demandNextNonce(rpc, PAYER, { key: 2n ** 256n - 1n, value: 99n }), 'an expiring one has none');
  for (const [key, value, reason] of [
    [0n, 4n, 'has been used: sign with 7'],
    [0n, 8n, 'comes after transactions that the chain does not have: sign with 7'],
    [8n, 19n, 'has been used: sign with 20'],
    [8n, 21n, 'comes after transactions that the chain does not have: sign with 20'],
  ] as const) {
    await t.rejects(demandNextNonce(rpc, PAYER, { key, value }), {
      kind: 'verification-failed',
      message: `the nonce ${value} of the payer ${reason}`,
    });
  }
});

t.test('what pays its fee in the token that it transfers has to have both', async (t) => {
  const OTHER = '0x20c0000000000000000000000000000000000009';
  let preferred = '0x0';
  const { rpc } = await openEvmNode(t, {
    latest: LATEST,
    timeOf,
    logs: [],
    call: (to, data) => {
      // The FeeManager's `userTokens(address)`, and the balance of the token.
      if (to === '0xfeec000000000000000000000000000000000000' && data === `0xed498fa8${word(PAYER).slice(2)}`) {
        return word(preferred);
      }
      if (to === CURRENCY && data === `0x70a08231${word(PAYER).slice(2)}`) return word(1_001);
      throw new NodeError(3, 'execution reverted');
    },
  });
  const demand = (amount: string, feeToken: string | undefined) =>
    demandCover(rpc, { payer: PAYER, currency: CURRENCY, amount }, { feeToken, gas: 1_500_000n }, 1_000_000n);
  // The fee is 1.5 millionths, and goes up.
  const refused = {
    kind: 'verification-failed',
    message: /^the payer has 1 atomic units too little .* fee of up to 2 /,
  };
  for (const token of [CURRENCY, CURRENCY.toUpperCase().replace('X', 'x'), undefined]) {
    await t.resolves(demand('999', token));
    await t.rejects(demand('1000', token), refused);
  }
  await t.resolves(demand('1000', OTHER), 'another token pays for it');
  preferred = OTHER;
  await t.resolves(demand('1000', undefined), 'or is what its payer prefers');
  await t.rejects(demand('1000', CURRENCY), refused);
});

const paid = (block: number, amount: number, changes: Partial<EvmLog> = {}): EvmLog => ({
  block,
  index: 0,
  address: CURRENCY,
  topics: [TRANSFER_WITH_MEMO, word(PAYER), word(RECIPIENT), MEMO],
  data: word(amount),
  transaction: HASH,
  ...changes,
});
const otherThan = (block: number): EvmLog[] => [
  paid(block, 99, { transaction: word('other') }),
  paid(block, 100, { transaction: word('other'), address: OTHER }),
  ...[word(OTHER), word(MEMO.replaceAll('a', 'b'))].flatMap((topic) =>
    [1, 2, 3].map((at) => {
      const topics = [TRANSFER_WITH_MEMO, word(PAYER), word(RECIPIENT), MEMO].with(at, topic);
      return paid(block, 100, { transaction: word('other'), topics });
    }),
  ),
];
const EXPECTED: ExpectedTransfer = {
  currency: CURRENCY,
  payer: PAYER,
  recipient: RECIPIENT,
  amount: '100',
  memo: MEMO,
  fromBlock: FROM,
};
const settled = { state: 'settled', transaction: HASH, amount: 100n };

t.test('one with an end is settled by its transfer, of its amount and under its memo', async (t) => {
  const expected = { ...EXPECTED, validBefore: timeOf(LATEST) - 10 };
  const look = async (logs: EvmLog[], changes: Partial<EvmChain> = {}) => {
    const node = await nonceNode(t, {}, { logs, ...changes });
    const found = await openTempoTransfers(node.url)(expected);
    return { found, ranges: rangesIn(node.asked()) };
  };
  const open = unused('the chain has not seen the transaction yet');
  t.same(await look([...otherThan(FROM), paid(FROM, 100)]), { found: settled, ranges: [[FROM, LATEST]] });
  t.same((await look(otherThan(FROM))).found, open);
  t.same((await look([paid(FROM - 1, 100)])).found, open, 'not before it was sent');
  const later = { latest: 60_000, timeOf: () => timeOf(LATEST) };
  const atTheEnd = await look([paid(FROM + 10_000, 100), paid(FROM + 10_001, 99)], later);
  t.same(atTheEnd, {
    found: settled,
    ranges: [10, 20].map((end) => [FROM + 1_000 * (end - 10), FROM + 1_000 * end - 1]),
  });
  for (const answer of [null, 'none']) {
    const { found } = await look([], { instead: (method) => (method === 'eth_getLogs' ? answer : undefined) });
    t.same(found, unknown("the chain's node answered eth_getLogs with something else"));
  }
});

t.test('one with an end is found however long before it its search begins', async (t) => {
  const expected = { ...EXPECTED, fromBlock: 0, validBefore: timeOf(FROM) + 20 };
  const look = async (logs: EvmLog[]) => {
    const { url } = await nonceNode(t, {}, { logs });
    return openTempoTransfers(url)(expected);
  };
  t.same(await look([paid(FROM, 100)]), settled, 'the node that told where the chain stood was hours behind');
  t.same(await look([]), refused('the transaction expired before the chain took it'));
});

t.test('nobody searches from where a node did not tell', async (t) => {
  for (const answer of [null, '', '0x', {}]) {
    const { rpc } = await nonceNode(
      t,
      {},
      { instead: (method) => (method === 'eth_blockNumber' ? answer : undefined) },
    );
    await t.rejects(
      searchedFrom(rpc),
      { message: "the chain's node does not tell its newest block" },
      JSON.stringify(answer),
    );
  }
  const { rpc } = await nonceNode(t, {}, { instead: (method) => (method === 'eth_blockNumber' ? '0x4b1' : undefined) });
  t.equal(await searchedFrom(rpc), 1);
});

t.test('one that the chain did not take is open until a minute after its end', async (t) => {
  const { url } = await nonceNode(t, {});
  const find = openTempoTransfers(url);
  t.same(
    await find({ ...EXPECTED, validBefore: timeOf(LATEST) - 60 }),
    unused('the chain has not seen the transaction yet'),
  );
  t.same(
    await find({ ...EXPECTED, validBefore: timeOf(LATEST) - 61 }),
    refused('the transaction expired before the chain took it'),
  );
});

t.test('one that the chain took at its end is not given up while a node has not come as far', async (t) => {
  const usedIn = LATEST - 80;
  const nonce = { key: '0', value: '6' };
  for (const end of [{ validBefore: timeOf(usedIn) + 1 }, { nonce }]) {
    let isBehind = true;
    const logs = [paid(usedIn, 100)];
    const instead = (method: string, [_, block]: readonly unknown[]) => {
      if (method === 'eth_getTransactionCount') return hex(Number(block) < usedIn ? 6 : 7);
      return isBehind && method === 'eth_getLogs' ? [] : undefined;
    };
    const { url } = await nonceNode(t, {}, { logs, instead });
    let clock = 0;
    const looks = openLooks<LogProgress>(() => clock);
    const find = openTempoTransfers(url, looks);
    t.match(await find({ ...EXPECTED, ...end }), { state: 'unknown' });
    [clock, isBehind] = [60_000, false];
    t.same(await find({ ...EXPECTED, ...end }), settled);
  }
});

for (const key of [0, 8]) {
  t.test(`one without an end is open while its nonce is free (key ${key})`, async (t) => {
    const expected = { ...EXPECTED, nonce: { key: String(key), value: '6' } };
    const look = async (next: number, logs: EvmLog[]) => {
      const node = await nonceNode(t, { [key]: [next, 99] }, { logs });
      const found = await openTempoTransfers(node.url)(expected);
      return { found, asked: node.asked() };
    };
    const logs = [...otherThan(26_000), paid(26_500, 100), paid(27_500, 100, { transaction: word('later') })];
    const open = await look(6, logs);
    t.same(open.found, unused('the chain has not seen the transaction yet'));
    t.same(rangesIn(open.asked), [], 'a log would not be its own');
    t.same(open.asked[1]?.params[1], hex(LATEST), 'as of the block up to which is searched');
    const taken = await look(7, logs);
    t.same(taken.found, settled);
    t.same(rangesIn(taken.asked), [
      [FROM, FROM + 999],
      [FROM + 1_000, FROM + 1_999],
    ]);
    const { found } = await look(7, otherThan(26_000));
    t.same(found, refused('the payer used the nonce for another transaction'));
    const justNow = unknown('the nonce was used just now, and not every node may have the log of it');
    for (const [usedIn, expects] of [
      [LATEST - 119, justNow],
      [LATEST - 120, found],
    ] as const) {
      const node = await nonceNode(t, { [key]: [7, 99] }, { logs: otherThan(26_000) }, usedIn);
      t.same(await openTempoTransfers(node.url)(expected), expects, `in block ${usedIn}`);
    }
  });
}

t.test(
  'one with neither an end nor a nonce is unknown for ever, and so is one whose chain does not answer',
  async (t) => {
    const { url, asked } = await nonceNode(t, {}, { instead: () => null });
    const find = openTempoTransfers(url);
    t.same(await find(EXPECTED), unknown('neither an end nor a nonce of the transaction is known'));
    t.same(asked(), []);
    const silent = unknown("the chain's node does not know block latest");
    t.same(await find({ ...EXPECTED, validBefore: 1 }), silent);
    t.same(await find({ ...EXPECTED, nonce: { key: '0', value: '6' } }), silent);
  },
);

t.end();
