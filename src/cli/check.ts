/** `npm run check`: every mistake of the catalogue in `TURNPIKE_CATALOGUE` (default: `catalogue`), or that there is none. */

import { formatDiagnostic } from '../catalogue/diagnostic.ts';
import { checkCatalogue } from '../catalogue/load.ts';
import { pricingRules } from '../pricing/index.ts';
import { rails } from '../rails/index.ts';
import { adapters } from '../upstream/adapters/index.ts';
import { recipes } from '../upstream/recipes/index.ts';

const directory = process.env.TURNPIKE_CATALOGUE ?? 'catalogue';
const { catalogue, diagnostics } = checkCatalogue(directory, { rules: pricingRules, adapters, recipes, rails });

for (const diagnostic of diagnostics) console.error(formatDiagnostic(diagnostic));
if (catalogue) {
  console.log(`${catalogue.endpoints.length} endpoints, ${catalogue.routes.length} routes: no problems`);
} else {
  const count = `${diagnostics.length} ${diagnostics.length === 1 ? 'problem' : 'problems'}`;
  console.error(`${count} in ${directory}; once mended, run again: npm run check`);
  process.exitCode = 1;
}
