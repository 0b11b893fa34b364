/** What a shopper means by a sentence: a model's reading, which explicit fields override. */

import type { CallContext } from '../../adapter.ts';
import { optionally } from '../../optionally.ts';
import type { ChatBinding } from '../../providers/openai/chat.ts';
import { structured } from '../../providers/openai/structured.ts';
import { priceRangeIn } from './price-range.ts';
import { type Condition, type Sort, sorts } from './product.ts';

interface Intent {
  keywords: string;
  price_min: number | null;
  price_max: number | null;
  condition: Condition | null;
  sort: Sort;
}

/** What a request says itself. */
interface Explicit {
  readonly query: string;
  readonly price_min?: number | undefined;
  readonly price_max?: number | undefined;
  readonly condition?: Condition | undefined;
  readonly sort?: Sort | undefined;
}

type Inferred = { [Key in keyof Intent]: Intent[Key] | null };

const LONGEST_WAIT_MS = 10_000;

const orNull = (schema: object) => ({ anyOf: [{ type: 'null' }, schema] });

const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['keywords', 'price_min', 'price_max', 'condition', 'sort'],
  properties: {
    keywords: orNull({ type: 'string' }),
    price_min: orNull({ type: 'number', minimum: 0 }),
    price_max: orNull({ type: 'number', minimum: 0 }),
    // Used and refurbished things leave Amazon out and so decide the price: these are read before it.
    condition: orNull({ type: 'string', enum: ['new', 'open_box', 'for_parts'] }),
    sort: orNull({ type: 'string', enum: sorts }),
  },
};

const TASK =
  "Read a shopping query. keywords: what to type into a shop's search box, without prices, conditions, shop names and " +
  'ordering words; null where the query is that already. The other fields: only what the query says, else null.';

/** A search goes on without the model when it fails: the words of the query are enough for one. */
export async function readIntent(
  words: ChatBinding,
  explicit: Explicit,
  context: Pick<CallContext, 'signal' | 'reportCost' | 'once'>,
): Promise<Intent> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(LONGEST_WAIT_MS)]);
  const messages = [
    { role: 'system', content: TASK },
    { role: 'user', content: explicit.query },
  ];
  const request = { name: 'shopping_intent', schema, messages };
  const inferred = await optionally(context, structured<Inferred>(words, request, { ...context, signal }));
  return combine(explicit, inferred);
}

/** Fields of the request count before what was read out of the query. */
export function combine(explicit: Explicit, inferred: Partial<Inferred> = {}): Intent {
  const { query, price_min, price_max, condition, sort } = explicit;
  // The sandbox's models read nothing, and others may miss it.
  const said = priceRangeIn(query);
  const range = [
    price_min ?? inferred.price_min ?? said.min ?? null,
    price_max ?? inferred.price_max ?? said.max ?? null,
  ] as const;
  const [min, max] = range;
  const isEmpty = min !== null && max !== null && min > max;
  return {
    keywords: inferred.keywords?.trim() || query,
    price_min: isEmpty ? (price_min ?? null) : min,
    price_max: isEmpty ? (price_max ?? null) : max,
    condition: condition ?? inferred.condition ?? null,
    sort: sort ?? inferred.sort ?? 'relevance',
  };
}
