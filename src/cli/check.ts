/** `npm run check`: every mistake of the catalogue in `TURNPIKE_CATALOGUE` (default: `catalogue`), or that there is none. */

import { checkCatalogue } from '../catalogue/load.ts';
import { formatDiagnostic } from '../catalogue/yaml/diagnostic.ts';
import { shipped } from '../gateway/shipped.ts';
import { run } from './command.ts';
import { readCommandLine } from './command-line.ts';

const USAGE = `npm run check

  every mistake of the catalogue in TURNPIKE_CATALOGUE (default: catalogue)`;

await run(async () => {
  readCommandLine(USAGE, {}, process.argv.slice(2));
  check();
});

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function check(): void {
  const directory = process.env.TURNPIKE_CATALOGUE ?? 'catalogue';
  const { catalogue, diagnostics } = checkCatalogue(directory, shipped);

  for (const diagnostic of diagnostics) console.error(formatDiagnostic(diagnostic));
  if (catalogue) {
    console.log(
      `${counted(catalogue.endpoints.length, 'endpoint')}, ${counted(catalogue.routes.length, 'route')}: no problems`,
    );
  } else {
    const count = `${diagnostics.length} ${diagnostics.length === 1 ? 'problem' : 'problems'}`;
    console.error(`${count} in ${directory}; once mended, run again: npm run check`);
    process.exitCode = 1;
  }
}
