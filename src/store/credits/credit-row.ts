import type { Money } from '../../money.ts';
import { columnsOf } from '../engines/columns.ts';
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

const { filled, optional } = columnsOf();

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
  id: filled(row, 'id'),
  limits: limitsFromJson(filled(row, 'limits')),
  balance: BigInt(filled(row, 'balance')),
  entries: Number(filled(row, 'entries')),
  day: Number(filled(row, 'day')),
  spent: BigInt(filled(row, 'spent')),
  expiresAt: optionalNumber(row, 'expires_at'),
  disabledAt: optionalNumber(row, 'disabled_at'),
});

export const toApiKey = (row: Row): ApiKey => ({
  id: filled(row, 'id'),
  hash: filled(row, 'hash'),
  shown: filled(row, 'shown'),
  label: filled(row, 'label'),
  limits: limitsFromJson(filled(row, 'limits')),
  balance: BigInt(filled(row, 'balance')),
  held: BigInt(filled(row, 'held')),
  spent: { day: Number(filled(row, 'day')), amount: BigInt(filled(row, 'spent')) },
  entries: Number(filled(row, 'entries')),
  createdAt: Number(filled(row, 'created_at')),
  expiresAt: optionalNumber(row, 'expires_at'),
  disabledAt: optionalNumber(row, 'disabled_at'),
});

export const toEntry = (row: Row): LedgerEntry => ({
  keyId: filled(row, 'key_id'),
  number: Number(filled(row, 'number')),
  kind: filled(row, 'kind') as EntryKind,
  amount: BigInt(filled(row, 'amount')),
  balance: BigInt(filled(row, 'balance')),
  reference: filled(row, 'reference'),
  route: optional(row, 'route'),
  model: optional(row, 'model'),
  price: optionalAmount(row, 'price'),
  cost: optionalAmount(row, 'cost'),
  note: optional(row, 'note'),
  createdAt: Number(filled(row, 'created_at')),
});

export const toSales = (row: Row): CreditSales => ({
  route: filled(row, 'route'),
  model: filled(row, 'model'),
  calls: Number(filled(row, 'calls')),
  price: BigInt(filled(row, 'price')),
  known: {
    calls: Number(filled(row, 'known_calls')),
    price: BigInt(filled(row, 'known_price')),
    cost: BigInt(filled(row, 'known_cost')),
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
  id: filled(row, 'id'),
  keyId: filled(row, 'key_id'),
  amount: BigInt(filled(row, 'amount')),
  day: Number(filled(row, 'day')),
  route: filled(row, 'route'),
  model: filled(row, 'model'),
});
