/** What is bought: an endpoint, a request with the purchase's mark in it, and a way to pay. */

import { randomBytes } from 'node:crypto';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import type { Dice } from './dice.ts';
import type { Method, Wallet } from './proofs.ts';
import { type Habit, habits, type Purchase } from './purchase.ts';

interface Order {
  readonly path: string;
  readonly method: Method;
  body(mark: string, dice: Dice, keys: readonly string[]): object;
}

const text = (mark: string) => ({ prompt: `Why does fog scatter light? ${mark}` });
const picture = (mark: string) => ({ prompt: `a lighthouse in fog, ${mark}` });
/** The dearest settles first. Never what `otherBody` asks for. */
const AMOUNTS = ['1', '2', '3', '5'];

const tiered = { path: '/chain-c-main/llm/vendor3-5.2', body: (mark: string) => ({ ...text(mark), tier: 'small' }) };
const byUse = { path: '/chain-c-main/llm/vendor5-k3', body: (mark: string) => ({ ...text(mark), max_tokens: 200 }) };

const orders = {
  'text by tier': { ...tiered, method: 'exact' },
  'text by tier, version 1': { ...tiered, method: 'exact of version 1' },
  'text by use': { ...byUse, method: 'exact' },
  'text by use, upto': { ...byUse, method: 'upto' },
  picture: { path: '/image/family-e-2', method: 'exact', body: picture },
  'picture over MPP': { path: '/mpp/image/family-e-2', method: 'mpp', body: picture },
  credits: {
    path: '/v1/credits',
    method: 'exact',
    body(_mark, dice, keys) {
      const topped = dice.percent(40) ? dice.oneOf(keys) : undefined;
      return { amount_usd: dice.oneOf(AMOUNTS), ...(topped && { api_key: topped }) };
    },
  },
} as const satisfies Record<string, Order>;

const SHARES: Record<keyof typeof orders, number> = {
  'text by tier': 28,
  'text by tier, version 1': 14,
  'text by use': 10,
  'text by use, upto': 14,
  picture: 10,
  'picture over MPP': 12,
  credits: 12,
};

const hasIdentifiers = (method: Method): boolean => method === 'exact' || method === 'upto';

/** Payments of so many payers settle first. */
const CONTRACTS_PERCENT = 15;

/** Real keys are made only where something is really signed: that takes time. */
function newWallet(method: Method): Wallet {
  if (method !== 'mpp') return { address: `0x${randomBytes(20).toString('hex')}`, privateKey: '0x' };
  const privateKey = generatePrivateKey();
  return { privateKey, address: privateKeyToAddress(privateKey).toLowerCase() };
}

export function newPurchase(
  number: number,
  dice: Dice,
  { keys, contracts }: { readonly keys: readonly string[]; readonly contracts: Set<string> },
): Purchase {
  const mark = `purchase-${number}`;
  const order: Order = orders[dice.pick(SHARES)];
  const { path, method } = order;
  const chosen = dice.pick(habits);
  // Only version 2 of x402 knows the extension.
  const habit: Habit = chosen === 'with an identifier' && !hasIdentifiers(method) ? 'patient' : chosen;
  const wallet = newWallet(method);
  const body = order.body(mark, dice, keys);
  if (method !== 'upto' && dice.percent(CONTRACTS_PERCENT)) contracts.add(wallet.address);
  return {
    mark,
    path,
    body,
    otherBody: 'prompt' in body ? { ...body, prompt: `Something else altogether, ${mark}` } : { amount_usd: '4' },
    method,
    wallet,
    habit,
    idempotencyKey: habit === 'with a key' ? `key-${mark}` : undefined,
    identifier: habit === 'with an identifier' ? `identifier-of-${mark}` : undefined,
    proofs: [],
    received: [],
  };
}
