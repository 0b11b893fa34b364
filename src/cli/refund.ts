/** `npm run refund`: gives a payment back. It is written down here, and sent by the gateway. */
import './broken-pipe.ts';
import { loadNetworks } from '../catalogue/load.ts';
import type { KeptConfig } from '../gateway/config.ts';
import { toAtomic, toDecimal } from '../money.ts';
import { type Asset, assetsOf, fromAtomic } from '../payment/assets.ts';
import { refusalInWords } from '../payment/refunds/words.ts';
import type { Refund } from '../store/refunds/refund-store.ts';
import type { Payment, Store } from '../store/store.ts';
import { asJson, inColumns, shownTime } from './columns.ts';
import { dollars, once, run } from './command.ts';
import { readOperands, UsageProblem } from './command-line.ts';
import { onStore, storeName } from './kept-store.ts';

const USAGE = `npm run refund -- <transaction, payment or call> [options]
npm run refund -- --list [--json]

  --amount <dollars>  so much of it (default: all that was not given back yet)
  --reason <text>     why, for your books; of a call, its key's owner sees it as well
  --reference <text>  names it: with the same one it is done once (default: a new one)
  --sent <transaction>
                      you have sent one yourself that waits, by this transaction: no gateway sends it any more
  --list              all that is not sent yet and why, and the last 50 that were given back, newest first`;

/** Of what was sent. */
const LISTED = 50;

type AssetOf = (address: string) => Asset;

const worth = (amount: string, asset: string, assetOf: AssetOf): string =>
  `${toDecimal(fromAtomic(amount, assetOf(asset)))} ${assetOf(asset).symbol}`;

const isTransaction = (text: string): boolean => /^[A-Za-z0-9]{32,128}$/.test(text);

/** By its own name, or by the transaction that settled it. Throws UsageProblem where several were settled by that. */
async function find(store: Store, name: string): Promise<Payment | undefined> {
  const known = await store.find(name);
  if (known) return known;
  const [found, second] = isTransaction(name)
    ? await store.list({ transaction: name, limit: 2, withoutAnswers: true })
    : [];
  if (!second) return found;
  throw new UsageProblem(
    `${name} has settled several payments, as a channel does: take the id of one, as npm run export shows it`,
  );
}

function rowOf(
  { createdAt, state, amount, asset, network, payee, paymentId, reason, fault, transaction }: Refund,
  assetOf: AssetOf,
) {
  return [
    shownTime(createdAt),
    state,
    worth(amount, asset, assetOf),
    network,
    payee,
    paymentId,
    transaction ?? fault ?? '-',
    reason,
  ];
}

const HEAD = ['time (UTC)', 'state', 'amount', 'network', 'payee', 'payment', 'transaction, or why not yet', 'reason'];

async function list(store: Store, config: KeptConfig, assetOf: AssetOf, json: boolean): Promise<void> {
  const waiting = await store.refunds.list({ states: ['wanted', 'sending'], limit: Number.MAX_SAFE_INTEGER });
  const sent = await store.refunds.list({ states: ['sent'], limit: LISTED });
  const newestFirst = [...waiting, ...sent].sort((one, other) => other.createdAt - one.createdAt);
  const rows = newestFirst.map((refund) => rowOf(refund, assetOf));
  if (json) process.stdout.write(asJson(HEAD, rows));
  else
    process.stdout.write(
      rows.length === 0 ? `nothing was given back in ${storeName(config)}\n` : inColumns(HEAD, rows),
    );
}

interface Order {
  readonly name: string;
  readonly amount: string | undefined;
  readonly reason: string;
  readonly reference: string | undefined;
}

/** What an API key was charged for a call: back to the key, at once. */
async function giveCreditsBack(store: Store, { name, amount, reason, ...order }: Order): Promise<void> {
  const some = amount === undefined ? {} : { amount: dollars('--amount', amount) };
  const outcome = await once(order.reference, (reference) =>
    store.credits.refund({ call: name, ...some, reason, reference, now: store.now() }),
  );
  if ('entry' in outcome) {
    const { amount: given, keyId, balance } = outcome.entry;
    process.stdout.write(`${toDecimal(given)} USD are given back to ${keyId}, which has ${toDecimal(balance)} USD\n`);
  } else if (outcome.refused === 'unknown') {
    throw new UsageProblem(
      `${name} is no payment here: take a transaction that npm run payments shows, or the id of a call that npm run export shows`,
    );
  } else if (outcome.refused === 'dead') {
    throw new UsageProblem(
      `${name}: its key is disabled or expired, and nobody could spend it (${toDecimal(outcome.left)} USD is left); nothing is given back: make another key for whoever has it, with as much (npm run keys)`,
    );
  } else {
    throw new UsageProblem(`${name}: ${refusalInWords(outcome, () => `${toDecimal(outcome.left)} USD`)}`);
  }
}

const atomicIn = (asset: Asset, amount: string) => toAtomic(dollars('--amount', amount, asset), asset.decimals);

async function giveBack(store: Store, assetOf: AssetOf, order: Order): Promise<void> {
  const { name, amount, reason } = order;
  const payment = await find(store, name);
  if (!payment) return await giveCreditsBack(store, order);
  const { id: paymentId, asset, route, payer, network } = payment;
  const atomic = amount === undefined ? {} : { amount: atomicIn(assetOf(asset), amount) };
  const outcome = await once(order.reference, (reference) =>
    store.refunds.want({ paymentId, ...atomic, reason, isAutomatic: false, reference, now: store.now() }),
  );
  if ('refused' in outcome) {
    throw new UsageProblem(`${name}: ${refusalInWords(outcome, (left) => worth(left, asset, assetOf))}`);
  }
  process.stdout.write(
    `${worth(outcome.refund.amount, asset, assetOf)} of ${route} goes back to ${payer} on ${network}: a gateway that runs on this data sends it within a minute, and --list shows its transaction\n`,
  );
}

/** What an operator has sent from a wallet of their own. The books show its transaction, and `npm run reconcile` looks for it. */
async function tellSent(store: Store, assetOf: AssetOf, order: Order, transaction: string): Promise<void> {
  const { name, amount } = order;
  if (!isTransaction(transaction)) throw new UsageProblem(`--sent takes a transaction, as a chain's explorer shows it`);
  const payment = await find(store, name);
  if (!payment) throw new UsageProblem(`${name} is no payment here`);
  const { id: paymentId, asset, payer, network } = payment;
  const wanted = amount === undefined ? undefined : String(atomicIn(assetOf(asset), amount));
  const open = (await store.refunds.of(paymentId)).filter(({ state }) => state !== 'sent');
  const [refund, another] = open.filter((each) => wanted === undefined || each.amount === wanted);
  if (!refund) {
    throw new UsageProblem(
      `${name}: no refund ${wanted === undefined ? '' : 'of this amount '}waits; --list shows which do`,
    );
  }
  if (another && another.amount !== refund.amount) {
    const amounts = open.map((each) => worth(each.amount, asset, assetOf)).join(', ');
    throw new UsageProblem(`${name}: several refunds wait (${amounts}): say which by --amount`);
  }
  if (!(await store.refunds.sentByHand(refund, transaction, store.now()))) {
    throw new UsageProblem(
      `${name}: a gateway is sending it, or was when it stopped: see in a minute what --list says of it`,
    );
  }
  process.stdout.write(
    `${worth(refund.amount, asset, assetOf)} went back to ${payer} on ${network} by ${transaction}: no gateway sends it any more\n`,
  );
}

await run(async () => {
  const { values, positionals } = readOperands(
    USAGE,
    {
      amount: { type: 'string' },
      reason: { type: 'string', default: 'given back by the operator' },
      reference: { type: 'string' },
      sent: { type: 'string' },
      list: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
    process.argv.slice(2),
  );
  const [name, ...others] = positionals;
  if (values.list ? name !== undefined : name === undefined || others.length > 0) throw new UsageProblem(USAGE);
  await onStore(values.list ? 'reads' : 'writes', async (store, config) => {
    const assetOf = assetsOf(loadNetworks(config.catalogueDirectory));
    if (name === undefined) await list(store, config, assetOf, values.json);
    else {
      const { amount, reason, reference, sent } = values;
      const order = { name, amount, reason, reference };
      await (sent === undefined ? giveBack(store, assetOf, order) : tellSent(store, assetOf, order, sent));
    }
  });
});
