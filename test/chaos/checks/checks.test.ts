/** What a campaign would say of gateways that break their promises: each is broken here once, by hand. */
import t from 'tap';
import type { ApiKey, EntryKind, LedgerEntry } from '../../../src/store/credits/credit-store.ts';
import type { Payment } from '../../../src/store/store.ts';
import type { ChatCall } from '../chat.ts';
import { ledgerOf, type Transfer } from '../ledger.ts';
import { eip3009Name } from '../names.ts';
import type { Purchase } from '../purchase.ts';
import type { Answer } from '../send.ts';
import type { Call } from '../upstream.ts';
import { checkAnswers, checkServed } from './answers.ts';
import { checkBooks, checkQuiet } from './books.ts';
import { checkCredits } from './credits.ts';
import type { Evidence } from './evidence.ts';
import { checkProcess } from './process.ts';
import { checkUpstream } from './upstream.ts';
import type { Violation } from './violation.ts';

const PRICE = 1_000n;
const ASSET = `0x${'aa'.repeat(20)}`;
const PAYER = `0x${'bb'.repeat(20)}`;
const NETWORK = 'eip155:1';

/** One purchase that went well: paid once, answered, and written down. `changes` to it are what went wrong. */
function gone(changes: {
  readonly payments?: number;
  readonly settled?: number;
  /** On the network. */
  readonly gained?: bigint;
  readonly answer?: Partial<Answer>;
  readonly row?: Partial<Payment>;
  readonly calls?: readonly Partial<Call>[];
  readonly takenBack?: readonly Transfer[];
  readonly missing?: readonly string[];
  readonly others?: readonly string[];
  readonly unconfirmed?: readonly string[];
}): Evidence {
  const { payments = 1, settled = 1, gained = PRICE * BigInt(settled), answer, row, calls = [{}] } = changes;
  const proofs = Array.from({ length: payments }, (_, number) => {
    const nonce = `0x${String(number + 1).padStart(64, '0')}`;
    return { headers: {}, payment: eip3009Name(NETWORK, ASSET, PAYER, nonce), validBefore: 9e9 };
  });
  const transfers = proofs.slice(0, settled).map(({ payment }) => {
    return { payment, transaction: `of ${payment}`, moved: PRICE };
  });
  const good: Answer = { status: 200, code: 'ok', text: '{"text":"Fog. purchase-1 abc"}', headers: {}, ...answer };
  const purchase: Purchase = {
    mark: 'purchase-1',
    door: 'HTTP',
    path: '/llm/vendor3-5.2',
    body: {},
    otherBody: {},
    method: 'exact',
    wallet: { address: PAYER, privateKey: '0x' },
    habit: 'patient',
    idempotencyKey: undefined,
    identifier: undefined,
    proofs,
    received: proofs.map((proof) => ({ proof, answer: good, at: 100 })),
  };
  const rows = proofs.map(({ payment }, number) => {
    const receipt = { transaction: transfers[number]?.transaction, amount: String(PRICE), settledAt: 1, details: {} };
    const whole = {
      id: payment,
      state: 'settled',
      owner: '',
      settleUpfront: false,
      route: 'llm',
      answer: good,
      receipt,
    };
    return [payment, { ...whole, ...row } as unknown as Payment] as const;
  });
  const books = { payments: new Map(rows), unconfirmed: changes.unconfirmed ?? [], keys: [] };
  const called = { mark: 'purchase-1', slot: 0, begunAt: 10, endedAt: 20, isAbandoned: false, isAnswered: true };
  return {
    purchases: [purchase],
    chats: [],
    crashes: [],
    ledger: ledgerOf(transfers, new Map([[NETWORK, gained]]), changes.takenBack),
    calls: calls.map((call) => ({ ...called, ...call })),
    quiet: books,
    books,
    told: { missing: new Set(changes.missing), others: changes.others ?? [] },
    markOf: () => 'purchase-1',
  };
}

const checkAll = (evidence: Evidence): Violation[] => [
  ...checkAnswers(evidence),
  ...checkServed(evidence.purchases),
  ...checkUpstream(evidence),
  ...checkQuiet(evidence.quiet, evidence.markOf),
  ...checkBooks(evidence),
  ...checkCredits(evidence),
];
const promisesOf = (violations: readonly Violation[]): string[] => [
  ...new Set(violations.map(({ promise }) => promise)),
];

t.test('a purchase that went well breaks none', (t) => {
  t.same(checkAll(gone({})), []);
  t.end();
});

/** Settled and told, and then its chain took it back. */
const LOST = eip3009Name(NETWORK, ASSET, PAYER, `0x${'1'.padStart(64, '0')}`);
const LOST_RECEIPT = { transaction: '0xa', amount: String(PRICE), settledAt: 1, details: {} };
const takenBack = {
  settled: 0,
  takenBack: [{ payment: LOST, transaction: '0xa', moved: PRICE }],
  row: { receipt: LOST_RECEIPT },
  missing: [LOST],
};

t.test('a payment that the chain takes back after it was told breaks none, if the operator is told', (t) => {
  t.same(checkAll(gone(takenBack)), []);
  t.end();
});

/** And then its facilitator settled it once more, by itself. */
const settledAnew = {
  ...takenBack,
  settled: 1,
  others: [`0.001 USDC came from ${PAYER} in transaction of ${LOST}, and no call explains it`],
};

t.test('one that is settled anew under another transaction breaks none, if the operator is told of both', (t) => {
  t.same(checkAll(gone(settledAnew)), []);
  t.end();
});

for (const [what, changes, promise] of [
  [
    'the operator is not told what was settled anew',
    { ...settledAnew, others: [] },
    'the operator is told what the chain took back',
  ],
  ['two payments are settled', { payments: 2, settled: 2 }, 'one purchase is paid once'],
  [
    'an answer comes unpaid',
    { settled: 0, row: { state: 'released', receipt: undefined } },
    'nothing is given for nothing',
  ],
  [
    'a paid answer cannot be had',
    { answer: { status: 402, code: 'used' } },
    'a settled payment has one answer, and has it always',
  ],
  ['somebody gets another answer', { answer: { text: '{"text":"purchase-2 abc"}' } }, 'everybody gets its own answer'],
  ['the gateway fails by itself', { answer: { status: 500, code: 'internal_error' } }, 'no internal_error'],
  [
    'a payer is put off for ever',
    { answer: { status: 409, code: 'x' } },
    'a payer who goes on asking is served or refused for good',
  ],
  ['two calls are made at a time', { calls: [{}, { begunAt: 15 }] }, 'one payment buys one call at a time'],
  [
    'a fourth call is made',
    { calls: [1, 2, 3, 4].map((at) => ({ begunAt: at, endedAt: at })) },
    'calls for one payment are bounded',
  ],
  [
    'work goes on after the answer',
    { calls: [{}, { begunAt: 200, endedAt: 300 }] },
    'what was answered is not worked for again',
  ],
  [
    'a payment is left claimed',
    { row: { state: 'claimed' } },
    'nothing is left in between once the reconciler had its time',
  ],
  ['what was taken is free again', { row: { state: 'released' } }, 'what was taken is settled or owed'],
  ['what is owed stays owed', { row: { state: 'owed' } }, 'what is owed is given'],
  [
    'the receipt is another',
    { row: { receipt: { transaction: '0x', amount: '1' } } },
    'the books are those of the chain',
  ],
  ['the address that is paid got more', { gained: PRICE + 1n }, 'the books are those of the chain'],
  [
    'the operator is not told what the chain took back',
    { ...takenBack, missing: [] },
    'the operator is told what the chain took back',
  ],
  ['the operator is told of what is there', { missing: [LOST] }, 'the operator is told what the chain took back'],
  [
    'the answer of what the chain took back is lost',
    { ...takenBack, answer: { status: 402, code: 'used' } },
    'a settled payment has one answer, and has it always',
  ],
  [
    'a purchase waits for confirmations for ever',
    { unconfirmed: [LOST] },
    'nothing is left in between once the reconciler had its time',
  ],
  ['there is no receipt', { row: { receipt: undefined } }, 'the books are those of the chain'],
] as [string, object, string][]) {
  t.test(`it is noticed when ${what}`, (t) => {
    t.ok(promisesOf(checkAll(gone(changes))).includes(promise));
    t.end();
  });
}

t.test('a call whose gateway was killed or asleep is nobody’s', (t) => {
  t.same(checkUpstream(gone({ calls: [{ isAbandoned: true }, { begunAt: 15 }] })), []);
  t.end();
});

/** The ledger of a key that was given 1,000, with a call that cost 726. */
const LEDGER: readonly [EntryKind, bigint, string, bigint?][] = [
  ['grant', 1_000n, 'given'],
  ['hold', -900n, 'call'],
  ['settle', 174n, 'call', 726n],
];

const CHAT: ChatCall = {
  mark: 'purchase-2',
  begunAt: 10,
  endedAt: 20,
  requestId: 'call',
  requestIds: new Set(['call', 'once more']),
  outcome: 'whole',
  status: 200,
  code: 'ok',
  isCut: false,
};

function withLedger(
  entries: typeof LEDGER,
  changes: { first?: number; balance?: bigint; crash?: number; isCut?: boolean } = {},
  evidence = gone({}),
): Evidence {
  const { first = 1 } = changes;
  let balance = 0n;
  const listed = entries.map(([kind, amount, reference, price], place) => {
    balance += amount;
    return { kind, amount, reference, price, balance, number: first + place } as LedgerEntry;
  });
  const key = { id: 'key', balance: changes.balance ?? balance, held: 0n } as ApiKey;
  return {
    ...evidence,
    books: { ...evidence.books, keys: [{ key, entries: listed }] },
    crashes: changes.crash === undefined ? [] : [{ from: changes.crash, to: changes.crash + 5 }],
    chats: [{ ...CHAT, isCut: changes.isCut ?? false }],
  };
}

t.test('a ledger that adds up breaks no promise', (t) => {
  t.same(checkCredits(withLedger(LEDGER)), []);
  t.end();
});

for (const [what, evidence] of [
  ['a ledger has a gap', withLedger(LEDGER, { first: 2 })],
  ['a balance is not its ledger', withLedger(LEDGER, { balance: 1n })],
  ['a hold has no end', withLedger(LEDGER.slice(0, 2))],
  ['a call is charged twice', withLedger([...LEDGER, ['settle', 0n, 'call', 726n]])],
  [
    'a call is charged for each time that it was sent under one name',
    withLedger([...LEDGER, ['hold', -900n, 'once more'], ['settle', 174n, 'once more', 726n]]),
  ],
  ['a call is charged otherwise', withLedger([...LEDGER.slice(0, 2), ['settle', 173n, 'call', 727n]])],
  ['a call is charged nothing', withLedger(LEDGER.slice(0, 1))],
  ['a call is charged nothing, and the database crashed later', withLedger(LEDGER.slice(0, 1), { crash: 9_000 })],
  [
    'a call that was cut is charged more',
    withLedger([...LEDGER.slice(0, 2), ['settle', 173n, 'call', 727n]], { isCut: true }),
  ],
  ['a call that was cut is not charged', withLedger(LEDGER.slice(0, 1), { isCut: true })],
  ['credits come from nowhere', withLedger([...LEDGER, ['purchase', 5n, 'nobody']])],
  [
    'what the chain took back buys credits',
    withLedger(
      [...LEDGER, ['purchase', PRICE, LOST]],
      {},
      gone({ ...takenBack, row: { ...takenBack.row, route: 'credits' } }),
    ),
  ],
] as [string, Evidence][]) {
  t.test(`it is noticed when ${what}`, (t) => {
    t.not(checkCredits(evidence).length, 0);
    t.end();
  });
}

t.test('a call that was cut costs a part', (t) => {
  const entries: typeof LEDGER = [...LEDGER.slice(0, 2), ['settle', 700n, 'call', 200n]];
  t.same(checkCredits(withLedger(entries, { isCut: true })), []);
  t.not(checkCredits(withLedger(entries)).length, 0, 'another does not');
  t.end();
});

t.test('a charge that the database forgot in a crash is nobody’s fault', (t) => {
  for (const crash of [15, 500]) t.same(checkCredits(withLedger(LEDGER.slice(0, 1), { crash })), []);
  t.end();
});

t.test('a gateway that holds on to what it used is noticed', (t) => {
  const start = { heapBytes: 1e8, descriptors: 40 };
  t.same(checkProcess(start, { heapBytes: 1.1e8, descriptors: 45 }), []);
  t.equal(checkProcess(start, { heapBytes: 2e8, descriptors: 45 }).length, 1);
  t.equal(checkProcess(start, { heapBytes: 1e8, descriptors: 140 }).length, 1);
  t.end();
});
