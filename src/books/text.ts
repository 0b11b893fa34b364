import { csvLine, jsonLine } from './cells.ts';
import { COLUMNS, type Movement } from './movements.ts';

export const FORMATS = ['csv', 'jsonl'] as const;

export type Format = (typeof FORMATS)[number];

/** Many rows are written at once. */
const CHUNK_ROWS = 500;

/** The books as text, a piece at a time. */
export async function* textOf(movements: AsyncIterable<Movement>, format: Format): AsyncGenerator<string> {
  let lines = format === 'csv' ? [csvLine(COLUMNS)] : [];
  for await (const { cells } of movements) {
    lines.push(format === 'csv' ? csvLine(cells) : jsonLine(COLUMNS, cells));
    if (lines.length < CHUNK_ROWS) continue;
    yield lines.join('');
    lines = [];
  }
  yield lines.join('');
}
