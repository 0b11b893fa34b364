import { isJsonObject } from '../../json.ts';
import { type Money, toDecimal, usd } from '../../money.ts';
import type { CheckContext } from '../check-context.ts';
import { closedOptions } from '../checker.ts';
import { type PricingContext, PricingProblem } from '../contracts.ts';
import type { JsonSchema, Price, Route } from '../types.ts';
import { choices } from '../yaml/suggest.ts';
import { below, type Diagnostics, keyOf, type SourceLocation } from '../yaml/yaml-document.ts';
import type { Sourced } from './route-plan.ts';

const RULE = { rule: { type: 'string' } } as const;

/** The price of a route, or undefined when it does not fit, which is reported: at `blame` if that is given. */
export function compilePrice(
  price: Sourced,
  request: JsonSchema,
  { blame, ...given }: Omit<PricingContext, 'models'> & { readonly blame: SourceLocation | undefined },
  context: CheckContext,
): Price | undefined {
  const { checker, rules, models } = context;
  if (!isJsonObject(price.value) || typeof price.value.rule !== 'string') return undefined;
  const { rule: name, ...options } = price.value;
  const rule = rules.get(name);
  if (!rule) {
    checker.diagnostics.add(below(price.location, 'rule'), `no pricing rule ${name}`, choices(name, rules.keys()));
    return undefined;
  }
  if (!checker.fits(price.location, price.value, closedOptions(rule.options, RULE)) || !models) return undefined;
  try {
    return rule.compile(options, request, { models, ...given });
  } catch (problem) {
    if (!(problem instanceof PricingProblem)) throw problem;
    const where = below(price.location, ...problem.path);
    checker.diagnostics.add(
      blame ?? (problem.path.length > 1 ? keyOf(where) : where),
      problem.message,
      problem.expected,
    );
    return undefined;
  }
}

/** Reports a price that may be nothing without `free: true`, and one above the service's `highestPrice`. */
export function checkAmounts(
  price: Price,
  isFree: boolean,
  at: SourceLocation,
  { service, checker }: Pick<CheckContext, 'service' | 'checker'>,
): void {
  const { diagnostics } = checker;
  if (price.min === 0n && !isFree) {
    diagnostics.add(
      at,
      'the price may be 0',
      'raise it, or add free: true to the endpoint if it is meant to be given away',
    );
  }
  const ceiling = amountOf(service?.highestPrice);
  if (ceiling !== undefined && price.max > ceiling) {
    const wanted = `lower it, or raise highestPrice in service.yaml, which is "${toDecimal(ceiling)}"`;
    diagnostics.add(at, `the price may be ${toDecimal(price.max)}, more than anything may cost`, wanted);
  }
}

/** What listings say; undefined when amounts are wrong, which the file's schema reports. */
export function readListing(
  listing: Sourced | undefined,
  price: Price,
  diagnostics: Diagnostics,
): Route['listing'] | undefined {
  if (!listing) return { price: price.listed, minPrice: price.fixed ? undefined : price.min };
  const amounts = isJsonObject(listing.value) ? listing.value : {};
  const listed = amountOf(amounts.price);
  const minPrice = amountOf(amounts.minPrice);
  if (listed === undefined || minPrice === undefined) return undefined;
  if (minPrice > listed) {
    diagnostics.add(
      below(listing.location, 'minPrice'),
      'minPrice is above price',
      `write at most "${toDecimal(listed)}"`,
    );
  }
  return { price: listed, minPrice };
}

function amountOf(decimal: unknown): Money | undefined {
  try {
    return typeof decimal === 'string' ? usd(decimal) : undefined;
  } catch {
    return undefined;
  }
}
