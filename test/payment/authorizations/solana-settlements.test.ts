/** A Solana transaction: which terms it has to meet, how long its blockhash has to last, and what its chain says became of it. */
import t, { type Test } from 'tap';
import { refused, unknown, unused } from '../../../src/on-chain/settlement.ts';
import {
  demandBlockhash,
  findSolanaSettlement,
  type HistoryProgress,
  isSolana,
  readSolana,
  type SolanaQuery,
} from '../../../src/payment/authorizations/solana.ts';
import { openLooks } from '../../../src/payment/chains/looks.ts';
import { GONE, type Node } from '../chains/node.ts';
import {
  AUTHORITY,
  addressOf,
  BLOCKHASH,
  MINT,
  openSolanaNode,
  type Row,
  SOURCE,
  type SolanaChain,
  shownAs,
  transferOf,
  wireOf,
} from '../chains/solana-chain.ts';

const wire = wireOf();
const TEXT = wire.toString('base64');
const payment = readSolana(TEXT);
const TERMS = { chain: 'solana:x', asset: MINT, payTo: addressOf(50), amount: 678n };

t.test('a payment is read as it was sent, and is the same whatever its signatures are', async (t) => {
  t.match(payment, {
    kind: 'solana',
    scheme: 'exact',
    payer: AUTHORITY,
    source: SOURCE,
    blockhash: BLOCKHASH,
    endsAt: undefined,
    shown: TEXT,
    payload: { transaction: TEXT },
  });
  const signed = readSolana(Buffer.from(wire).fill(0, 1, 129).toString('base64'));
  const other = readSolana(wireOf({ blockhash: addressOf(10) }).toString('base64'));
  const identityOf = ({ identity }: typeof payment, chain = 'solana:x') => identity(chain, MINT);
  t.equal(identityOf(signed), identityOf(payment));
  t.not(identityOf(other), identityOf(payment));
  t.not(identityOf(payment, 'solana:y'), identityOf(payment));
  t.equal(isSolana(payment), true);
  t.equal(isSolana({ ...payment, kind: 'eip3009' }), false);
});

t.test('what is no transaction with one transfer is refused by its name', async (t) => {
  const two = wireOf({ instructions: [transferOf(1n), transferOf(2n)] }).toString('base64');
  for (const given of [undefined, 7, '', 'a b', `${TEXT}===`, `0x${wire.toString('hex')}`, 'AAAA', two]) {
    t.throws(() => readSolana(given), {
      kind: 'malformed-credential',
      message: 'payload.transaction must be a signed Solana transaction in base64 with one TransferChecked',
    });
  }
});

t.test('a payment is for the price, in the token that is asked, and ends by itself', async (t) => {
  const kind = 'verification-failed';
  t.doesNotThrow(() => payment.check(TERMS, 0));
  t.throws(() => payment.check({ ...TERMS, amount: 679n }, 0), {
    kind: 'payment-insufficient',
    message: 'the payment is for 678, the price is 679 atomic units',
  });
  t.throws(() => payment.check({ ...TERMS, amount: 677n }, 0), { kind, message: /more than the call costs/ });
  t.throws(() => payment.check({ ...TERMS, asset: SOURCE }, 0), {
    kind,
    message: `the payment is in ${MINT}, asked is ${SOURCE}`,
  });
  const advance = { program: '11111111111111111111111111111111', data: Buffer.of(4, 0, 0, 0) };
  const durable = readSolana(wireOf({ instructions: [advance, transferOf(678n)] }).toString('base64'));
  t.throws(() => durable.check(TERMS, 0), { kind, message: /durable nonce: sign with a recent blockhash/ });
});

t.test('a blockhash has to outlast the work, and settling behind it', async (t) => {
  const ended = { kind: 'payment-expired', message: 'the blockhash of the transaction has expired: sign a new one' };
  const short = { kind: 'payment-expired', message: /ends before the work may be done/ };
  for (const [age, deadlineMs, refusal] of [
    [0, 0, undefined],
    [0, 57_000, undefined],
    [0, 57_001, short],
    [100, 17_000, undefined],
    [100, 17_001, short],
    // 142 blocks leave 3.2 seconds, and 143 leave 2.8.
    [142, 200, undefined],
    [142, 201, short],
    [143, 0, ended],
    [143, 60_000, ended],
    [150, 0, ended],
  ] as const) {
    const others = Array.from({ length: age }, (_, at) => addressOf(at + 20));
    const recentBlockhashes = age < 150 ? [...others, BLOCKHASH] : others;
    const { url } = await openSolanaNode(t, { recentBlockhashes });
    const demanded = demandBlockhash(url, payment, deadlineMs);
    const what = `${age} blocks old, for ${deadlineMs} ms`;
    if (refusal) await t.rejects(demanded, refusal, what);
    else await t.resolves(demanded, what);
  }
});

t.test('a payment whose blockhash cannot be asked for is not taken', async (t) => {
  const { url } = await openSolanaNode(t, { instead: () => GONE });
  await t.rejects(demandBlockhash(url, payment, 0), {
    kind: 'verification-failed',
    message: 'the payment could not be checked at the moment: try again',
    cause: { name: 'ChainUnreachable' },
  });
});

/** Milliseconds. When the payment was seen, and a moment at which its blockhash may have ended. */
const SINCE = 1_600_000_000_000;
const LATER = SINCE + 60_001;
/** What the chain's clock shows then, in whole seconds. */
const TIME = Math.ceil(LATER / 1_000);
const { messageHash } = payment.recoveryQuery(TERMS) as unknown as SolanaQuery;
const OTHER = shownAs(wireOf({ instructions: [transferOf(1n)] }));

/** A transaction of the payer, so many seconds after the payment was seen. */
const row = (signature: string, after: number | null, changes: Partial<Row> = {}): Row => ({
  signature,
  blockTime: after === null ? null : SINCE / 1_000 + after,
  shown: OTHER,
  ...changes,
});
const own = (after: number | null, changes: Partial<Row> = {}) =>
  row('own', after, { shown: shownAs(wire), ...changes });
const queryOf = ({ url }: Node, changes: Partial<SolanaQuery> = {}): SolanaQuery => ({
  rpcUrl: url,
  source: SOURCE,
  messageHash,
  blockhash: BLOCKHASH,
  since: SINCE,
  now: LATER,
  ...changes,
});
async function found(t: Test, chain: SolanaChain, changes: Partial<SolanaQuery> = {}) {
  return findSolanaSettlement(queryOf(await openSolanaNode(t, chain), changes));
}
const settled = { state: 'settled', transaction: 'own', amount: 678n };
const open = unused('the transaction has not reached the chain yet');
const over = refused('the transaction expired without reaching the chain');
const incomplete = unknown('the history of the payer could not be read in full');

t.test('what is remembered of a payment is enough to find it', async (t) => {
  t.same(payment.recoveryQuery(TERMS), { kind: 'solana', source: SOURCE, messageHash, blockhash: BLOCKHASH });
});

t.test('a payment is settled by its own transaction, among others, with its signature', async (t) => {
  t.same(await found(t, { history: [row('newer', 20), own(10), row('older', 5)] }), settled);
  t.same(await found(t, { history: [own(10)], isValid: () => true }), settled, 'its blockhash may be valid still');
  t.same(await found(t, { history: [own(null)] }), settled, 'also where nobody tells when that was');
  const err = { InstructionError: [1, { Custom: 1 }] };
  t.same(await found(t, { history: [own(10, { err })] }), refused('the transaction failed on the chain'));
  t.same(await found(t, { history: [row('other', 10, { err }), own(5)] }), settled, 'whatever failed beside it');
});

t.test(
  'a payment that is not there is open until its blockhash has ended everywhere, and a minute has passed',
  async (t) => {
    const history = [row('other', 10)];
    t.same(await found(t, { history }), over);
    t.same(await found(t, { history: [] }), over, 'a payer without any transaction has one like others');
    t.same(await found(t, { history }, { now: LATER - 1 }), open);
    for (const where of ['finalized', 'processed']) {
      t.same(await found(t, { history, isValid: (_, commitment) => commitment === where }), open, `valid if ${where}`);
    }
    t.same(await found(t, { history, isValid: (hash) => hash !== BLOCKHASH }), over, 'others do not matter');
    for (const valid of [null, {}, { value: null }]) {
      const instead = (method: string) => (method === 'isBlockhashValid' ? valid : undefined);
      t.same(await found(t, { history, instead }), open, `the node says ${JSON.stringify(valid)}`);
    }
  },
);

t.test('a node that stands still, and so knows nothing of the payment, proves nothing', async (t) => {
  const stoodAt = SINCE / 1_000 + 60;
  t.same(await found(t, { time: stoodAt }, { now: SINCE + 86_400_000 }), open);
  t.same(await found(t, { time: stoodAt + 1 }, { now: SINCE + 86_400_000 }), over);
  const untold = unknown("the chain's node does not tell the time");
  for (const answer of [null, {}, { context: { slot: 1 }, value: { data: ['', 'base64'] } }]) {
    const instead = (method: string) => (method === 'getAccountInfo' ? answer : undefined);
    t.same(await found(t, { instead }), untold, JSON.stringify(answer));
  }
});

t.test('of several nodes behind one address none answers that is behind the one which told the time', async (t) => {
  const node = await openSolanaNode(t, { history: [row('other', 10)] });
  t.same(await findSolanaSettlement(queryOf(node)), over);
  const asked = node.asked().filter(({ method }) => /isBlockhashValid|getSignaturesForAddress/.test(method));
  t.match(asked, Array(3).fill({ params: [String, { minContextSlot: 1 }] }));
});

t.test("by default it is asked as of now, by the gateway's clock", async (t) => {
  const { now: _, ...query } = queryOf(await openSolanaNode(t, {}));
  t.same(await findSolanaSettlement({ ...query, since: Date.now() - 30_000 }), open);
  t.same(await findSolanaSettlement({ ...query, since: Date.now() - 3_600_000 }), over);
});

t.test('only what fell into the time of the payment is looked at', async (t) => {
  const node = await openSolanaNode(t, {
    time: TIME,
    history: [row('too new', 601), row('newest', 600), row('oldest', -180), row('too old', -181), own(-182)],
  });
  t.same(await findSolanaSettlement(queryOf(node)), over);
  const asked = node.asked().filter(({ method }) => method === 'getTransaction');
  t.same(
    asked.map(({ params }) => params),
    [
      ['newest', { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }],
      ['oldest', { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }],
    ],
  );
});

t.test('a payment is found by whatever wrong clock it was dated, as long as it is asked about by that', async (t) => {
  for (const wrongBy of [-86_400_000, -600_000, 600_000, 86_400_000]) {
    const dated = { since: SINCE + wrongBy, now: LATER + wrongBy };
    t.same(await found(t, { time: TIME, history: [row('newer', 20), own(10)] }, dated), settled, `${wrongBy} ms`);
  }
});

t.test('a long history is read page by page, to its end', async (t) => {
  const rows = (many: number) => Array.from({ length: many }, (_, at) => row(`too new ${at}`, 700));
  for (const many of [999, 1_000, 1_999]) {
    const node = await openSolanaNode(t, { time: TIME, history: [...rows(many), own(10)] });
    t.same(await findSolanaSettlement(queryOf(node)), settled, `behind ${many} others`);
    const pages = node.asked().filter(({ method }) => method === 'getSignaturesForAddress');
    t.equal(pages.length, Math.floor(many / 1_000) + 1);
    t.ok(pages.every(({ params: [account] }) => account === SOURCE));
  }
  t.same(await found(t, { time: TIME, history: rows(1_000) }), over, 'a page that is full may be the last one');
});

t.test('a history that the node does not tell, or not in full, proves nothing', async (t) => {
  const silent = unknown('the history of the payer could not be read');
  for (const answer of [null, 'none', {}]) {
    const instead = (method: string) => (method === 'getSignaturesForAddress' ? answer : undefined);
    t.same(await found(t, { instead }), silent, JSON.stringify(answer));
  }
  for (const shown of [null, {}, { transaction: null }, { transaction: 'AAAA' }, { transaction: [7, 'base64'] }]) {
    t.same(await found(t, { history: [row('hidden', 10, { shown })] }), incomplete, JSON.stringify(shown));
    t.same(await found(t, { history: [row('hidden', 10, { shown }), own(5)] }), settled, 'unless it is found');
  }
});

t.test('a payer who was busy is read once, some at each look', async (t) => {
  const history = Array.from({ length: 100 }, (_, at) => row(`other ${at}`, 100 - at));
  const node = await openSolanaNode(t, { history });
  const clock = { now: LATER };
  const looks = openLooks<HistoryProgress>(() => clock.now);
  const look = async () => {
    clock.now += 10_000;
    return findSolanaSettlement(queryOf(node, { now: clock.now }), looks);
  };
  t.same(await look(), unknown('the chain was not searched in full yet'));
  t.same(await look(), over);
  const read = node.asked().filter(({ method }) => method === 'getTransaction');
  t.same(
    read.map(({ params: [signature] }) => signature),
    history.map(({ signature }) => signature),
  );
});

t.test('what may still come in is looked for again among the newest', async (t) => {
  for (const [name, before, first] of [
    ['its blockhash was valid', { isValid: () => true, history: [row('other', 1)] }, open],
    ['the node could not show it', { history: [own(2, { shown: null }), row('other', 1)] }, incomplete],
  ] as [string, SolanaChain, object][]) {
    const chain = { ...before };
    const node = await openSolanaNode(t, chain);
    const looks = openLooks<HistoryProgress>();
    t.same(await findSolanaSettlement(queryOf(node), looks), first);
    Object.assign(chain, { isValid: undefined, history: [own(2), row('other', 1)] });
    t.same(await findSolanaSettlement(queryOf(node), looks), settled, name);
  }
});

t.test('a chain that stood still takes a transaction long after it was seen', async (t) => {
  const HOURS = 7_200_000;
  const chain: SolanaChain & { history: Row[] } = { time: TIME, history: [], isValid: () => true };
  const node = await openSolanaNode(t, chain);
  const looks = openLooks<HistoryProgress>();
  t.same(await findSolanaSettlement(queryOf(node, { now: SINCE + HOURS }), looks), open);
  const history = [row('too new', 7_801), own(7_800)];
  Object.assign(chain, { time: (SINCE + 10 * HOURS) / 1_000, isValid: undefined, history });
  t.same(await findSolanaSettlement(queryOf(node, { now: SINCE + 10 * HOURS }), looks), settled);
  t.notOk(node.asked().some(({ method, params }) => method === 'getTransaction' && params[0] === 'too new'));
  t.same(await findSolanaSettlement(queryOf(node, { now: SINCE + 10 * HOURS })), over, 'who did not know gives up');
});

t.end();
