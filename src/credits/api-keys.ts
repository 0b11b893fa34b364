/** Where API keys are made, looked up and sold. */
import { randomBytes, randomUUID } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { Money } from '../money.ts';
import type { ApiKey, CreditStore, KeyLimits, NewApiKey } from '../store/credits/credit-store.ts';
import { isDead } from '../store/credits/posting.ts';
import { derivedKey, hashOf, isKeyText, type KeyMode, type KeyText, newKey, shownOf } from './api-key.ts';

export interface ApiKeys {
  /** A new key, shown this once, with `credit` on it. */
  create(order: NewKeyOrder): Promise<CreatedKey>;
  /**
   * The key of that label that every start has, in clear, with as much credit again. It is made where there is none in the
   * store, or where somebody has disabled the last.
   */
  keep(order: { readonly label: string; readonly credit: Money }): Promise<string>;
  /** The key as it stands; undefined for an unknown one. Says nothing of whether it may be used: see `ApiKey`. */
  find(apiKey: string): Promise<ApiKey | undefined>;
  /**
   * Sells credit: on the key named, else with a new key. It can be spent once the payment has settled. The same
   * payment again gets the same answer. Throws Problem `invalid_request` for a key that is unknown, disabled or expired.
   */
  buy(order: {
    amount: Money;
    apiKey: string | undefined;
    paymentId: string;
    /** True where it counts only once the payment lies deep enough in its chain. */
    awaitsConfirmations?: boolean;
  }): Promise<BoughtCredits>;
  /** Throws Problem `invalid_request` where credit on the key could be used by nobody: asked before it is paid for. */
  demandUsable(apiKey: string): Promise<void>;
}

export interface NewKeyOrder {
  readonly label: string;
  readonly credit?: Money;
  readonly limits?: KeyLimits;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
}

export interface CreatedKey {
  /** In clear. */
  readonly apiKey: string;
  readonly id: string;
  readonly shown: string;
}

export interface BoughtCredits {
  /** In clear, where this payment made the key. */
  readonly apiKey: string | undefined;
  readonly shown: string;
  /** With what was bought. */
  readonly balance: Money;
}

export interface ApiKeysOptions {
  readonly store: CreditStore;
  readonly mode: KeyMode;
  now(): number;
}

export function openApiKeys({ store, mode, now }: ApiKeysOptions): ApiKeys {
  const record = ({ apiKey, id }: KeyText, order: NewKeyOrder): NewApiKey => ({
    id,
    hash: hashOf(apiKey),
    shown: shownOf(apiKey),
    label: order.label,
    limits: order.limits ?? {},
    expiresAt: order.expiresAt,
  });

  /** Made once for all instances: it must not change while a payment may be run again. */
  const secret = () => store.secret('api-keys', randomBytes(32).toString('hex'));

  async function add(text: KeyText, order: NewKeyOrder): Promise<CreatedKey> {
    const key = record(text, order);
    const grant = order.credit
      ? { amount: order.credit, reference: randomUUID(), note: 'given with the key' }
      : undefined;
    await store.addKey(key, grant, now());
    return { apiKey: text.apiKey, id: text.id, shown: key.shown };
  }

  const find = async (apiKey: string) => (isKeyText(apiKey) ? store.findKey(hashOf(apiKey), now()) : undefined);

  return {
    create: (order) => add(newKey(mode), order),

    async keep({ label, credit }) {
      const kept = await secret();
      for (let number = 1; ; number += 1) {
        const text = derivedKey(mode, kept, `${label} ${number}`);
        const found = await store.findKey(hashOf(text.apiKey), now());
        if (!found) return (await add(text, { label, credit })).apiKey;
        if (found.disabledAt !== undefined) continue;
        const amount = credit - found.balance - found.held;
        if (amount > 0n) await store.grant(found.id, { amount, reference: randomUUID(), note: 'given again' }, now());
        return text.apiKey;
      }
    },

    find,

    async buy({ amount, apiKey, paymentId, awaitsConfirmations = false }) {
      const made = apiKey === undefined ? derivedKey(mode, await secret(), paymentId) : undefined;
      const key = made ? record(made, { label: 'bought' }) : { hash: hashOf(apiKey ?? '') };
      const purchased = await store.purchase({ paymentId, amount, key, awaitsConfirmations }, now());
      if (!purchased) throw unusableKey();
      const { balance, shown } = purchased.key;
      return { apiKey: made?.apiKey, shown, balance: purchased.isPosted ? balance : balance + amount };
    },

    async demandUsable(apiKey) {
      const key = await find(apiKey);
      if (!key || isDead(key, now())) throw unusableKey();
    },
  };
}

const unusableKey = () =>
  new Problem('invalid_request', 'The API key to top up cannot be used; nothing was charged', {
    details: [
      {
        path: '/api_key',
        message: 'is unknown, disabled or expired',
        expected: 'a key of this gateway, or no api_key for a new one',
      },
    ],
  });
