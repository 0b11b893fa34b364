/** Rows of CSV (RFC 4180), and of JSON lines. */

/** A spreadsheet takes what begins so for a formula, but for a number below zero, which its sums have to have. */
const FORMULA = /^(?!-\d+(\.\d+)?$)[=+\-@\t\r]/;

function cell(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export const csvLine = (cells: readonly string[]): string => `${cells.map(cell).join(',')}\n`;

/** What is empty is null. */
export const jsonLine = (columns: readonly string[], cells: readonly string[]): string =>
  `${JSON.stringify(Object.fromEntries(columns.map((column, at) => [column, cells[at] || null])))}\n`;
