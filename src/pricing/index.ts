/** Every way to price a request, by the name that `price.rule` gives. */

import type { PricingRule } from '../catalogue/contracts.ts';
import { amount } from './amount.ts';
import { fixed } from './fixed.ts';
import { perItem } from './per-item.ts';
import { perModel } from './per-model.ts';
import { perUnit } from './per-unit.ts';
import { select } from './select.ts';
import { tieredTokens } from './tiered-tokens.ts';
import { usageTokens } from './usage-tokens.ts';

export const pricingRules: readonly PricingRule[] = [
  fixed,
  select,
  perUnit,
  perItem,
  tieredTokens,
  usageTokens,
  perModel,
  amount,
];
