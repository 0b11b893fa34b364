/** `npm run payments`: what was paid, what is owed, and what is left of it. */
import './broken-pipe.ts';
import { loadNetworks } from '../catalogue/load.ts';
import { finalCodes } from '../errors.ts';
import type { KeptConfig } from '../gateway/config.ts';
import { toDecimal } from '../money.ts';
import { type Asset, assetsOf, fromAtomic } from '../payment/assets.ts';
import { rails } from '../rails/index.ts';
import type { Payment, Store } from '../store/store.ts';
import { asJson, inColumns, shownTime } from './columns.ts';
import { period, run } from './command.ts';
import { readCommandLine, UsageProblem } from './command-line.ts';
import { onStore, storeName } from './kept-store.ts';
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
  --limit <n>       at most so many (default: 50, and all that are owed; not for --margins and --losses)
  --json            as JSON, for programs`;

const LISTED = 50;

function readArguments(words: readonly string[]) {
  const { values } = readCommandLine(
    USAGE,
    {
      owed: { type: 'boolean', default: false },
      margins: { type: 'boolean', default: false },
      losses: { type: 'boolean', default: false },
      since: { type: 'string' },
      limit: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
    words,
  );
  const wrong = (message: string) => new UsageProblem(`${message}\n\n${USAGE}`);
  const limit = Number(values.limit ?? (values.owed ? Number.MAX_SAFE_INTEGER : LISTED));
  if (!Number.isSafeInteger(limit) || limit < 1) throw wrong(`--limit is a number of 1 or more: got ${values.limit}`);
  const { owed, margins, losses } = values;
  if ([owed, margins, losses].filter(Boolean).length > 1) {
    throw wrong('--owed, --margins and --losses are questions of their own: ask one at a time');
  }
  const asked = values.since ?? (losses ? '24h' : undefined);
  const ageMs = asked === undefined ? undefined : period('--since', asked);
  return { ...values, limit, ageMs };
}

type AssetOf = (address: string) => Asset;

function amountOf({ receipt, amount, asset }: Payment, assetOf: AssetOf): string {
  const found = assetOf(asset);
  return `${toDecimal(fromAtomic(receipt?.amount ?? amount, found))} ${found.symbol}`;
}

/** What is owed and can never be delivered has to be given back. */
const stateOf = ({ state, reason }: Payment): string =>
  state === 'owed' && finalCodes.has(reason ?? '') ? 'refund due' : state;

const paymentRow = (payment: Payment, assetOf: AssetOf): string[] => [
  shownTime(payment.createdAt),
  stateOf(payment),
  payment.rail,
  payment.route,
  amountOf(payment, assetOf),
  payment.network,
  payment.payer,
  payment.receipt?.transaction ?? payment.reason ?? '-',
];

const HEAD = ['time (UTC)', 'state', 'rail', 'route', 'amount', 'network', 'payer', 'transaction or reason'];

async function print(store: Store, config: KeptConfig, asked: ReturnType<typeof readArguments>): Promise<void> {
  const { owed, margins, losses, ageMs, limit, json } = asked;
  const since = ageMs === undefined ? 0 : store.now() - ageMs;
  const assetOf = assetsOf(loadNetworks(config.catalogueDirectory));
  const table = (head: readonly string[], rows: readonly (readonly string[])[], none: string): string => {
    if (json) return asJson(head, rows);
    return rows.length === 0 ? `${none} in ${storeName(config)}\n` : inColumns(head, rows);
  };
  if (losses) {
    const certain = (await store.losses(since)).filter(({ isCertain }) => isCertain);
    const { head, rows } = lossTable(certain, assetOf);
    process.stdout.write(table(head, rows, 'nothing was lost'));
    return;
  }
  if (!margins) {
    const payments = await store.list({
      since,
      limit,
      withoutAnswers: true,
      ...(owed && { states: ['owed'] as const }),
    });
    const rows = payments.map((payment) => paymentRow(payment, assetOf));
    process.stdout.write(table(HEAD, rows, owed ? 'nothing is owed' : 'no payments yet'));
    return;
  }
  const found = await readMargins(store, since, assetOf);
  const { head, rows } = marginTable(found);
  process.stdout.write(table(head, rows, 'nothing was sold yet'));
  if (found.creditsSold > 0n && !json) {
    const sold = toDecimal(found.creditsSold);
    process.stdout.write(`\n${sold} USD of credits were bought; they are sales when they are spent\n`);
  }
}

await run(async () => {
  const asked = readArguments(process.argv.slice(2));
  await onStore('reads', (store, config) => print(store, config, asked));
});
