/** `npm run payments`: what was paid, what is owed, and what is left of it. */
import './broken-pipe.ts';
import { parseArgs } from 'node:util';
import { loadCatalogue } from '../catalogue/load.ts';
import { finalCodes } from '../errors.ts';
import { toDecimal } from '../money.ts';
import { type Asset, assetsOf, fromAtomic } from '../payment/assets.ts';
import { rails } from '../rails/index.ts';
import { shipped } from '../shipped.ts';
import type { Payment } from '../store/store.ts';
import { inColumns } from './columns.ts';
import { onStore, period, UsageProblem } from './command.ts';
import { lossTable } from './payments/losses.ts';
import { marginTable, readMargins } from './payments/margins.ts';

const titles = rails.map(({ title }) => title);

const USAGE = `npm run payments -- [options]

  (no option)       payments over ${titles.join(' and ')}, newest first
  --owed            those that are paid and have no result: refund them, or let the payer send the request again;
                    where a refund is due, the provider has refused for good
  --margins         price, cost and margin of each endpoint, over ${titles.join(', ')} and credits
  --losses          what was worked for and never paid, by network, endpoint and payer (of a day, unless --since)
  --since <period>  not older than that: 30m, 24h, 7d (default: everything)
  --limit <n>       at most so many (default: 50; not for --margins and --losses)`;

function readArguments(words: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        owed: { type: 'boolean', default: false },
        margins: { type: 'boolean', default: false },
        losses: { type: 'boolean', default: false },
        since: { type: 'string' },
        limit: { type: 'string', default: '50' },
      },
    });
    const limit = Number(values.limit);
    if (!Number.isInteger(limit) || limit < 1) throw new Error(`--limit is a number of 1 or more: got ${values.limit}`);
    const { owed, margins, losses } = values;
    if ([owed, margins, losses].filter(Boolean).length > 1) {
      throw new Error('--owed, --margins and --losses are questions of their own: ask one at a time');
    }
    const asked = values.since ?? (losses ? '24h' : undefined);
    const since = asked === undefined ? 0 : Date.now() - period('--since', asked);
    return { ...values, limit, since };
  } catch (error) {
    throw new UsageProblem(`${error instanceof Error ? error.message : 'unreadable arguments'}\n\n${USAGE}`);
  }
}

type AssetOf = (address: string) => Asset;

function amountOf({ receipt, amount, asset }: Payment, assetOf: AssetOf): string {
  const found = assetOf(asset);
  return `${toDecimal(fromAtomic(receipt?.amount ?? amount, found))} ${found.symbol}`;
}

const time = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** What is owed and can never be delivered has to be given back. */
const stateOf = ({ state, reason }: Payment): string =>
  state === 'owed' && finalCodes.has(reason ?? '') ? 'refund due' : state;

const paymentRow = (payment: Payment, assetOf: AssetOf): string[] => [
  time(payment.createdAt),
  stateOf(payment),
  payment.rail,
  payment.route,
  amountOf(payment, assetOf),
  payment.network,
  payment.payer,
  payment.receipt?.transaction ?? payment.reason ?? '-',
];

const HEAD = ['time (UTC)', 'state', 'rail', 'route', 'amount', 'network', 'payer', 'transaction or reason'];

await onStore(async (store, { catalogueDirectory }) => {
  const { owed, margins, losses, since, limit } = readArguments(process.argv.slice(2));
  const catalogue = loadCatalogue(catalogueDirectory, shipped);
  const assetOf = assetsOf(catalogue.networks.values());
  if (margins) {
    const found = await readMargins(store, since, assetOf);
    const { head, rows } = marginTable(found);
    process.stdout.write(rows.length === 0 ? 'nothing was sold yet\n' : inColumns(head, rows));
    if (found.creditsSold > 0n) {
      process.stdout.write(
        `\n${toDecimal(found.creditsSold)} USD of credits were bought; they are sales when they are spent\n`,
      );
    }
    return;
  }
  if (losses) {
    const { head, rows } = lossTable(
      (await store.losses(since)).filter(({ isCertain }) => isCertain),
      assetOf,
    );
    process.stdout.write(rows.length === 0 ? 'nothing was lost\n' : inColumns(head, rows));
    return;
  }
  const payments = await store.list({ since, limit, ...(owed && { states: ['owed'] as const }) });
  if (payments.length === 0) process.stdout.write(owed ? 'nothing is owed\n' : 'no payments yet\n');
  else
    process.stdout.write(
      inColumns(
        HEAD,
        payments.map((payment) => paymentRow(payment, assetOf)),
      ),
    );
});
