import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { saveCsv } from './csv.ts';

export interface Column<Row> {
  readonly title: string;
  /** What a file gets, and a cell where it has no `cell`. */
  text(row: Row): string;
  cell?(row: Row): ComponentChildren;
  /** Given where the table can be sorted by this. */
  order?(row: Row): number | string;
  readonly isNumber?: boolean;
  /** Left out where there is little room. */
  readonly isWide?: boolean;
  /** For the file alone. */
  readonly isUnseen?: boolean;
}

interface Props<Row> {
  readonly title: string;
  /** Of the file. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  keyOf(row: Row): string;
  /** Said where there are no rows: what to do. */
  readonly empty: ComponentChildren;
  /** How many are shown until somebody asks for all. */
  readonly first?: number;
  /** The order until somebody chooses another; without it, the rows' own. */
  readonly sortedBy?: Sorting;
  /** Beside the title. */
  readonly children?: ComponentChildren;
}

interface Sorting {
  readonly title: string;
  readonly isDown: boolean;
}

function sorted<Row>(rows: readonly Row[], { order }: Column<Row>, isDown: boolean): Row[] {
  if (!order) return [...rows];
  const direction = isDown ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [left, right] = [order(one), order(other)];
    return left < right ? -direction : left > right ? direction : 0;
  });
}

const ARIA = { down: 'descending', up: 'ascending', not: 'none' } as const;

export function Table<Row>({ title, name, columns, rows, keyOf, empty, first, sortedBy, children }: Props<Row>) {
  const heading = useId();
  const [sorting, setSorting] = useState(sortedBy);
  const [showsAll, setShowsAll] = useState(false);
  const by = columns.find((column) => column.title === sorting?.title);
  const ordered = by && sorting ? sorted(rows, by, sorting.isDown) : rows;
  const shown = first === undefined || showsAll ? ordered : ordered.slice(0, first);
  const seen = columns.filter(({ isUnseen }) => !isUnseen);
  const toCsv = () =>
    saveCsv(name, [
      columns.map((column) => column.title),
      ...shown.map((row) => columns.map((column) => column.text(row))),
    ]);

  return (
    <section class="panel" aria-labelledby={heading}>
      <header class="panel-head">
        <h2 id={heading}>{title}</h2>
        <div class="actions">
          {children}
          {rows.length > 0 && (
            <button type="button" class="small" onClick={toCsv} aria-label={`CSV: ${title}`}>
              CSV
            </button>
          )}
        </div>
      </header>
      {rows.length === 0 ? (
        <div class="empty">{empty}</div>
      ) : (
        <div class="scroll">
          <table aria-labelledby={heading}>
            <thead>
              <tr>
                {seen.map((column) => {
                  const direction = sorting?.title !== column.title ? 'not' : sorting.isDown ? 'down' : 'up';
                  return (
                    <th
                      key={column.title}
                      scope="col"
                      class={classOf(column)}
                      {...(column.order && { 'aria-sort': ARIA[direction] })}
                    >
                      {column.order ? (
                        <button
                          type="button"
                          class={`sort ${direction}`}
                          onClick={() =>
                            setSorting({
                              title: column.title,
                              isDown: direction === 'not' ? Boolean(column.isNumber) : direction === 'up',
                            })
                          }
                        >
                          {column.title}
                        </button>
                      ) : (
                        column.title
                      )}
                    </th>
                  );
                })}
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <tr key={keyOf(row)}>
                  {seen.map((column) => (
                    <td key={column.title} class={classOf(column)}>
                      {column.cell ? column.cell(row) : column.text(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shown.length < rows.length && (
        <button type="button" class="more" onClick={() => setShowsAll(true)}>
          Show all {rows.length}
        </button>
      )}
    </section>
  );
}

const classOf = ({ isNumber, isWide }: Pick<Column<never>, 'isNumber' | 'isWide'>): string =>
  [isNumber && 'number', isWide && 'wide'].filter(Boolean).join(' ');
