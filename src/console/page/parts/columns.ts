/** Columns of figures: exact in a file, as people read them on the page, sorted by what they are. */
import { count, duration, roughly, share } from './format.ts';
import type { Column } from './table.tsx';

type More<Row> = Partial<Column<Row>>;

/** Dollars, as decimal strings. */
export const money = <Row>(title: string, of: (row: Row) => string, more: More<Row> = {}): Column<Row> => ({
  title,
  text: of,
  cell: (row) => roughly(of(row)),
  order: (row) => Number(of(row)),
  isNumber: true,
  ...more,
});

export const counts = <Row>(title: string, of: (row: Row) => number, more: More<Row> = {}): Column<Row> => ({
  title,
  text: (row) => String(of(row)),
  cell: (row) => count(of(row)),
  order: of,
  isNumber: true,
  ...more,
});

/** How many calls failed, and what part of them that is. */
export const failed = <Row extends { calls: number; failures: number }>(): Column<Row> =>
  counts('Failed', ({ failures }) => failures, {
    cell: ({ failures, calls }) => (failures === 0 ? '0' : `${count(failures)} (${share(failures, calls)})`),
    isWide: true,
  });

/** Milliseconds that half of all calls took at most, or 95 of 100. */
export const latency = <Row extends { p50?: number; p95?: number }>(name: 'p50' | 'p95'): Column<Row> => ({
  title: name,
  text: (row) => String(row[name] ?? ''),
  cell: (row) => duration(row[name]),
  order: (row) => row[name] ?? -1,
  isNumber: true,
  isWide: true,
});
