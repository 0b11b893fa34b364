/** What is bought: an endpoint, a request with the purchase's mark in it, and a way to pay. */
import type { Chains, Method } from './chains.ts';
import type { Dice } from './dice.ts';
import type { DoorName } from './doors.ts';
import { type Habit, habits, type Purchase } from './purchase.ts';

interface Order {
  readonly path: string;
  readonly method: Method;
  /** Default: HTTP. */
  readonly door?: DoorName;
  body(mark: string, dice: Dice, keys: readonly string[]): object;
}

const text = (mark: string) => ({ prompt: `Why does fog scatter light? ${mark}` });
const picture = (mark: string) => ({ prompt: `a lighthouse in fog, ${mark}` });
/** The dearest settles first. Never what `otherBody` asks for. */
const AMOUNTS = ['1', '2', '3', '5'];

const tiered = { path: '/chain-c-main/llm/vendor3-5.2', body: (mark: string) => ({ ...text(mark), tier: 'small' }) };
const byUse = { path: '/chain-c-main/llm/vendor5-k3', body: (mark: string) => ({ ...text(mark), max_tokens: 200 }) };
const credits: Omit<Order, 'method'> = {
  path: '/v1/credits',
  body(_mark, dice, keys) {
    const topped = dice.percent(40) ? dice.oneOf(keys) : undefined;
    return { amount_usd: dice.oneOf(AMOUNTS), ...(topped && { api_key: topped }) };
  },
};

const orders = {
  'text by tier': { ...tiered, method: 'exact' },
  'text by tier, version 1': { ...tiered, method: 'exact of version 1' },
  'text by use': { ...byUse, method: 'exact' },
  'text by use, upto': { ...byUse, method: 'upto' },
  picture: { path: '/image/family-e-2', method: 'exact', body: picture },
  'picture over MPP': { path: '/mpp/image/family-e-2', method: 'mpp', body: picture },
  'picture over MPP, on Tempo': { path: '/mpp/image/family-e-2', method: 'tempo', body: picture },
  'picture on chain-e': { path: '/chain-e/image/family-e-2', method: 'exact on chain-e', body: picture },
  'text by tier on Solana': { ...tiered, path: '/llm/vendor3-5.2', method: 'exact on Solana' },
  credits: { ...credits, method: 'exact' },
  'credits on Solana': { ...credits, method: 'exact on Solana' },
  'text by a tool': { ...tiered, door: 'MCP', method: 'exact' },
  'text by use by a tool, upto': { ...byUse, door: 'MCP', method: 'upto' },
  'picture by a tool': { path: '/image/family-e-2', door: 'MCP', method: 'exact', body: picture },
  'picture by a tool, over MPP': { path: '/image/family-e-2', door: 'MCP', method: 'mpp', body: picture },
  'picture by a tool, on Tempo': { path: '/image/family-e-2', door: 'MCP', method: 'tempo', body: picture },
  'text by a tool, on Solana': { ...tiered, path: '/llm/vendor3-5.2', door: 'MCP', method: 'exact on Solana' },
  'credits by a tool': { ...credits, door: 'MCP', method: 'exact' },
} as const satisfies Record<string, Order>;

const SHARES: Record<keyof typeof orders, number> = {
  'text by tier': 28,
  'text by tier, version 1': 14,
  'text by use': 10,
  'text by use, upto': 14,
  picture: 10,
  'picture over MPP': 12,
  'picture over MPP, on Tempo': 12,
  'picture on chain-e': 6,
  'text by tier on Solana': 14,
  credits: 12,
  'credits on Solana': 5,
  'text by a tool': 10,
  'text by use by a tool, upto': 5,
  'picture by a tool': 5,
  'picture by a tool, over MPP': 6,
  'picture by a tool, on Tempo': 4,
  'text by a tool, on Solana': 4,
  'credits by a tool': 4,
};

/** Only version 2 of x402 knows the extension. */
const IDENTIFIED: readonly Method[] = ['exact', 'upto', 'exact on chain-e', 'exact on Solana'];
/** What takes the signature of a contract, and may settle first. */
const OF_CONTRACTS: readonly Method[] = ['exact', 'exact of version 1', 'mpp'];

/** Payments of so many payers settle first. */
const CONTRACTS_PERCENT = 15;

/** A tool call has no headers. */
const isPossible = (habit: Habit, method: Method, door: DoorName): boolean =>
  (habit !== 'with an identifier' || IDENTIFIED.includes(method)) && (habit !== 'with a key' || door === 'HTTP');

/** Of those that the chains have a way to pay for. */
const sharesFor = (methods: readonly Method[]): Record<keyof typeof orders, number> =>
  Object.fromEntries(
    Object.entries(SHARES).filter(([name]) => methods.includes(orders[name as keyof typeof orders].method)),
  ) as typeof SHARES;

export async function newPurchase(
  number: number,
  dice: Dice,
  { keys, chains }: { readonly keys: readonly string[]; readonly chains: Pick<Chains, 'methods' | 'openWallet'> },
): Promise<Purchase> {
  const mark = `purchase-${number}`;
  const order: Order = orders[dice.pick(sharesFor(chains.methods))];
  const { path, method, door = 'HTTP' } = order;
  const chosen = dice.pick(habits);
  const habit = isPossible(chosen, method, door) ? chosen : 'patient';
  const body = order.body(mark, dice, keys);
  const isContract = OF_CONTRACTS.includes(method) && dice.percent(CONTRACTS_PERCENT);
  return {
    mark,
    door,
    path,
    body,
    otherBody: 'prompt' in body ? { ...body, prompt: `Something else altogether, ${mark}` } : { amount_usd: '4' },
    method,
    wallet: await chains.openWallet(method, { isContract }),
    habit,
    idempotencyKey: habit === 'with a key' ? `key-${mark}` : undefined,
    identifier: habit === 'with an identifier' ? `identifier-of-${mark}` : undefined,
    proofs: [],
    received: [],
  };
}
