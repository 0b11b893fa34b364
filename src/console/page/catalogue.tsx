import { useState } from 'preact/hooks';
import type { CataloguePage, EndpointRow, ReloadForm } from '../figures.ts';
import { urlOf, write } from './api.ts';
import { useAction } from './parts/action.ts';
import { counts, money } from './parts/columns.ts';
import { Dialog } from './parts/dialog.tsx';
import { roughly, share } from './parts/format.ts';
import { Loaded } from './parts/loaded.tsx';
import { Notice } from './parts/notice.tsx';
import { usePolled } from './parts/polled.ts';
import { Badge } from './parts/state.tsx';
import { type Column, Table } from './parts/table.tsx';
import { linkTo } from './route.ts';

const columns: Column<EndpointRow>[] = [
  {
    title: 'Endpoint',
    text: ({ name }) => name,
    order: ({ name }) => name,
    cell: ({ name, title }) => (
      <>
        <a href={linkTo('payments', { endpoint: name })}>{name}</a>
        <p class="hint">{title}</p>
      </>
    ),
  },
  { title: 'Path', text: ({ path }) => path, isUnseen: true },
  { title: 'Price', text: ({ price }) => price },
  {
    title: 'Networks',
    text: ({ networks }) => networks.join(' '),
    cell: ({ networks }) => networks.join(', '),
    isWide: true,
  },
  { title: 'Upstream', text: ({ upstream }) => upstream, order: ({ upstream }) => upstream, isWide: true },
  {
    title: 'Sold',
    text: ({ isSold }) => (isSold ? 'yes' : 'no'),
    order: ({ isSold }) => Number(isSold),
    cell: ({ isSold }) => (
      <Badge tone={isSold ? 'good' : 'warn'} shape={isSold ? 'check' : 'warning'}>
        {isSold ? 'Sold' : 'Not sold'}
      </Badge>
    ),
    isWide: true,
  },
  counts('Calls', ({ calls }) => calls, { isWide: true }),
  money('Revenue', ({ revenue }) => revenue, { isWide: true }),
  money('Cost', ({ cost }) => cost, { isWide: true }),
  money('Margin', ({ margin }) => margin, {
    cell: ({ margin, revenue }) => (
      <>
        {roughly(margin)}
        {Number(revenue) > 0 && <p class="hint">{share(Number(margin), Number(revenue))}</p>}
      </>
    ),
  }),
];

type PendingFiles = NonNullable<CataloguePage['pending']>;

function Pending({ pending, onReload }: { pending: PendingFiles; onReload: () => void }) {
  const { changes, problems } = pending;
  return (
    <section class="panel" aria-labelledby="pending">
      <header class="panel-head">
        <h2 id="pending">{problems.length > 0 ? 'The files have problems' : 'The files say something else'}</h2>
        {problems.length === 0 && (
          <button type="button" class="primary" onClick={onReload}>
            Load the files…
          </button>
        )}
      </header>
      {problems.length > 0 ? (
        <>
          <p class="quiet">What is sold stays as it is until they are mended.</p>
          <ul class="lines bad">
            {problems.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </>
      ) : (
        <Changes lines={changes} />
      )}
    </section>
  );
}

function Changes({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return <p class="quiet">Nothing that buyers see.</p>;
  return (
    <ul class="lines">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

/** What is sold and what it earns, and what its files would change. */
export function Catalogue() {
  const polled = usePolled<CataloguePage>('catalogue', () => urlOf('catalogue'));
  // What is confirmed is what was looked at, whatever is read meanwhile.
  const [asked, setAsked] = useState<PendingFiles>();
  const [isLoaded, setLoaded] = useState(false);
  const { run, isUnderWay, fault } = useAction();
  const load = () =>
    run(async () => {
      const form: ReloadForm = { ...(asked?.version !== undefined && { version: asked.version }) };
      polled.replace(await write<CataloguePage>('catalogue/reload', form));
      setLoaded(true);
    }).then((isDone) => {
      setAsked(undefined);
      if (!isDone) polled.reload();
    });
  return (
    <>
      <header class="page-head">
        <h1>Catalogue</h1>
      </header>
      {fault && (
        <Notice tone="bad">
          <p>{fault.message}</p>
        </Notice>
      )}
      {isLoaded && !fault && (
        <Notice tone="good">
          <p>The files are loaded: what they say is sold now.</p>
        </Notice>
      )}
      <Loaded of={polled}>
        {({ version, endpoints, pending }) => (
          <>
            {pending ? (
              <Pending pending={pending} onReload={() => setAsked(pending)} />
            ) : (
              <p class="quiet">
                Version <code>{version}</code>: what the files say is what is sold.
              </p>
            )}
            <Table
              title="Endpoints, last 30 days"
              name="catalogue"
              columns={columns}
              rows={endpoints}
              keyOf={({ name }) => name}
              empty={
                <>
                  Nothing is sold. Add a file to <code>catalogue/endpoints</code>.
                </>
              }
            />
            {asked && (
              <Dialog title="Load the files?" onClose={() => setAsked(undefined)} isKept={isUnderWay}>
                <p>From the next request on, this is what buyers are told:</p>
                <Changes lines={asked.changes} />
                <div class="actions">
                  <button type="button" disabled={isUnderWay} onClick={() => setAsked(undefined)}>
                    Cancel
                  </button>
                  <button type="button" class="primary" disabled={isUnderWay} onClick={load}>
                    {isUnderWay ? 'Loading…' : 'Load'}
                  </button>
                </div>
              </Dialog>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}
