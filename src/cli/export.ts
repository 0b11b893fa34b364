/** `npm run export`: every movement of money in a period, for the books, or the vouchers that are not claimed yet. */
import './broken-pipe.ts';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { COLUMNS, movementsIn } from '../books/movements.ts';
import { FORMATS, textOf } from '../books/text.ts';
import { VOUCHER_COLUMNS, vouchersIn } from '../books/vouchers.ts';
import { loadNetworks } from '../catalogue/load.ts';
import { PERIOD_OPTIONS, PERIOD_USAGE, readPeriod } from './books/period.ts';
import { run } from './command.ts';
import { readCommandLine, UsageProblem } from './command-line.ts';
import { onStore } from './kept-store.ts';

const USAGE = `npm run export -- --from <time> --to <time> [--format csv|jsonl]
npm run export -- --vouchers [--format csv|jsonl]

  every movement of money in the period, one row each, in order of time: payments that settled, credits that were bought
  with them, charged to API keys, given back to them and granted by operators, and refunds that were sent

${PERIOD_USAGE}
  --vouchers     instead, of each channel that calls are drawn from: what was charged and is not claimed yet, and the payer's
                 newest voucher with its signature. It is all that the account which claims needs for it by hand, without
                 the database: keep it as you keep a backup. Nobody else can use the signatures
  --format       csv (default) or jsonl`;

const OPTIONS = {
  ...PERIOD_OPTIONS,
  vouchers: { type: 'boolean', default: false },
  format: { type: 'string', default: 'csv' },
} as const;

function readArguments(words: readonly string[]) {
  const { values } = readCommandLine(USAGE, OPTIONS, words);
  const format = FORMATS.find((known) => known === values.format);
  if (!format) throw new UsageProblem(`--format is csv or jsonl: got ${values.format}`);
  if (!values.vouchers) return { period: readPeriod(values), format };
  if (values.from === undefined && values.to === undefined) return { period: undefined, format };
  throw new UsageProblem('--vouchers are those of the moment: leave out --from and --to');
}

await run(async () => {
  const { period, format } = readArguments(process.argv.slice(2));
  await onStore('reads', async (store, { catalogueDirectory, mode }) => {
    const networks = loadNetworks(catalogueDirectory);
    const text = period
      ? textOf(COLUMNS, movementsIn(store, period, networks, mode), format)
      : textOf(VOUCHER_COLUMNS, vouchersIn(store, networks, mode), format);
    await pipeline(Readable.from(text), process.stdout, { end: false });
  });
});
