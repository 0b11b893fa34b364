import type { UpstreamRow } from '../figures.ts';
import { urlOf } from './api.ts';
import { counts, failed, latency, money } from './parts/columns.ts';
import { Loaded } from './parts/loaded.tsx';
import { PeriodPicker, periodOf } from './parts/period.tsx';
import { usePolled } from './parts/polled.ts';
import { Badge } from './parts/state.tsx';
import { type Column, Table } from './parts/table.tsx';

const stateOf = ({ isOpen, missing }: UpstreamRow): string => {
  if (isOpen) return 'Failing, not asked';
  return missing.length > 0 ? 'Keys missing' : 'Ready';
};

function UpstreamState({ upstream }: { upstream: UpstreamRow }) {
  const { isOpen, missing } = upstream;
  return (
    <>
      <Badge
        tone={isOpen ? 'bad' : missing.length > 0 ? 'warn' : 'good'}
        shape={isOpen ? 'cross' : missing.length > 0 ? 'warning' : 'check'}
      >
        {stateOf(upstream)}
      </Badge>
      {isOpen && <p class="hint">It failed too often. It is tried again by itself; look at its status page.</p>}
      {missing.length > 0 && <p class="hint">{missing.join(', ')}</p>}
    </>
  );
}

const columns: Column<UpstreamRow>[] = [
  { title: 'Upstream', text: ({ name }) => name, order: ({ name }) => name },
  {
    title: 'State',
    text: (upstream) => [stateOf(upstream), ...upstream.missing].join('; '),
    cell: (upstream) => <UpstreamState upstream={upstream} />,
    order: ({ isOpen, missing }) => (isOpen ? 2 : missing.length > 0 ? 1 : 0),
  },
  counts('Calls', ({ calls }) => calls),
  failed(),
  money('Spend', ({ spend }) => spend),
  latency('p50'),
  latency('p95'),
];

/** What the gateway buys from, how that goes and what it costs. */
export function Upstreams({ query }: { query: Readonly<Record<string, string>> }) {
  const period = periodOf(query);
  const polled = usePolled<readonly UpstreamRow[]>(period.key, () => urlOf('upstreams', period.bounds()));
  return (
    <>
      <header class="page-head">
        <h1>Upstreams</h1>
        <PeriodPicker page="upstreams" query={query} />
      </header>
      <Loaded of={polled}>
        {(upstreams) => (
          <Table
            title={`Exchanges, ${period.words}`}
            name="upstreams"
            columns={columns}
            rows={upstreams}
            keyOf={({ name }) => name}
            empty={
              <>
                The catalogue names no upstream. Add one to <code>catalogue/upstreams.yaml</code>.
              </>
            }
          />
        )}
      </Loaded>
    </>
  );
}
