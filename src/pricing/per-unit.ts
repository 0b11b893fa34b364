import { PricingProblem, type PricingRule } from '../catalogue/contracts.ts';
import type { Input, JsonSchema, Price } from '../catalogue/types.ts';
import { type Money, usd } from '../money.ts';
import { chosen, entryTable } from './choice.ts';
import { demandPresent, type Field, namedField } from './field.ts';
import { capped, charged, highest, lowest, priceWith, readCap } from './price.ts';
import { costOf, exactly } from './quantity.ts';
import { amountSchema, amountsSchema, fieldSchema, optionsSchema } from './schemas.ts';

interface PerUnitOptions {
  readonly by: string;
  readonly amount?: string;
  readonly each?: { readonly by: string; readonly amounts: { readonly [value: string]: string } };
  readonly per?: number;
  readonly max?: string;
}

/** The amounts that a unit can cost, and which one an input chooses. */
interface UnitAmount {
  readonly all: readonly Money[];
  readonly listed: Money | undefined;
  of(input: Input): Money;
}

function unitAmount({ amount, each }: PerUnitOptions, request: JsonSchema): UnitAmount {
  if (amount !== undefined && each === undefined) {
    const money = usd(amount);
    return { all: [money], listed: money, of: () => money };
  }
  if (each === undefined || amount !== undefined) {
    throw new PricingProblem([], 'price needs either amount or each', 'one of the two');
  }
  const table = entryTable(
    request,
    { by: each.by, path: ['each', 'by'], entries: each.amounts, entriesPath: ['each', 'amounts'], noun: 'price' },
    usd,
  );
  return { all: [...table.values.values()], listed: table.byDefault, of: (input) => chosen(table, input) };
}

interface Range {
  readonly least: number;
  readonly most: number | undefined;
}

function rangeOf(field: Field, capless: boolean): Range {
  const { name, schema } = field;
  const bound = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
  const least = bound(schema.minimum);
  const most = bound(schema.maximum);
  const place = `request.properties.${name}`;
  if (schema.type !== 'number' && schema.type !== 'integer') {
    throw new PricingProblem(['by'], `price.by names ${name}, which is not a number`, `${place}.type: number`);
  }
  if (least === undefined || least < 0) {
    throw new PricingProblem(['by'], `price.by names ${name}, which can be negative`, `${place}.minimum of 0 or more`);
  }
  if (most !== undefined && most < least) {
    throw new PricingProblem(['by'], `price.by names ${name}, whose maximum is below its minimum`, `${place}.maximum`);
  }
  if (most === undefined && capless) {
    throw new PricingProblem(
      ['by'],
      `price.by names ${name}, which has no maximum: the price would have none either`,
      `${place}.maximum, or price.max`,
    );
  }
  return { least, most };
}

/** The price grows with a number: `amount`, or what `each` gives the chosen value, for every `per` units of `by`. */
export const perUnit: PricingRule<PerUnitOptions> = {
  name: 'per-unit',
  options: optionsSchema(['by'], {
    by: fieldSchema('The numeric request field that is paid for; it has a minimum and a maximum'),
    amount: amountSchema('What `per` units cost, in dollars'),
    each: {
      ...optionsSchema(['by', 'amounts'], {
        by: fieldSchema('The request field whose value chooses what a unit costs; it has an enum'),
        amounts: amountsSchema('What `per` units cost for each value, in dollars'),
      }),
      description: 'In place of amount: what a unit costs depends on another field',
    },
    per: { type: 'number', exclusiveMinimum: 0, default: 1, description: 'How many units the amount is for' },
    max: amountSchema('What a request costs at most, in dollars'),
  }),
  compile(options, request): Price {
    const field = namedField(request, options.by, ['by']);
    demandPresent(field, ['by']);
    const cap = readCap(options.max);
    const range = rangeOf(field, cap === undefined);
    const amounts = unitAmount(options, request);
    const per = exactly(options.per ?? 1);
    const cost = (units: number, amount: Money): Money =>
      capped(charged(costOf(exactly(units), amount, per), amount === 0n), cap);

    const cheapest = lowest(amounts.all);
    const dearest = highest(amounts.all);
    // A default beyond the bounds is reported with the request.
    const given = typeof field.schema.default === 'number' ? field.schema.default : range.least;
    const listedUnits = Math.max(given, range.least);
    if (cap !== undefined && cost(range.least, cheapest) === cap) {
      const message = `every request costs price.max: ${options.by} of ${range.least} costs as much`;
      throw new PricingProblem(['max'], message, 'a price.per or price.amount that grows to it');
    }
    return priceWith({
      min: cost(range.least, cheapest),
      max: range.most === undefined && cap !== undefined && dearest > 0n ? cap : cost(range.most ?? 0, dearest),
      listed: cost(listedUnits, amounts.listed ?? cheapest),
      quote: (input) => cost(Number(input[options.by]), amounts.of(input)),
    });
  },
};
