/**
 * SQL in the dialect that SQLite and Postgres share. Parameters are `?1`, `?2`, ...; Postgres reads them as `$1`, `$2`, ....
 */

export interface Statement {
  readonly text: string;
  readonly values: readonly (string | number | null)[];
  /** Planned once for each connection: only where there is one way to carry it out, whatever its values are. */
  readonly isPlannedOnce?: true;
  /** See `unwatched`. */
  readonly isUnwatched?: true;
}

/** A row as either engine returns it; Postgres gives 64-bit integers as strings. */
export type Row = Readonly<Record<string, string | number | null>>;
