import type { CatalogueParts } from '../catalogue/contracts.ts';
import { pricingRules } from '../pricing/index.ts';
import { rails } from '../rails/index.ts';
import { adapters } from '../upstream/providers/index.ts';
import { recipes } from '../upstream/recipes/index.ts';

/** The code that comes with the gateway and that a catalogue may name. */
export const shipped = { rules: pricingRules, adapters, recipes, rails } as const satisfies CatalogueParts;
