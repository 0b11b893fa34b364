/** `npm run refund`: gives a payment back. It is written down here, and sent by the gateway. */
import './broken-pipe.ts';
import { loadCatalogue } from '../catalogue/load.ts';
import { toAtomic, toDecimal } from '../money.ts';
import { type Asset, assetsOf, fromAtomic } from '../payment/assets.ts';
import { shipped } from '../shipped.ts';
import type { Refund, RefundRefusal } from '../store/refund-store.ts';
import type { Payment, Store } from '../store/store.ts';
import { asJson, inColumns, shownTime } from './columns.ts';
import { dollars, onStore, run } from './command.ts';
import { readOperands, UsageProblem } from './command-line.ts';

const USAGE = `npm run refund -- <transaction or payment> [options]
npm run refund -- --list [--json]

  --amount <dollars>  so much of it (default: all that was not given back yet)
  --reason <text>     why, for your books
  --list              what was given back, and what is not sent yet and why, newest first`;

const LISTED = 50;

const refusals: Readonly<Record<RefundRefusal, string>> = {
  unknown: 'no such payment',
  unpaid: 'nothing was taken for it',
  'in-progress': 'its request is being worked on, or nobody knows yet whether money moved: try again in a minute',
  credits: 'it bought credits: disable its key (npm run keys), and give back by hand what was not spent',
  'too-much': 'that is more than is left of it',
  'whole-only': 'its result is owed: it can only be given back whole',
};

type AssetOf = (address: string) => Asset;

const worth = (amount: string, asset: string, assetOf: AssetOf): string =>
  `${toDecimal(fromAtomic(amount, assetOf(asset)))} ${assetOf(asset).symbol}`;

/** By its own name, or by the transaction that settled it. */
async function find(store: Store, name: string): Promise<Payment> {
  const known = await store.find(name);
  if (known) return known;
  const isTransaction = /^[A-Za-z0-9]{32,128}$/.test(name);
  const [found, second] = isTransaction ? await store.list({ transaction: name, limit: 2, withoutAnswers: true }) : [];
  if (found && !second) return found;
  throw new UsageProblem(`${name} is no payment here: take a transaction that npm run payments shows`);
}

function rowOf(
  { createdAt, state, amount, asset, network, payee, reason, fault, transaction }: Refund,
  assetOf: AssetOf,
) {
  return [
    shownTime(createdAt),
    state,
    worth(amount, asset, assetOf),
    network,
    payee,
    transaction ?? fault ?? '-',
    reason,
  ];
}

const HEAD = ['time (UTC)', 'state', 'amount', 'network', 'payee', 'transaction, or why not yet', 'reason'];

async function list(store: Store, assetOf: AssetOf, json: boolean): Promise<void> {
  const rows = (await store.refunds.list({ limit: LISTED })).map((refund) => rowOf(refund, assetOf));
  if (json) process.stdout.write(asJson(HEAD, rows));
  else process.stdout.write(rows.length === 0 ? 'nothing was given back\n' : inColumns(HEAD, rows));
}

async function giveBack(
  store: Store,
  assetOf: AssetOf,
  { name, amount, reason }: { name: string; amount: string | undefined; reason: string },
): Promise<void> {
  const payment = await find(store, name);
  const { id: paymentId, asset, route, payer, network } = payment;
  const atomic = amount === undefined ? {} : { amount: toAtomic(dollars('--amount', amount), assetOf(asset).decimals) };
  const outcome = await store.refunds.want({ paymentId, ...atomic, reason, isAutomatic: false, now: store.now() });
  if ('refused' in outcome) {
    const left = outcome.left > 0n ? ` (${worth(String(outcome.left), asset, assetOf)} is left)` : '';
    throw new UsageProblem(`${name}: ${refusals[outcome.refused]}${left}; nothing is given back`);
  }
  process.stdout.write(
    `${worth(outcome.refund.amount, asset, assetOf)} of ${route} goes back to ${payer} on ${network}: a gateway that runs on this data sends it within a minute, and --list shows its transaction\n`,
  );
}

await run(async () => {
  const { values, positionals } = readOperands(
    USAGE,
    {
      amount: { type: 'string' },
      reason: { type: 'string', default: 'given back by the operator' },
      list: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
    process.argv.slice(2),
  );
  const [name, ...others] = positionals;
  if (values.list ? name !== undefined : name === undefined || others.length > 0) throw new UsageProblem(USAGE);
  await onStore(values.list ? 'reads' : 'writes', async (store, { catalogueDirectory }) => {
    const assetOf = assetsOf(loadCatalogue(catalogueDirectory, shipped).networks.values());
    if (name === undefined) await list(store, assetOf, values.json);
    else await giveBack(store, assetOf, { name, amount: values.amount, reason: values.reason });
  });
});
