/** One column; longer cells go on in the next line. */
export interface Column {
  title: string;
  /** Most characters in a line. */
  width: number;
}

const GAP = '  ';

/** Columns side by side under their titles, each as wide as its widest line and no wider than it may be. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const cells = [columns.map(({ title }) => title), ...rows].map((row) =>
    row.map((cell, place) => wrapped(cell, columns[place]?.width ?? cell.length)),
  );
  const widths = columns.map((_, place) =>
    Math.max(...cells.map((row) => Math.max(...(row[place] ?? []).map((line) => line.length)))),
  );
  return cells
    .flatMap((row) =>
      Array.from({ length: Math.max(...row.map((lines) => lines.length)) }, (_, line) =>
        row
          .map((lines, place) => (lines[line] ?? '').padEnd(widths[place] ?? 0))
          .join(GAP)
          .trimEnd(),
      ),
    )
    .join('\n');
}

/** Breaks at spaces and after dashes; a word that is too wide is cut. */
function wrapped(cell: string, width: number): string[] {
  const lines = [''];
  for (const word of cell.match(/[^\s-]*-|[^\s-]+\s*|\s+/g) ?? []) {
    const line = lines.at(-1) ?? '';
    if ((line + word).trimEnd().length <= width) {
      lines[lines.length - 1] = line + word;
      continue;
    }
    const pieces = word.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
    lines.push(...pieces);
  }
  const filled = lines.map((line) => line.trimEnd()).filter((line) => line !== '');
  return filled.length > 0 ? filled : [''];
}
