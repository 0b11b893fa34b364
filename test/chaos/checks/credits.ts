/** Every ledger has no gap, adds up, and has what was bought and what was used: no more and no less. */
import type { LedgerEntry } from '../../../src/store/credits/credit-store.ts';
import type { ChatCall } from '../chat.ts';
import { USED } from '../upstream.ts';
import type { Evidence } from './evidence.ts';
import type { Violation } from './violation.ts';

type Keys = Evidence['books']['keys'];

/** So much of what a call has written last a crash of the database may forget: it does not wait for the disk. */
const FORGOTTEN_MS = 1_000;

export function checkCredits({ books, chats, crashes, ledger, markOf }: Evidence): Violation[] {
  const entries = books.keys.flatMap((each) => each.entries);
  return [
    ...books.keys.flatMap(checkLedger),
    ...checkPurchases(entries, books.payments, markOf),
    ...checkConfirmed(entries, ledger, markOf),
    ...chats.flatMap((call) => checkCall(call, entries, crashes)),
  ];
}

function checkLedger({ key, entries }: Keys[number]): Violation[] {
  const promise = 'ledgers have no gap and add up';
  const violations: Violation[] = [];
  let balance = 0n;
  for (const [place, entry] of entries.entries()) {
    balance += entry.amount;
    if (entry.number !== place + 1)
      violations.push({ promise, text: `${key.id}: entry ${entry.number} is number ${place + 1}` });
    if (entry.balance !== balance)
      violations.push({ promise, text: `${key.id}: entry ${entry.number} says ${entry.balance}, it is ${balance}` });
  }
  if (key.balance !== balance)
    violations.push({ promise, text: `${key.id} has ${key.balance}, its ledger ${balance}` });
  for (const hold of entries.filter(({ kind }) => kind === 'hold')) {
    const own = entries.filter(({ reference }) => reference === hold.reference).map(({ kind }) => kind);
    // Whoever slept charges what was given back meanwhile.
    if (!/^hold (settle|release|release settle)$/.test(own.join(' ')))
      violations.push({ promise, text: `${key.id}: of ${hold.reference} the ledger has ${own.join(', ')}` });
  }
  return violations;
}

function checkPurchases(
  entries: readonly LedgerEntry[],
  payments: Evidence['books']['payments'],
  markOf: Evidence['markOf'],
): Violation[] {
  const promise = 'credits are what was paid for them';
  const bought = entries.filter(({ kind }) => kind === 'purchase');
  const paidFor = [...payments.values()].filter(({ route }) => route.includes('credits'));
  const known = new Set(paidFor.map(({ id }) => id));
  return [
    ...bought
      .filter(({ reference }) => !known.has(reference))
      .map(({ reference, amount }) => ({
        promise,
        text: `${amount} was posted for ${reference}, which is no payment`,
      })),
    ...paidFor.flatMap(({ id, state, receipt }) => {
      const paid = state === 'settled' || state === 'owed' ? BigInt(receipt?.amount ?? '0') : 0n;
      const own = bought.filter(({ reference }) => reference === id);
      const posted = own.reduce((sum, { amount }) => sum + amount, 0n);
      if (posted === paid && own.length <= 1) return [];
      return [{ promise, text: `${paid} was paid by ${id}, and ${posted} posted`, mark: markOf(id) }];
    }),
  ];
}

/** Nobody spends what the chain took back. */
const checkConfirmed = (
  entries: readonly LedgerEntry[],
  ledger: Evidence['ledger'],
  markOf: Evidence['markOf'],
): Violation[] =>
  entries
    .filter(({ kind, reference }) => kind === 'purchase' && !ledger.find(reference))
    .map(({ reference, amount }) => ({
      promise: 'what the chain took back buys no credits',
      text: `${amount} was posted for ${reference}, which the chain does not have`,
      mark: markOf(reference),
    }));

/** Who has read to the end finds the charge; who was refused, none. */
function checkCall(
  { mark, requestId, requestIds, outcome, code, status, isCut, begunAt, endedAt }: ChatCall,
  entries: readonly LedgerEntry[],
  crashes: Evidence['crashes'],
): Violation[] {
  const charges = entries.filter(({ kind, reference }) => kind === 'settle' && reference === requestId);
  const prices = charges.map(({ price }) => price);
  const broken = (promise: string, text: string): Violation[] => [{ promise, text, mark }];
  const charged = entries.filter(({ kind, reference }) => kind === 'settle' && requestIds.has(reference));
  if (charged.length > 1)
    return broken('a completion is charged once', `it was charged as ${charged.map(({ reference }) => reference)}`);
  if (code === 'internal_error') return broken('no internal_error', `chat: ${status}`);
  // Who slept until its hold was given back takes what others have left of the balance.
  const [charge] = charges;
  const isPart = isCut && (charge?.price ?? 0n) > 0n && (charge?.price ?? 0n) < USED;
  const isAll = charge?.price === USED || (charge?.balance === 0n && /hold was given back/.test(charge.note ?? ''));
  const isForgotten =
    charges.length === 0 && crashes.some(({ from, to }) => to >= begunAt && from <= endedAt + FORGOTTEN_MS);
  if (outcome === 'whole' && !isForgotten && (prices.length !== 1 || !(isAll || isPart)))
    return broken('a completion is charged once, for what was used', `it was charged [${prices}]`);
  if (outcome === 'refused' && prices.length !== 0)
    return broken('what failed is not charged', `${status} ${code} was charged`);
  return [];
}
