import type { Slice } from '../../figures.ts';
import { counts, failed, latency, money } from '../parts/columns.ts';
import { type Column, Table } from '../parts/table.tsx';
import { linkTo } from '../route.ts';

interface Props {
  readonly title: string;
  readonly name: string;
  readonly slices: readonly Slice[];
  /** The filter of payments that a slice's name is for. */
  readonly linkAs?: 'endpoint' | 'network';
  /** Where it has half the room. */
  readonly isShort?: boolean;
}

const REVENUE = { title: 'Revenue', isDown: true };

function columnsOf({ title, slices, linkAs, isShort = false }: Props): Column<Slice>[] {
  const most = Math.max(0, ...slices.map(({ revenue }) => Number(revenue)));
  const extra: Column<Slice>[] = isShort
    ? []
    : [
        money('Cost', ({ cost }) => cost, { isWide: true }),
        money('Refunds', ({ refunds }) => refunds, { isWide: true }),
      ];
  return [
    {
      title: title.replace(/s$/, ''),
      text: ({ name }) => name,
      order: ({ name }) => name,
      cell: ({ name, revenue }) => (
        <div class="ranked">
          {linkAs ? <a href={linkTo('payments', { [linkAs]: name })}>{name}</a> : name}
          <span
            class="rank"
            style={{ inlineSize: most > 0 ? `${(100 * Math.max(0, Number(revenue))) / most}%` : '0' }}
          />
        </div>
      ),
    },
    money(REVENUE.title, ({ revenue }) => revenue),
    ...extra,
    money('Margin', ({ margin }) => margin),
    counts('Calls', ({ calls }) => calls),
    failed(),
    latency('p95'),
  ];
}

/** A period's figures by endpoint, network or door. */
export function Slices(props: Props) {
  const { title, name, slices } = props;
  return (
    <Table
      title={title}
      name={name}
      columns={columnsOf(props)}
      rows={slices}
      keyOf={(slice) => slice.name}
      sortedBy={REVENUE}
      first={10}
      empty="Nothing was called in this period. Choose a longer one above, or make a first call: npm run pay"
    />
  );
}
