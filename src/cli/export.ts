/** `npm run export`: every movement of money in a period, for the books. */
import './broken-pipe.ts';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { movementsIn } from '../books/movements.ts';
import { FORMATS, textOf } from '../books/text.ts';
import { loadNetworks } from '../catalogue/load.ts';
import { PERIOD_OPTIONS, PERIOD_USAGE, readPeriod } from './books/period.ts';
import { onStore, run } from './command.ts';
import { readCommandLine, UsageProblem } from './command-line.ts';

const USAGE = `npm run export -- --from <time> --to <time> [--format csv|jsonl]

  every movement of money in the period, one row each, in order of time: payments that settled, credits that were bought
  with them, charged to API keys and granted by operators

${PERIOD_USAGE}
  --format       csv (default) or jsonl`;

function readArguments(words: readonly string[]) {
  const options = { ...PERIOD_OPTIONS, format: { type: 'string', default: 'csv' } } as const;
  const { values } = readCommandLine(USAGE, options, words);
  const format = FORMATS.find((known) => known === values.format);
  if (!format) throw new UsageProblem(`--format is csv or jsonl: got ${values.format}`);
  return { period: readPeriod(values), format };
}

await run(async () => {
  const { period, format } = readArguments(process.argv.slice(2));
  await onStore('reads', async (store, { catalogueDirectory, mode }) => {
    const networks = loadNetworks(catalogueDirectory);
    const text = textOf(movementsIn(store, period, networks, mode), format);
    await pipeline(Readable.from(text), process.stdout, { end: false });
  });
});
