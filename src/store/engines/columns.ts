/** What the columns of a row hold, as text. */
import type { Row } from './statement.ts';

export interface Columns {
  /** Throws where there is nothing in it. */
  filled(row: Row, column: string): string;
  optional(row: Row, column: string): string | undefined;
}

/** Of rows that are of more than one table, none is named. */
export function columnsOf(table?: string): Columns {
  const optional = (row: Row, column: string): string | undefined => {
    const value = row[column];
    return value === undefined || value === null ? undefined : String(value);
  };
  return {
    optional,
    filled(row, column) {
      const value = optional(row, column);
      if (value !== undefined) return value;
      throw new Error(`${table === undefined ? '' : `${table}.`}${column} is empty in a row of the database`);
    },
  };
}
