/** What a key has, and what it was spent on. */
import { toDecimal } from '../../money.ts';
import type { ApiKey, CreditStore, LedgerEntry } from '../../store/credits/credit-store.ts';

const ENTRIES = 50;

/** `GET /v1/credits`: amounts are decimal strings in dollars, entries newest first. */
export async function creditsOf(key: ApiKey, store: Pick<CreditStore, 'entries'>): Promise<object> {
  const { perDay, perCall, models } = key.limits;
  return {
    object: 'credits',
    key: key.shown,
    balance_usd: toDecimal(key.balance),
    held_usd: toDecimal(key.held),
    limits: {
      per_day_usd: perDay === undefined ? null : toDecimal(perDay),
      per_call_usd: perCall === undefined ? null : toDecimal(perCall),
      models: models ?? null,
      expires_at: key.expiresAt === undefined ? null : new Date(key.expiresAt).toISOString(),
    },
    entries: (await store.entries(key.id, ENTRIES)).map(listed),
  };
}

const signed = (amount: bigint): string => (amount < 0n ? `-${toDecimal(-amount)}` : toDecimal(amount));

/** Without our own cost. */
const listed = ({ number, kind, amount, balance, reference, model, price, note, createdAt }: LedgerEntry) => ({
  number,
  kind,
  amount_usd: signed(amount),
  balance_usd: toDecimal(balance),
  reference,
  model: model ?? null,
  price_usd: price === undefined ? null : toDecimal(price),
  note: note ?? null,
  at: new Date(createdAt).toISOString(),
});
