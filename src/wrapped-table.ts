export interface Column {
  readonly title: string;
  /** Most characters; longer cells go on in the next line. */
  readonly width: number;
}

const GAP = '  ';

/** Cells below their titles, aligned, none wider than its column. */
export const wrappedTable = (columns: readonly Column[], rows: readonly (readonly string[])[]): string =>
  wrappedRows(columns, [columns.map(({ title }) => title), ...rows]).join('\n');

/** The same without the titles, and each row for itself: one line or several. */
export function wrappedRows(columns: readonly Pick<Column, 'width'>[], rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map((cell, place) => wrapped(cell, columns[place]?.width ?? cell.length)));
  const widest = (place: number): number =>
    Math.max(...cells.flatMap((row) => row[place] ?? []).map(({ length }) => length));
  const widths = columns.map((_, place) => widest(place));
  return cells.map((row) => linesOf(row, widths).join('\n'));
}

function linesOf(row: readonly string[][], widths: readonly number[]): string[] {
  const height = Math.max(...row.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    row
      .map((lines, place) => (lines[line] ?? '').padEnd(widths[place] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

/** Breaks at spaces; words that are wider than the column after dashes and slashes, where they have any. A path is kept whole. */
function wrapped(cell: string, width: number): string[] {
  const lines = [''];
  for (const word of cell.split(' ').flatMap((whole) => pieces(whole, width))) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function pieces(word: string, width: number): string[] {
  if (word.length <= width || word.startsWith('/')) return [word];
  const start = word.slice(0, width);
  const end = Math.max(start.lastIndexOf('-'), start.lastIndexOf('/')) + 1 || width;
  return [word.slice(0, end), ...pieces(word.slice(end), width)];
}
