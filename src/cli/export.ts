/** `npm run export`: every movement of money in a period, for the books. */
import './broken-pipe.ts';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { loadCatalogue } from '../catalogue/load.ts';
import { shipped } from '../shipped.ts';
import { csvLine, jsonLine } from './books/cells.ts';
import { COLUMNS, type Movement, movementsIn } from './books/movements.ts';
import { PERIOD_OPTIONS, PERIOD_USAGE, readPeriod } from './books/period.ts';
import { onStore, run } from './command.ts';
import { readCommandLine, UsageProblem } from './command-line.ts';

const USAGE = `npm run export -- --from <time> --to <time> [--format csv|jsonl]

  every movement of money in the period, one row each, in order of time: payments that settled, credits that were bought
  with them, charged to API keys and granted by operators

${PERIOD_USAGE}
  --format       csv (default) or jsonl`;

const FORMATS = ['csv', 'jsonl'] as const;
type Format = (typeof FORMATS)[number];

/** Many rows are written at once. */
const CHUNK_ROWS = 500;

function readArguments(words: readonly string[]) {
  const options = { ...PERIOD_OPTIONS, format: { type: 'string', default: 'csv' } } as const;
  const { values } = readCommandLine(USAGE, options, words);
  const format = FORMATS.find((known) => known === values.format);
  if (!format) throw new UsageProblem(`--format is csv or jsonl: got ${values.format}`);
  return { period: readPeriod(values), format };
}

async function* textOf(movements: AsyncIterable<Movement>, format: Format): AsyncGenerator<string> {
  let lines = format === 'csv' ? [csvLine(COLUMNS)] : [];
  for await (const { cells } of movements) {
    lines.push(format === 'csv' ? csvLine(cells) : jsonLine(COLUMNS, cells));
    if (lines.length < CHUNK_ROWS) continue;
    yield lines.join('');
    lines = [];
  }
  yield lines.join('');
}

await run(async () => {
  const { period, format } = readArguments(process.argv.slice(2));
  await onStore('reads', async (store, { catalogueDirectory, mode }) => {
    const networks = [...loadCatalogue(catalogueDirectory, shipped).networks.values()];
    const text = textOf(movementsIn(store, period, networks, mode), format);
    await pipeline(Readable.from(text), process.stdout, { end: false });
  });
});
