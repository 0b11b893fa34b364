import { useMemo } from 'preact/hooks';
import type { Overview, Step } from '../../figures.ts';
import { counts, failed, latency, money } from '../parts/columns.ts';
import { count, dayOf, duration, hourOf, isoOf, roughly, shortCount, shortDollars } from '../parts/format.ts';
import { type Column, Table } from '../parts/table.tsx';
import { Chart, type Line } from './chart.tsx';

const DAY_MS = 86_400_000;

function linesOf(series: readonly Step[]): Record<'money' | 'calls' | 'latency', readonly Line[]> {
  const of = (pick: (step: Step) => number | undefined): (number | undefined)[] => series.map(pick);
  return {
    money: [
      { label: 'Revenue', look: 'area', tone: 'accent', values: of(({ revenue }) => Number(revenue)) },
      { label: 'Cost', look: 'dashed', tone: 'quiet', values: of(({ cost }) => Number(cost)) },
      { label: 'Margin', look: 'line', tone: 'ink', values: of(({ margin }) => Number(margin)) },
    ],
    calls: [
      { label: 'Calls', look: 'bars', tone: 'accent', values: of(({ calls }) => calls) },
      { label: 'Failures', look: 'bars', tone: 'bad', values: of(({ failures }) => failures) },
    ],
    latency: [
      { label: 'p95', look: 'dashed', tone: 'quiet', values: of(({ p95 }) => p95) },
      { label: 'p50', look: 'line', tone: 'accent', values: of(({ p50 }) => p50) },
    ],
  };
}

const columnsOf = (stepMs: number): Column<Step>[] => [
  {
    title: 'Time (UTC)',
    text: ({ at }) => isoOf(at),
    cell: ({ at }) => (stepMs >= DAY_MS ? dayOf(at) : `${dayOf(at)}, ${hourOf(at)}`),
    order: ({ at }) => at,
  },
  money('Revenue', ({ revenue }) => revenue),
  money('Cost', ({ cost }) => cost, { isWide: true }),
  money('Margin', ({ margin }) => margin),
  counts('Calls', ({ calls }) => calls),
  failed(),
  latency('p50'),
  latency('p95'),
];

/** The period's steps, drawn, and as a table for who wants the figures or cannot see the drawing. */
export function Charts({ overview: { series, stepMs, totals }, words }: { overview: Overview; words: string }) {
  const times = useMemo(() => series.map(({ at }) => at), [series]);
  const lines = useMemo(() => linesOf(series), [series]);
  const common = { times, stepMs };
  const { revenue, cost, margin, calls, failures, p50, p95 } = totals;
  return (
    <>
      <section class="panel" aria-labelledby="chart-money">
        <h2 id="chart-money">Revenue, cost and margin</h2>
        <Chart
          {...common}
          lines={lines.money}
          shown={shortDollars}
          told={(value) => roughly(String(value))}
          summary={`Over time, ${words}: revenue ${roughly(revenue)}, cost ${roughly(cost)}, margin ${roughly(margin)}`}
        />
      </section>
      <div class="halves">
        <section class="panel" aria-labelledby="chart-calls">
          <h2 id="chart-calls">Calls and failures</h2>
          <Chart
            {...common}
            lines={lines.calls}
            isWhole
            shown={shortCount}
            told={count}
            summary={`Over time, ${words}: ${count(calls)} calls, ${count(failures)} of them failed`}
          />
        </section>
        <section class="panel" aria-labelledby="chart-latency">
          <h2 id="chart-latency">Latency</h2>
          <Chart
            {...common}
            lines={lines.latency}
            shown={duration}
            told={duration}
            summary={`Over time, ${words}: half of all calls within ${duration(p50)}, 95 of 100 within ${duration(p95)}`}
          />
        </section>
      </div>
      <details class="figures-table">
        <summary>These charts as a table</summary>
        <Table
          title="Over time"
          name="over-time"
          columns={columnsOf(stepMs)}
          rows={series}
          keyOf={({ at }) => String(at)}
          empty=""
        />
      </details>
    </>
  );
}
