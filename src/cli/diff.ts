/** `npm run diff -- <git revision>`: what changed for buyers since the catalogue that was committed there. */
import './broken-pipe.ts';
import { join, relative, resolve } from 'node:path';
import { checkedCatalogue } from '../catalogue/checked.ts';
import { checkCatalogue } from '../catalogue/load.ts';
import type { Catalogue } from '../catalogue/types.ts';
import { formatDiagnostic } from '../catalogue/yaml/diagnostic.ts';
import type { Change, Effect } from '../catalogue-diff/change.ts';
import { compareCatalogues } from '../catalogue-diff/compare.ts';
import { asMarkdown } from '../catalogue-diff/markdown.ts';
import { asText } from '../catalogue-diff/text.ts';
import { shipped } from '../gateway/shipped.ts';
import { run } from './command.ts';
import { readOperands, UsageProblem } from './command-line.ts';
import { atRevision } from './diff/at-revision.ts';

const USAGE = `npm run diff -- <git revision> [options]

  what changed for buyers between the catalogue of that revision and the one in TURNPIKE_CATALOGUE (default: catalogue)

  --format <format>  text (default), json, or markdown for a comment on a pull request
  --fail-on <what>   end with 1 if something changed that is: breaking (breaks callers, or may: what cannot be judged
                     counts), or price (any that rose or fell); may be given twice

  It ends with 2 where it cannot compare.`;

const FORMATS = ['text', 'json', 'markdown'] as const;
const FAILURES: Readonly<Record<string, readonly Effect[]>> = { breaking: ['breaks', 'may break'], price: ['price'] };

function readArguments(words: readonly string[]) {
  const { values, positionals } = readOperands(
    USAGE,
    { format: { type: 'string', default: 'text' }, 'fail-on': { type: 'string', multiple: true, default: [] } },
    words,
  );
  const wrong = (message: string) => new UsageProblem(`${message}\n\n${USAGE}`);
  const [revision, ...others] = positionals;
  if (revision === undefined || others.length > 0) throw wrong('name one revision, such as HEAD~1 or origin/main');
  const format = FORMATS.find((known) => known === values.format);
  if (!format) throw wrong(`--format is one of ${FORMATS.join(', ')}: got ${values.format}`);
  const failing = values['fail-on'].flatMap((what) => {
    const effects = FAILURES[what];
    if (!effects) throw wrong(`--fail-on is one of ${Object.keys(FAILURES).join(', ')}: got ${what}`);
    return effects;
  });
  return { revision, format, failing };
}

/** Most schemas are in both catalogues: they are checked once. */
const checked = checkedCatalogue();

/** Throws UsageProblem with every mistake, in files that are said to lie in `shownAs`. */
function load(directory: string, shownAs: string): Catalogue {
  const { catalogue, diagnostics } = checkCatalogue(directory, shipped, checked);
  if (catalogue) return catalogue;
  const mistakes = diagnostics.map((diagnostic) =>
    formatDiagnostic({ ...diagnostic, file: join(shownAs, relative(directory, resolve(diagnostic.file))) }),
  );
  throw new UsageProblem([...mistakes, `${shownAs} does not pass npm run check: nothing was compared`].join('\n'));
}

const formatted = (changes: readonly Change[], format: (typeof FORMATS)[number], title: string): string => {
  switch (format) {
    case 'text':
      return asText(changes);
    case 'markdown':
      return asMarkdown(changes, title);
    case 'json':
      return `${JSON.stringify(changes, null, 2)}\n`;
  }
};

await run(async () => {
  const { revision, format, failing } = readArguments(process.argv.slice(2));
  const directory = process.env.TURNPIKE_CATALOGUE ?? 'catalogue';
  const before = atRevision(directory, revision, (copy) => load(copy, `${revision}:${directory}`));
  const changes = compareCatalogues(before, load(directory, directory));
  process.stdout.write(formatted(changes, format, `For buyers, since ${revision}`));
  if (changes.some(({ effect }) => failing.includes(effect))) process.exitCode = 1;
}, 2);
