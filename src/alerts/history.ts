/**
 * What the rows of payments and refunds tell. Nothing is written where they change: what an instance that dies at that
 * moment, a command or another instance has changed is found here all the same, and no payment waits for an alert. What
 * was told is in the outbox, and how far was looked is kept, so that nothing is told twice and nothing is left out; only
 * what comes and goes between two looks is not told: an owed result that its payer got within seconds.
 */
import type { AlertsFile } from '../catalogue/types.ts';
import { type Money, toDecimal } from '../money.ts';
import { PAGE, pages, paidIn } from '../store/pages.ts';
import type { Refund } from '../store/refunds/refund-store.ts';
import type { Payment, Store } from '../store/store.ts';
import { letter, type News, wants } from './letter.ts';

export interface HistoryParts {
  readonly store: Store;
  worth(moved: Pick<Payment, 'amount' | 'asset'>): Money;
  /** A network as the catalogue names it. */
  idOf(network: string): string;
  now(): number;
}

const SEEN = 'alerts seen';
/** How long a write may take from its time until others see it. */
const OVERLAP_MS = 60_000;

/** Those that became owed, or were tried again, since then. */
async function* owedSince(store: Pick<Store, 'list'>, from: number): AsyncGenerator<Payment> {
  for (let updatedSince = from; ; ) {
    const page = await store.list({ states: ['owed'], updatedSince, oldest: true, limit: PAGE, withoutAnswers: true });
    yield* page;
    const last = page.at(-1)?.updatedAt ?? updatedSince;
    if (page.length < PAGE || last === updatedSince) return;
    updatedSince = last;
  }
}

async function* newsSince(parts: HistoryParts, settings: AlertsFile, from: number, to: number): AsyncGenerator<News> {
  const { store, worth, idOf } = parts;
  const dollars = (amount: string, asset: string) => toDecimal(worth({ amount, asset }));
  for await (const payment of owedSince(store, from)) {
    const { id, route, rail, network, amount, asset, receipt, reason, attempt } = payment;
    const paid = { dollars: dollars(receipt?.amount ?? amount, asset), transaction: receipt?.transaction };
    const data = { payment: id, endpoint: route, rail, network: idOf(network), ...paid, reason, attempt };
    yield { type: 'result.owed', about: id, data };
  }
  for await (const refund of pages<Refund>((after) => store.refunds.sentIn({ from, to, after, limit: PAGE }))) {
    const { paymentId, number, network, amount, asset, transaction, reason, isAutomatic } = refund;
    const sent = { network: idOf(network), dollars: dollars(amount, asset), transaction, reason, isAutomatic };
    yield { type: 'refund.executed', about: `${paymentId}:${number}`, data: { payment: paymentId, number, ...sent } };
  }
  if (!settings.webhooks.some((webhook) => wants(webhook, 'payment.settled'))) return;
  for await (const { id, route, rail, network, asset, receipt, state } of paidIn(store, { from, to })) {
    const { transaction, amount, settledAt } = receipt;
    const data = { payment: id, endpoint: route, rail, network: idOf(network), dollars: dollars(amount, asset) };
    // A chain may take a payment back, and another transaction settle it.
    yield {
      type: 'payment.settled',
      about: `${id}:${settledAt}`,
      data: { ...data, transaction, isOwed: state === 'owed' },
    };
  }
}

/** Tells what has come since the last look, by whichever instance: at the first one of all, nothing that was before. */
export function openHistory(parts: HistoryParts): (settings: AlertsFile) => Promise<void> {
  const { store, now } = parts;
  /** At the last look, which overlaps the next one. */
  let told: ReadonlySet<string> = new Set();
  return async (settings) => {
    const moment = now();
    const seen = await store.cached(SEEN, 0);
    const from = seen === undefined ? moment : Number(seen.value) - OVERLAP_MS;
    const found = new Set<string>();
    for await (const news of newsSince(parts, settings, from, moment + 1)) {
      const alert = letter(settings, news, moment);
      found.add(alert.occurrence);
      if (!told.has(alert.occurrence)) await store.alerts.add(alert, moment);
    }
    await store.keep(SEEN, String(moment), moment);
    told = found;
  };
}
