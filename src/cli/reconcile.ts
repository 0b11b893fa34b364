/** `npm run reconcile`: compares the books with the chains. */
import './broken-pipe.ts';
import { chainNames } from '../books/movements.ts';
import { loadNetworks } from '../catalogue/load.ts';
import { withoutControls } from '../control-characters.ts';
import { readConfig } from '../gateway/config.ts';
import { atomicToDecimal } from '../money.ts';
import { paidIn } from '../store/pages.ts';
import type { Period } from '../store/period.ts';
import type { Store } from '../store/store.ts';
import { PERIOD_OPTIONS, PERIOD_USAGE, readPeriod } from './books/period.ts';
import { run } from './command.ts';
import { readCommandLine } from './command-line.ts';
import { onStore } from './kept-store.ts';
import { type Account, findAccounts, formerAccount, keyOf } from './reconcile/accounts.ts';
import { addDrawn, type DrawnCalls, nothingDrawn } from './reconcile/channels.ts';
import { type Booked, compare, type Receipts, transactionKey } from './reconcile/compare.ts';

const USAGE = `npm run reconcile -- --from <time> --to <time>

  compares the receipts of the period with what the chains say was paid to us, network by network, and lists every
  difference: a receipt that its chain does not have, or has with another amount, calls drawn from a channel that does not
  hold their money any more, and a payment, or a claim, that no call explains. Changes nothing. Ends with 0 where all
  agree, with 1 where anything differs or cannot be asked

${PERIOD_USAGE}`;

/** The gateway's clock and the chain's are this far apart at most. */
const CLOCKS_MS = 3_600_000;

interface Book {
  readonly account: Pick<Account, 'caip2' | 'asset' | 'payTo'>;
  readonly receipts: Map<string, Booked>;
  readonly drawn: DrawnCalls;
}

/** Receipts of the period by the account that was paid; only what moved something. */
async function readBooks(store: Store, period: Period, chainOf: (network: string) => string) {
  const books = new Map<string, Book>();
  for await (const { id, network, asset, payTo, receipt } of paidIn(store, period)) {
    if (receipt.amount === '0') continue;
    const account = { caip2: chainOf(network), asset, payTo };
    const nothing = { account, receipts: new Map<string, Booked>(), drawn: nothingDrawn() };
    const found = books.get(keyOf(account)) ?? nothing;
    books.set(keyOf(account), found);
    if (receipt.channel) {
      addDrawn(found.drawn, BigInt(receipt.amount), receipt.channel);
      continue;
    }
    const transaction = transactionKey(receipt.transaction);
    const { amount = 0n, payments = [] } = found.receipts.get(transaction) ?? {};
    found.receipts.set(transaction, { amount: amount + BigInt(receipt.amount), payments: [...payments, id] });
  }
  return books;
}

/** What was drawn from channels in the period and after it, as the books have it by now. */
async function readDrawn(store: Store, period: Period) {
  const [inPeriod, later] = [nothingDrawn(), nothingDrawn()];
  for await (const { receipt } of paidIn(store, { from: period.from, to: store.now() + CLOCKS_MS })) {
    if (!receipt.channel || receipt.amount === '0') continue;
    addDrawn(receipt.settledAt < period.to ? inPeriod : later, BigInt(receipt.amount), receipt.channel);
  }
  return { inPeriod, later };
}

/** Which of the transactions have a receipt by now, of whatever period. */
async function findReceipts(
  store: Store,
  from: number,
  transactions: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const { receipt } of paidIn(store, { from: from - CLOCKS_MS, to: store.now() + CLOCKS_MS })) {
    const transaction = transactionKey(receipt.transaction);
    if (transactions.has(transaction)) found.add(transaction);
  }
  return found;
}

async function report(
  store: Store,
  account: Account,
  period: Period,
  { receipts, drawn }: { readonly receipts: Receipts; readonly drawn: DrawnCalls },
): Promise<boolean> {
  const { name, caip2, payTo, rpcUrl, symbol, decimals } = account;
  // A chain's node may say anything.
  const write = (line: string) => process.stdout.write(`${withoutControls(line)}\n`);
  const say = (text: string) => write(`${name} (${caip2}), paid to ${payTo}: ${text}`);
  if (rpcUrl === undefined) {
    say('cannot be asked, for it has no RPC address: set TURNPIKE_RPC_URL_<network>, or rpcUrl in networks.yaml');
    return false;
  }
  try {
    const elsewhere = (transactions: ReadonlySet<string>) => findReceipts(store, period.from, transactions);
    const { books, chain, claimed, differences } = await compare(account, rpcUrl, period, {
      receipts,
      drawn,
      channels: store.channels,
      drawnSince: () => readDrawn(store, period),
      elsewhere,
    });
    const shown = (amount: bigint) => `${atomicToDecimal(amount, decimals)} ${symbol}`;
    const count = differences.length === 1 ? '1 difference' : `${differences.length} differences`;
    const verdict = differences.length === 0 ? 'they agree' : count;
    say(`the books have ${shown(books)}, the chain ${shown(chain)}: ${verdict}`);
    for (const difference of differences) write(`  ${difference}`);
    if (drawn.calls > 0 || claimed > 0n) {
      const calls = `${drawn.calls} ${drawn.calls === 1 ? 'call' : 'calls'} for ${shown(drawn.amount)}`;
      say(`${calls} drawn from channels besides, and ${shown(claimed)} of such claimed in the period`);
    }
    return differences.length === 0;
  } catch (error) {
    say(`cannot be asked: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

await run(async () => {
  const { values } = readCommandLine(USAGE, PERIOD_OPTIONS, process.argv.slice(2));
  const period = readPeriod(values);
  // Rails have accounts of their own, which the rest of the configuration tells.
  const config = readConfig(process.env);
  await onStore('reads', async (store) => {
    const networks = loadNetworks(config.catalogueDirectory);
    const current = await findAccounts(config, networks);
    const books = await readBooks(store, period, chainNames(networks, config.mode));
    const known = new Set(current.map(keyOf));
    const former = [...books.values()].filter(({ account }) => !known.has(keyOf(account)));
    const { live } = config;
    // What was paid to an address, or in a token, that has been changed since.
    const changed = live ? former.map(({ account }) => formerAccount(account, live, networks, current)) : [];
    const gone = live ? 0 : former.reduce((sum, { receipts }) => sum + receipts.size, 0);
    if (gone > 0) process.stdout.write(`${gone} receipts of earlier sandboxes are left out: their chains are gone\n`);
    for (const account of [...current, ...changed]) {
      const { receipts = new Map(), drawn = nothingDrawn() } = books.get(keyOf(account)) ?? {};
      if (!(await report(store, account, period, { receipts, drawn }))) process.exitCode = 1;
    }
  });
});
