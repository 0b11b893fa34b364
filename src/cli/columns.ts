import { withoutControls } from '../control-characters.ts';

/** Rows as a list of objects, for programs. */
export const asJson = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  `${JSON.stringify(
    rows.map((row) => Object.fromEntries(head.map((title, column) => [title, row[column] ?? '']))),
    null,
    2,
  )}\n`;

/** In UTC, to the second: `2026-11-22 19:20:42`. */
export const shownTime = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** Rows in columns, a line each whatever a cell has in it. Amounts and counts are set to the right, everything else to the left. */
export function inColumns(head: readonly string[], given: readonly (readonly string[])[]): string {
  const rows = given.map((cells) => cells.map(withoutControls));
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const isNumber = head.map((_title, column) => rows.every((row) => /^-?[\d.]*(?: ?%)?$|^-$/.test(row[column] ?? '')));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return `${[head, ...rows].map(line).join('\n')}\n`;
}
