import { PricingProblem, type PricingRule } from '../catalogue/contracts.ts';
import type { Input, JsonSchema, Price } from '../catalogue/types.ts';
import { type Money, usd } from '../money.ts';
import { allowedStrings, choicesOf, defaultsOf, type Field, namedField } from './field.ts';
import { capped, priceWith, readCap } from './price.ts';
import { amountSchema, fieldSchema, optionsSchema } from './schemas.ts';

interface PerItemOptions {
  readonly by: string;
  readonly amount?: string;
  readonly amounts?: readonly string[];
  readonly max?: string;
  readonly unless?: { readonly [field: string]: { readonly [value: string]: readonly string[] } };
}

/** What a list field may hold. */
interface Items {
  /** Undefined where items are free text. */
  readonly allowed: readonly string[] | undefined;
  /** The most distinct items a request can have; undefined where the schema sets no bound. */
  readonly most: number | undefined;
}

function itemsOf(field: Field): Items {
  const { name, schema } = field;
  const place = `request.properties.${name}`;
  const items = schema.items as JsonSchema | undefined;
  const allowed = allowedStrings(items);
  if (schema.type !== 'array' || (allowed === undefined && items?.type !== 'string')) {
    throw new PricingProblem(['by'], `price.by names ${name}, which is not a list of strings`, `${place}.type: array`);
  }
  if (typeof schema.minItems !== 'number' || schema.minItems < 1) {
    throw new PricingProblem(['by'], `price.by names ${name}, which can be an empty list`, `${place}.minItems: 1`);
  }
  if (!field.present && allowed === undefined) {
    throw new PricingProblem(
      ['by'],
      `price.by names ${name}, which can be left out, and how many items that stands for is unknown`,
      `${name} in request.required, ${place}.default or ${place}.items.enum`,
    );
  }
  const maxItems = typeof schema.maxItems === 'number' ? schema.maxItems : undefined;
  if (allowed === undefined) return { allowed, most: maxItems };
  return { allowed, most: field.present ? Math.min(allowed.length, maxItems ?? allowed.length) : allowed.length };
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** What so many distinct items cost, before `max`. */
function costOfCount({ by, amount, amounts }: PerItemOptions, most: number | undefined): (count: number) => Money {
  if (amount !== undefined && amounts === undefined) {
    const money = usd(amount);
    return (count) => money * BigInt(count);
  }
  if (amounts === undefined || amount !== undefined) {
    throw new PricingProblem([], 'price needs either amount or amounts', 'one of the two');
  }
  if (amounts.length !== most) {
    const allowed = most === undefined ? 'any number of items' : counted(most, 'item');
    throw new PricingProblem(
      ['amounts'],
      `price.amounts has ${counted(amounts.length, 'price')}, and request.properties.${by} allows ${allowed}`,
      'a price for one item, for two, and so on',
    );
  }
  const prices = amounts.map((decimal) => usd(decimal));
  const falls = prices.findIndex((price, index) => index > 0 && price < (prices[index - 1] as Money));
  if (falls > 0) {
    throw new PricingProblem(
      ['amounts', String(falls)],
      `price.amounts asks less for ${falls + 1} items than for ${falls}`,
      `${amounts[falls - 1]} or more`,
    );
  }
  return (count) => {
    const price = prices[count - 1];
    if (price === undefined) throw new TypeError(`cannot price ${count} ${by}: the input was not validated`);
    return price;
  };
}

/** A reader of the items that do not count because of what other fields say. */
function exceptions(
  options: PerItemOptions,
  request: JsonSchema,
  allowed: readonly string[] | undefined,
): (input: Input) => ReadonlySet<string> {
  const { by, unless = {} } = options;
  const rules = Object.entries(unless).map(([name, byValue]) => {
    const choices = choicesOf(namedField(request, name, ['unless', name]), ['unless', name]);
    for (const [value, items] of Object.entries(byValue)) {
      if (!choices.includes(value)) {
        throw new PricingProblem(
          ['unless', name, value],
          `price.unless.${name} has ${value}, which request.properties.${name} does not allow`,
          `one of: ${choices.join(', ')}`,
        );
      }
      const unknown = items.find((item) => !allowed?.includes(item));
      if (unknown !== undefined) {
        throw new PricingProblem(
          ['unless', name, value],
          `price.unless.${name}.${value} has ${unknown}, which request.properties.${by}.items does not allow`,
          allowed && `one of: ${allowed.join(', ')}`,
        );
      }
    }
    return { name, skipped: new Map(Object.entries(byValue)) };
  });
  return (input) => new Set(rules.flatMap(({ name, skipped }) => skipped.get(String(input[name])) ?? []));
}

/**
 * The price grows with the distinct items of a list. A list left out stands for everything its items' enum has.
 * `unless` names items that do not count while another field has a value; one item at least is always paid for.
 */
export const perItem: PricingRule<PerItemOptions> = {
  name: 'per-item',
  options: optionsSchema(['by'], {
    by: fieldSchema('The request field whose items are paid for; a list of strings'),
    amount: amountSchema('What each item costs, in dollars'),
    amounts: {
      type: 'array',
      minItems: 1,
      items: amountSchema('Dollars, e.g. "0.02"'),
      description: 'In place of amount: what one item costs, what two cost, and so on, in dollars',
    },
    max: amountSchema('What a request costs at most, in dollars'),
    unless: {
      type: 'object',
      minProperties: 1,
      description: 'Field -> value -> the items that do not count while the field has the value',
      additionalProperties: {
        type: 'object',
        minProperties: 1,
        additionalProperties: { type: 'array', minItems: 1, items: { type: 'string' } },
      },
    },
  }),
  compile(options, request): Price {
    const field = namedField(request, options.by, ['by']);
    const { allowed, most } = itemsOf(field);
    const cap = readCap(options.max);
    const full = costOfCount(options, most);
    if (most === undefined && cap === undefined) {
      throw new PricingProblem(
        ['by'],
        `price.by names ${options.by}, which has no bound: the price would have none either`,
        `request.properties.${options.by}.maxItems, or price.max`,
      );
    }
    const skippedBy = exceptions(options, request, allowed);
    const cost = (count: number): Money => capped(full(count), cap);
    const quote = (input: Input): Money => {
      const items = new Set((input[options.by] ?? allowed) as readonly string[]);
      for (const skipped of skippedBy(input)) items.delete(skipped);
      return cost(Math.max(1, items.size));
    };
    const leftOut = !field.present || field.schema.default !== undefined;
    const min = cost(1);
    return priceWith({
      min,
      max: most === undefined && cap !== undefined && min > 0n ? cap : cost(most ?? 1),
      listed: leftOut ? quote(defaultsOf(request)) : min,
      quote,
    });
  },
};
