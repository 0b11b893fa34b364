/**
 * `npm run codegen` makes `generated/` from the catalogue, the catalogue's README.md from the schemas that check it, and what
 * browsers load from its sources where they are; `npm run codegen -- --check` changes nothing and fails when they are not up to date. `TURNPIKE_CATALOGUE` and `TURNPIKE_GENERATED` name other directories.
 */
import { existsSync } from 'node:fs';
import { CatalogueErrors } from '../src/catalogue/yaml/diagnostic.ts';
import { readCommandLine, UsageProblem } from '../src/cli/command-line.ts';
import { shipped } from '../src/gateway/shipped.ts';
import { differences, write } from './files.ts';
import { describeCatalogue, generate } from './generate.ts';

const directory = process.env.TURNPIKE_CATALOGUE ?? 'catalogue';
/** The package's own directory alone has the sources of pages, and the bundler. */
const PAGES = 'src/storefront/browser';
const target = process.env.TURNPIKE_GENERATED ?? 'generated';

const pageFiles = async (): Promise<ReadonlyMap<string, string>> =>
  existsSync(PAGES) ? (await import('./pages.ts')).bundlePages() : new Map();

async function main(checkOnly: boolean): Promise<void> {
  const files = new Map([...(await generate(directory, shipped)), ...(await pageFiles())]);
  const readme = describeCatalogue(directory, shipped);
  const visit = checkOnly ? differences : write;
  const found = [
    ...visit(target, files).map(({ path, state }) => `${target}/${path}: ${state}`),
    ...visit(directory, readme, true).map(({ path, state }) => `${directory}/${path}: ${state}`),
  ];
  for (const line of found) console.log(line);
  const count = files.size + readme.size;
  if (!checkOnly) console.log(`${count} files, ${found.length} of them changed`);
  else if (found.length === 0) console.log(`${count} files: up to date`);
  else {
    console.error(`${found.length} of ${count} files are not what their sources say; mend them with: npm run codegen`);
    process.exitCode = 1;
  }
}

const USAGE = `npm run codegen [-- --check]

  makes generated/ from the catalogue, and its README.md; --check changes nothing and fails where they are not up to date`;

try {
  const { values } = readCommandLine(USAGE, { check: { type: 'boolean', default: false } }, process.argv.slice(2));
  await main(values.check);
} catch (problem) {
  if (problem instanceof UsageProblem) console.error(problem.message);
  else if (!(problem instanceof CatalogueErrors)) throw problem;
  else console.error(`${problem.message}\nnothing was generated; see all problems with: npm run check`);
  process.exitCode = 1;
}
