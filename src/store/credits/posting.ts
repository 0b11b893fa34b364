import type { Money, Rate } from '../../money.ts';
import type { LockedKey } from './credit-row.ts';
import type { ApiKey, EntryKind, HoldRefusal, HoldRequest, KeyLimits, LedgerEntry } from './credit-store.ts';

const DAY_MS = 86_400_000;

/** The day of UTC, counted from the epoch. */
export const dayOf = (now: number): number => Math.floor(now / DAY_MS);

/** What the key has spent on the day, holds included. */
const spentOn = ({ day, amount }: ApiKey['spent'], today: number): Money => (day === today ? amount : 0n);

const spentBy = ({ day, spent }: LockedKey): ApiKey['spent'] => ({ day, amount: spent });

/** Whether so much more is beyond what a key may spend on the day of `now`; what it has `spent` includes holds. */
export const exceedsDay = ({ perDay }: KeyLimits, spent: ApiKey['spent'], amount: Money, now: number): boolean =>
  perDay !== undefined && spentOn(spent, dayOf(now)) + amount > perDay;

/** True where nobody can use the key any more. */
export const isDead = ({ disabledAt, expiresAt }: Pick<ApiKey, 'disabledAt' | 'expiresAt'>, now: number): boolean =>
  disabledAt !== undefined || (expiresAt !== undefined && expiresAt <= now);

/** Why a key may not hold the amount, or undefined when it may. Pure; asked about a row that nobody else can change. */
export function refusalOf(key: LockedKey, { amount, now }: HoldRequest): HoldRefusal | undefined {
  if (key.disabledAt !== undefined) return 'disabled';
  if (key.expiresAt !== undefined && key.expiresAt <= now) return 'expired';
  if (exceedsDay(key.limits, spentBy(key), amount, now)) return 'per-day';
  return amount > key.balance ? 'balance' : undefined;
}

/** A call never costs more than what was held for it. */
export function atMost(held: Money, price: Money): Money {
  if (price > held) return held;
  return price;
}

/** An entry before it has its number. */
export interface Posting {
  readonly kind: EntryKind;
  readonly amount: Money;
  readonly reference: string;
  readonly route?: string;
  readonly model?: string;
  readonly price?: Money;
  readonly cost?: Rate | undefined;
  readonly note?: string;
  /** For the end of a call: the day on which it was held. */
  readonly heldOn?: number;
  readonly now: number;
}

/** The entry, and the key after it. Pure. Throws when the balance would be below zero. */
export function posted(key: LockedKey, posting: Posting): { after: LockedKey; entry: LedgerEntry } {
  const { kind, amount, reference, route, model, price, cost, note, now } = posting;
  const balance = key.balance + amount;
  if (balance < 0n) throw new Error(`The balance of the API key ${key.id} would be below zero`);
  const after = { ...key, balance, entries: key.entries + 1, ...daySpending(key, posting) };
  const entry: LedgerEntry = {
    keyId: key.id,
    number: after.entries,
    kind,
    amount,
    balance,
    reference,
    route,
    model,
    price,
    cost,
    note,
    createdAt: now,
  };
  return { after, entry };
}

/** A hold counts towards its own day, and so does what comes back of it, whenever that is. */
function daySpending(key: LockedKey, { kind, amount, heldOn, now }: Posting): Pick<LockedKey, 'day' | 'spent'> {
  if (kind === 'hold') return { day: dayOf(now), spent: spentOn(spentBy(key), dayOf(now)) - amount };
  return { day: key.day, spent: heldOn === key.day ? key.spent - amount : key.spent };
}
