import { useState } from 'preact/hooks';
import type { PaymentPage, PaymentRow } from '../../figures.ts';
import { urlOf } from '../api.ts';
import { ExportLinks } from '../parts/export-links.tsx';
import { Field } from '../parts/field.tsx';
import { abridged, dollars, isoOf, momentOf } from '../parts/format.ts';
import { Loaded } from '../parts/loaded.tsx';
import { usePolled } from '../parts/polled.ts';
import { PaymentState, STATES, wordOf } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { goTo, linkTo } from '../route.ts';
import type { Shop } from '../shop.ts';

const FILTERS = ['state', 'endpoint', 'network', 'payer', 'transaction'] as const;
const MONTH_MS = 30 * 86_400_000;

type Filter = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;
type Query = Readonly<Record<string, string>>;

const filterOf = (query: Query): Filter => Object.fromEntries(FILTERS.map((name) => [name, query[name] ?? '']));

const columns: Column<PaymentRow>[] = [
  {
    title: 'Time (UTC)',
    text: ({ createdAt }) => isoOf(createdAt),
    cell: ({ id, createdAt, endpoint }) => (
      <>
        <a href={linkTo('payments', { id })}>{momentOf(createdAt)}</a>
        <p class="hint narrow">{endpoint}</p>
      </>
    ),
  },
  { title: 'State', text: ({ state }) => wordOf(state), cell: (payment) => <PaymentState of={payment} /> },
  { title: 'Endpoint', text: ({ endpoint }) => endpoint, isWide: true },
  {
    title: 'Amount',
    text: ({ amount }) => amount,
    cell: ({ amount, asset }) => <Amount amount={amount} asset={asset} />,
    isNumber: true,
  },
  {
    title: 'Cost',
    text: ({ cost }) => cost ?? '',
    cell: ({ cost }) => (cost === undefined ? '–' : dollars(cost)),
    isNumber: true,
    isWide: true,
  },
  { title: 'Asset', text: ({ asset }) => asset, isUnseen: true },
  { title: 'Network', text: ({ network }) => network, isWide: true },
  { title: 'Rail', text: ({ rail }) => rail, isWide: true },
  {
    title: 'Payer',
    text: ({ payer }) => payer,
    cell: ({ payer }) => <code title={payer}>{abridged(payer)}</code>,
    isWide: true,
  },
  { title: 'Transaction', text: ({ transaction }) => transaction ?? '', isUnseen: true },
  { title: 'Reason', text: ({ reason }) => reason ?? '', isUnseen: true },
  { title: 'Payment', text: ({ id }) => id, isUnseen: true },
];

function Amount({ amount, asset }: Pick<PaymentRow, 'amount' | 'asset'>) {
  return (
    <>
      {dollars(amount)} <span class="quiet wide">{asset}</span>
    </>
  );
}

/** What is looked for, in the address; typed text counts when the form is sent, a choice at once. */
function Filters({ filter, shop }: { filter: Filter; shop: Shop }) {
  const [given, setGiven] = useState(filter);
  const show = (next: Filter): void => goTo('payments', next);
  const choose = (more: Filter): void => {
    const next = { ...given, ...more };
    setGiven(next);
    show(next);
  };
  const isFiltered = FILTERS.some((name) => filter[name]);
  return (
    <form
      class="filters"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        show(given);
      }}
    >
      <div class="field">
        <label for="state">State</label>
        <select id="state" value={given.state ?? ''} onChange={(event) => choose({ state: event.currentTarget.value })}>
          <option value="">Any</option>
          {Object.entries(STATES).map(([state, { word }]) => (
            <option key={state} value={state}>
              {word}
            </option>
          ))}
        </select>
      </div>
      <Field
        label="Endpoint"
        list="endpoints"
        value={given.endpoint}
        onText={(endpoint) => setGiven({ ...given, endpoint })}
      />
      <Field
        label="Network"
        list="networks"
        value={given.network}
        onText={(network) => setGiven({ ...given, network })}
      />
      <Field label="Payer" value={given.payer} onText={(payer) => setGiven({ ...given, payer: payer.trim() })} />
      <Field
        label="Transaction"
        value={given.transaction}
        onText={(transaction) => setGiven({ ...given, transaction: transaction.trim() })}
      />
      <datalist id="endpoints">
        {shop.endpoints.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <datalist id="networks">
        {shop.networks.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div class="actions">
        <button type="submit">Filter</button>
        {isFiltered && <a href={linkTo('payments')}>Clear</a>}
      </div>
    </form>
  );
}

/** Every payment, newest first, fifty at a time. */
export function Payments({ query, shop }: { query: Query; shop: Shop }) {
  const filter = filterOf(query);
  const { after } = query;
  const key = JSON.stringify({ ...filter, after });
  const polled = usePolled<PaymentPage>(key, () => urlOf('payments', { ...filter, after }));
  const isFiltered = FILTERS.some((name) => filter[name]);
  const now = Date.now();
  return (
    <>
      <header class="page-head">
        <h1>Payments</h1>
      </header>
      <Filters key={JSON.stringify(filter)} filter={filter} shop={shop} />
      <Loaded of={polled}>
        {({ payments, after: next }) => (
          <>
            <Table
              title={isFiltered ? 'Payments that match' : after ? 'Older payments' : 'Newest payments'}
              name="payments"
              columns={columns}
              rows={payments}
              keyOf={({ id }) => id}
              empty={
                isFiltered ? (
                  <>
                    No payment matches. Loosen the filters, or <a href={linkTo('payments')}>show all payments</a>.
                  </>
                ) : (
                  <>
                    Nobody has paid yet. Make a first payment in a terminal: <code>npm run pay</code>
                  </>
                )
              }
            />
            <nav class="pages" aria-label="Pages of payments">
              {after && <a href={linkTo('payments', filter)}>Newest</a>}
              {next && <a href={linkTo('payments', { ...filter, after: next })}>Older</a>}
            </nav>
          </>
        )}
      </Loaded>
      <ExportLinks bounds={{ from: now - MONTH_MS, to: now }} words="last 30 days" />
    </>
  );
}
