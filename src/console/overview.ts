/** `GET overview`: a period's business, and what somebody has to look at now. */
import { type Money, toDecimal } from '../money.ts';
import type { Payment } from '../store/store.ts';
import type { Attention, Overview, Step, Sum } from './figures.ts';
import type { Query } from './input.ts';
import { Ledger, totalsOf } from './ledger.ts';
import { type Names, namesIn } from './names.ts';
import type { ConsoleParts } from './parts.ts';
import { readSpans } from './spans.ts';

/** More than that is counted as that many: somebody has to look long before. */
const MOST = 10_000;

const sumOf = (worths: readonly Money[]): Sum => ({
  count: worths.length,
  worth: toDecimal(worths.reduce((sum, each) => sum + each, 0n)),
});

/** By the indexes of states, leases and open refunds. */
async function attentionIn({ store, liability }: ConsoleParts, names: Names): Promise<Attention> {
  const list = { withoutAnswers: true, limit: MOST };
  const now = store.now();
  const [owed, unknown, stuck, waiting, credits] = await Promise.all([
    store.list({ ...list, states: ['owed'] }),
    store.list({ ...list, states: ['unknown'] }),
    store.list({ ...list, states: ['claimed', 'fulfilled'], leaseBefore: now }),
    store.refunds.open(MOST),
    liability(),
  ]);
  const worth = ({ receipt, amount, asset }: Payment) => names.worth({ amount: receipt?.amount ?? amount, asset });
  return {
    owed: sumOf(owed.map(worth)),
    unknown: sumOf(unknown.map(worth)),
    stuck: sumOf(stuck.map(worth)),
    refundsWaiting: sumOf(waiting.map(names.worth)),
    creditLiability: toDecimal(credits),
  };
}

export async function overview(parts: ConsoleParts, query: Query): Promise<Overview> {
  const { store, mode } = parts;
  const catalogue = parts.catalogue();
  const names = namesIn(catalogue, mode);
  const { stepMs, ...period } = readSpans(query, store.now());
  await parts.flush();
  const { figures } = store;
  const [attention, money, calls] = await Promise.all([
    attentionIn(parts, names),
    figures.money(period),
    figures.calls(period),
  ]);

  const ledger = () => new Ledger<string>(names);
  const [endpoints, networks, doors] = [ledger(), ledger(), ledger()];
  const all = new Ledger<'all'>(names);
  const steps = new Ledger<number>(names);
  let creditsSold = 0n;
  for (const sum of money.sums) {
    all.addMoney('all', sum);
    steps.addMoney(sum.at, sum);
    endpoints.addMoney(names.endpointOf(sum.route), sum);
    doors.addMoney(sum.door, sum);
    if (sum.network !== '') networks.addMoney(names.networkOf(sum.network), sum);
    if (names.sellsCredits(sum.route)) creditsSold += names.worth({ amount: sum.revenue, asset: sum.asset });
  }
  for (const count of calls) {
    all.addCalls('all', count);
    steps.addCalls(count.at, count);
    endpoints.addCalls(count.endpoint, count);
    doors.addCalls(count.door, count);
    if (count.network !== '') networks.addCalls(names.networkOf(count.network), count);
  }
  const series: Step[] = [];
  for (let at = period.from; at < period.to; at += stepMs) series.push({ at, ...totalsOf(steps.of(at)) });
  return {
    service: catalogue.service.name,
    mode,
    catalogue: catalogue.version,
    from: period.from,
    to: period.to,
    stepMs,
    totals: totalsOf(all.of('all')),
    series,
    endpoints: endpoints.slices(),
    networks: networks.slices(),
    doors: doors.slices(),
    attention,
    creditsSold: toDecimal(creditsSold),
    isWhole: money.isWhole,
  };
}
