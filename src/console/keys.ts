/** `GET keys`, `POST keys` and `POST keys/<id>`: what `npm run keys` does. */
import type { NewKeyOrder } from '../credits/api-keys.ts';
import { toDecimal } from '../money.ts';
import type { ApiKey } from '../store/credits/credit-store.ts';
import { dayOf } from '../store/credits/posting.ts';
import type { KeyForm, KeyPage, KeyRow, NewKeyForm } from './figures.ts';
import { dollars, form, reference, requiredText, text } from './input.ts';
import type { ConsoleParts } from './parts.ts';
import { ConsoleProblem, wrongField } from './problem.ts';

function rowOf(key: ApiKey, now: number): KeyRow {
  const { id, shown, label, balance, spent, limits, createdAt, expiresAt, disabledAt } = key;
  return {
    id,
    shown,
    label,
    balance: toDecimal(balance),
    spentToday: toDecimal(spent.day === dayOf(now) ? spent.amount : 0n),
    ...(limits.perDay !== undefined && { dailyLimit: toDecimal(limits.perDay) }),
    createdAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(disabledAt !== undefined && { disabledAt }),
  };
}

const all = async ({ store }: ConsoleParts): Promise<KeyRow[]> => {
  const now = store.now();
  return (await store.credits.listKeys(now)).map((key) => rowOf(key, now));
};

async function find(parts: ConsoleParts, id: string): Promise<KeyRow> {
  const row = (await all(parts)).find((key) => key.id === id);
  if (row) return row;
  throw new ConsoleProblem(404, 'there is no such key');
}

export const keys = async (parts: ConsoleParts): Promise<KeyPage> => ({
  liability: toDecimal(await parts.liability()),
  keys: await all(parts),
});

export async function newKey(parts: ConsoleParts, body: unknown): Promise<{ key: KeyRow; secret: string }> {
  const given = form<NewKeyForm>(body, ['label', 'credits', 'dailyLimit']);
  const label = requiredText(given, 'label', 'whose key it is');
  const credit = given.credits === '0' ? undefined : dollars(given, 'credits');
  const perDay = dollars(given, 'dailyLimit');
  const order: NewKeyOrder = {
    label,
    ...(credit !== undefined && { credit }),
    ...(perDay !== undefined && { limits: { perDay } }),
  };
  const { apiKey, id } = await parts.apiKeys.create(order);
  return { key: await find(parts, id), secret: apiKey };
}

const NOT_ADDED = {
  unknown: 'there is no such key any more',
  dead: 'the key is disabled or expired, and nothing is added: make another one',
  reference: 'this form has added another amount before, and nothing is added now: open it anew for another top-up',
} as const;

/** All that is given is read before any of it is done. */
export async function changeKey(parts: ConsoleParts, id: string, body: unknown): Promise<KeyRow> {
  const { credits, now } = { credits: parts.store.credits, now: parts.store.now() };
  const given = form<KeyForm>(body, ['disabled', 'topUp', 'note', 'reference', 'dailyLimit']);
  const { disabled } = given;
  if (disabled !== undefined && typeof disabled !== 'boolean') throw wrongField('disabled', 'takes true');
  const topUp = dollars(given, 'topUp');
  const grant = { note: text(given, 'note') ?? 'added by the operator', reference: reference(given) };
  const isUnlimited = given.dailyLimit === null;
  const perDay = isUnlimited ? undefined : dollars(given, 'dailyLimit');
  const { disabledAt } = await find(parts, id);
  if (disabled === false && disabledAt !== undefined) {
    throw new ConsoleProblem(409, 'a key is disabled for good: make another one', 'disabled');
  }
  const outcome = topUp && (await credits.grant(id, { amount: topUp, ...grant }, now));
  if (outcome && 'refused' in outcome) {
    throw new ConsoleProblem(409, NOT_ADDED[outcome.refused], 'topUp');
  }
  if (perDay !== undefined || isUnlimited) await credits.limitKey(id, perDay);
  if (disabled) await credits.disableKey(id, now);
  return find(parts, id);
}
