/** Every way to price a request, by the name that `price.rule` gives. */
import { amount } from './amount.ts';
import { fixed } from './fixed.ts';
import { perItem } from './per-item.ts';
import { perModel } from './per-model.ts';
import { perUnit } from './per-unit.ts';
import type { PricingRule } from './rule.ts';
import { select } from './select.ts';
import { tieredTokens } from './tiered-tokens.ts';
import { usageTokens } from './usage-tokens.ts';

/** `compile` takes options that the rule's own `options` schema accepts. */
export const pricingRules: readonly PricingRule<unknown>[] = [
  fixed,
  select,
  perUnit,
  perItem,
  tieredTokens,
  usageTokens,
  perModel,
  amount,
];
