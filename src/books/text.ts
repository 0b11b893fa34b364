import { csvLine, jsonLine } from './cells.ts';

export const FORMATS = ['csv', 'jsonl'] as const;

export type Format = (typeof FORMATS)[number];

/** Many rows are written at once. */
const CHUNK_ROWS = 500;

/** Rows as text, a piece at a time. */
export async function* textOf(
  columns: readonly string[],
  rows: AsyncIterable<{ readonly cells: readonly string[] }>,
  format: Format,
): AsyncGenerator<string> {
  let lines = format === 'csv' ? [csvLine(columns)] : [];
  for await (const { cells } of rows) {
    lines.push(format === 'csv' ? csvLine(cells) : jsonLine(columns, cells));
    if (lines.length < CHUNK_ROWS) continue;
    yield lines.join('');
    lines = [];
  }
  yield lines.join('');
}
