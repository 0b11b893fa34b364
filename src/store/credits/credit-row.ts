import type { Money } from '../../money.ts';
import type { Row } from '../engines/statement.ts';
import type { ApiKey, CreditSales, EntryKind, KeyLimits, LedgerEntry } from './credit-store.ts';

/** A key's row while it is locked: what writes to its balance start from. */
interface KeyMoney {
  readonly balance: Money;
  /** Entries in its ledger. */
  readonly entries: number;
  /** The day, counted from the epoch, that `spent` belongs to. */
  readonly day: number;
  /** Settled and held on that day. */
  readonly spent: Money;
}

export interface LockedKey extends KeyMoney {
  readonly id: string;
  readonly limits: KeyLimits;
  readonly expiresAt: number | undefined;
  readonly disabledAt: number | undefined;
}

interface LimitsJson {
  perDay?: string;
  perCall?: string;
  models?: readonly string[];
}

const text = (row: Row, column: string): string => {
  const value = row[column];
  if (value === null || value === undefined) throw new Error(`${column} is empty in a row of the database`);
  return String(value);
};

const optional = (row: Row, column: string): string | undefined => {
  const value = row[column];
  return value === null || value === undefined ? undefined : String(value);
};

const optionalNumber = (row: Row, column: string): number | undefined => {
  const value = optional(row, column);
  return value === undefined ? undefined : Number(value);
};

const optionalAmount = (row: Row, column: string): bigint | undefined => {
  const value = optional(row, column);
  return value === undefined ? undefined : BigInt(value);
};

export function limitsToJson({ perDay, perCall, models }: KeyLimits): string {
  const json: LimitsJson = {
    ...(perDay !== undefined && { perDay: perDay.toString() }),
    ...(perCall !== undefined && { perCall: perCall.toString() }),
    ...(models !== undefined && { models }),
  };
  return JSON.stringify(json);
}

function limitsFromJson(json: string): KeyLimits {
  const { perDay, perCall, models } = JSON.parse(json) as LimitsJson;
  return {
    ...(perDay !== undefined && { perDay: BigInt(perDay) }),
    ...(perCall !== undefined && { perCall: BigInt(perCall) }),
    ...(models !== undefined && { models }),
  };
}

export const toLockedKey = (row: Row): LockedKey => ({
  id: text(row, 'id'),
  limits: limitsFromJson(text(row, 'limits')),
  balance: BigInt(text(row, 'balance')),
  entries: Number(text(row, 'entries')),
  day: Number(text(row, 'day')),
  spent: BigInt(text(row, 'spent')),
  expiresAt: optionalNumber(row, 'expires_at'),
  disabledAt: optionalNumber(row, 'disabled_at'),
});

export const toApiKey = (row: Row): ApiKey => ({
  id: text(row, 'id'),
  hash: text(row, 'hash'),
  shown: text(row, 'shown'),
  label: text(row, 'label'),
  limits: limitsFromJson(text(row, 'limits')),
  balance: BigInt(text(row, 'balance')),
  held: BigInt(text(row, 'held')),
  spent: { day: Number(text(row, 'day')), amount: BigInt(text(row, 'spent')) },
  createdAt: Number(text(row, 'created_at')),
  expiresAt: optionalNumber(row, 'expires_at'),
  disabledAt: optionalNumber(row, 'disabled_at'),
});

export const toEntry = (row: Row): LedgerEntry => ({
  keyId: text(row, 'key_id'),
  number: Number(text(row, 'number')),
  kind: text(row, 'kind') as EntryKind,
  amount: BigInt(text(row, 'amount')),
  balance: BigInt(text(row, 'balance')),
  reference: text(row, 'reference'),
  route: optional(row, 'route'),
  model: optional(row, 'model'),
  price: optionalAmount(row, 'price'),
  cost: optionalAmount(row, 'cost'),
  note: optional(row, 'note'),
  createdAt: Number(text(row, 'created_at')),
});

export const toSales = (row: Row): CreditSales => ({
  route: text(row, 'route'),
  model: text(row, 'model'),
  calls: Number(text(row, 'calls')),
  price: BigInt(text(row, 'price')),
  known: {
    calls: Number(text(row, 'known_calls')),
    price: BigInt(text(row, 'known_price')),
    cost: BigInt(text(row, 'known_cost')),
  },
});

export interface HeldRow {
  readonly id: string;
  readonly keyId: string;
  readonly amount: Money;
  readonly day: number;
  readonly route: string;
  readonly model: string;
}

export const toHeld = (row: Row): HeldRow => ({
  id: text(row, 'id'),
  keyId: text(row, 'key_id'),
  amount: BigInt(text(row, 'amount')),
  day: Number(text(row, 'day')),
  route: text(row, 'route'),
  model: text(row, 'model'),
});
