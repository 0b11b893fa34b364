import { csvLine } from '../../../books/cells.ts';

/** Hands a table over as a file, guarded against formulas as the books are. */
export function saveCsv(name: string, lines: readonly (readonly string[])[]): void {
  const file = new Blob(lines.map(csvLine), { type: 'text/csv;charset=utf-8' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `${name}.csv`;
  link.click();
  // The browser takes hold of the file in its own time.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
