/** How much a Solana is asked about a payment, whatever its payer did before and since. */
import t from 'tap';
import { findSolanaSettlement, type HistoryProgress } from '../../../src/payment/authorizations/solana.ts';
import { openLooks } from '../../../src/payment/chains/looks.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { readSolanaPayment } from '../../../src/payment/chains/solana-transaction.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { solanaDevnet } from '../facilitators/networks.ts';
import { signV2 } from '../facilitators/payments.ts';
import { countedNode } from './counted-node.ts';

const clock = { ahead: 0 };
const now = () => Date.now() + clock.ahead;
const chains = await startChains({ networks: [solanaDevnet], now });
t.teardown(chains.stop);
const rpcUrl = chains.solana?.rpcUrl ?? '';
const facilitator = localFacilitator(chains.facilitatorOptions);

const other = await signV2(chains, solanaDevnet, { amount: '5' });
const { state } = await facilitator.settle(other.payload, other.requirements);
if (state !== 'settled') throw new Error('the other payment should have settled');
const otherSource = readSolanaPayment(String(other.payload.payload.transaction)).source;
const [example] = (await createRpc(rpcUrl)('getSignaturesForAddress', [otherSource])) as { signature: string }[];
const lookedUp = await createRpc(rpcUrl)('getTransaction', [example?.signature, { encoding: 'base64' }]);

/** A payer with many more transactions, which all look alike, at these times (seconds since the epoch, newest first). */
function crowded(times: readonly number[]) {
  const rows = times.map((blockTime, index) => ({ signature: `other-${index}`, slot: 1, err: null, blockTime }));
  return (method: string, [first, options]: readonly unknown[]): unknown => {
    if (method === 'getTransaction') return String(first).startsWith('other-') ? lookedUp : undefined;
    if (method !== 'getSignaturesForAddress') return undefined;
    const { before, limit = 1_000 } = (options ?? {}) as { before?: string; limit?: number };
    const after = rows.findIndex(({ signature }) => signature === before) + 1;
    return rows.slice(after, after + limit);
  };
}

async function expiredQuery() {
  const payment = await signV2(chains, solanaDevnet);
  const { source, messageHash, blockhash } = readSolanaPayment(String(payment.payload.payload.transaction));
  const since = now();
  clock.ahead += 86_400_000;
  return { source, messageHash, blockhash, since, seconds: Math.floor(since / 1_000) };
}

t.test('what a payer did before its payment, and long after it, is not read', async (t) => {
  const { seconds, ...query } = await expiredQuery();
  const later = Array.from({ length: 10_500 }, (_, index) => seconds + 80_000 - index);
  const earlier = Array.from({ length: 5_000 }, (_, index) => seconds - 4_000 - index);
  const node = await countedNode(t, rpcUrl, crowded([...later, seconds + 10, ...earlier]));
  const found = await findSolanaSettlement({ ...query, rpcUrl: node.url, now: now() });
  t.match(found, { state: 'refused', reason: /expired without reaching the chain/ });
  const { total, methods } = node.taken();
  t.equal(methods.getTransaction, 1, 'only what fell into its time');
  t.ok(total <= 15, `${total} calls`);
});

t.test('a payer who is busy while its payment is open is read once, some at each look', async (t) => {
  const { seconds, ...query } = await expiredQuery();
  const times = Array.from({ length: 200 }, (_, index) => seconds + 200 - index);
  const node = await countedNode(t, rpcUrl, crowded([...times, seconds - 4_000]));
  let time = 0;
  const looks = openLooks<HistoryProgress>(() => time);
  const look = () => findSolanaSettlement({ ...query, rpcUrl: node.url, now: now() }, looks);
  let read = 0;
  let found = await look();
  for (let looked = 1; looked < 20; looked += 1) {
    const { total, methods } = node.taken();
    t.ok(total <= 60);
    read += methods.getTransaction ?? 0;
    if (found.state !== 'unknown') break;
    t.match(await look(), { state: 'unknown' }, 'asked again at once');
    t.equal(node.taken().total, 0, 'the answer is the last one');
    time += 10_000;
    found = await look();
  }
  t.match(found, { state: 'refused', reason: /expired without reaching the chain/ });
  t.equal(read, 200);
});

t.test('a transaction that a chain took after it had stood still is found', async (t) => {
  const payment = await signV2(chains, solanaDevnet, { amount: '777' });
  const { source, messageHash, blockhash } = readSolanaPayment(String(payment.payload.payload.transaction));
  const query = { source, messageHash, blockhash, since: now() - 7_200_000 };
  const looks = openLooks<HistoryProgress>(now);
  const look = () => findSolanaSettlement({ ...query, rpcUrl, now: now() }, looks);
  t.match(await look(), { state: 'unknown' }, 'seen two hours ago, and its blockhash is valid still');
  t.match(await facilitator.settle(payment.payload, payment.requirements), { state: 'settled' });
  clock.ahead += 86_400_000;
  t.match(await look(), { state: 'settled', amount: 777n });
});

t.test('a transaction that a node lists and cannot show yet is looked at again', async (t) => {
  const payment = await signV2(chains, solanaDevnet, { amount: '778' });
  const { source, messageHash, blockhash } = readSolanaPayment(String(payment.payload.payload.transaction));
  const query = { source, messageHash, blockhash, since: now() };
  t.match(await facilitator.settle(payment.payload, payment.requirements), { state: 'settled' });
  clock.ahead += 86_400_000;
  let isShown = false;
  const node = await countedNode(t, rpcUrl, (method) => (method === 'getTransaction' && !isShown ? {} : undefined));
  const looks = openLooks<HistoryProgress>(now);
  const look = () => findSolanaSettlement({ ...query, rpcUrl: node.url, now: now() }, looks);
  t.match(await look(), { state: 'unknown', reason: /could not be read in full/ });
  isShown = true;
  clock.ahead += 10_000;
  t.match(await look(), { state: 'settled', amount: 778n });
});
