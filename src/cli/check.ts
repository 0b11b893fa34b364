/** `npm run check`: every mistake of the catalogue in `TURNPIKE_CATALOGUE` (default: `catalogue`), or that there is none. */
import { checkCatalogue } from '../catalogue/load.ts';
import { formatProblem } from '../catalogue/problem.ts';
import { shipped } from '../shipped.ts';

const directory = process.env.TURNPIKE_CATALOGUE ?? 'catalogue';
const { catalogue, problems } = checkCatalogue(directory, shipped);

for (const problem of problems) console.error(formatProblem(problem));
if (catalogue) {
  console.log(`${catalogue.endpoints.length} endpoints, ${catalogue.routes.length} routes: no problems`);
} else {
  const count = `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`;
  console.error(`${count} in ${directory}; once mended, run again: npm run check`);
  process.exitCode = 1;
}
