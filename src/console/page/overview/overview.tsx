import type { Overview } from '../../figures.ts';
import { urlOf } from '../api.ts';
import { ExportLinks } from '../parts/export-links.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Notice } from '../parts/notice.tsx';
import { PeriodPicker, periodOf } from '../parts/period.tsx';
import { usePolled } from '../parts/polled.ts';
import { AttentionList } from './attention.tsx';
import { Charts } from './charts.tsx';
import { Figures } from './figures-row.tsx';
import { Slices } from './slices.tsx';

/** How the business goes, at a glance. */
export function OverviewPage({ query }: { query: Readonly<Record<string, string>> }) {
  const period = periodOf(query);
  const polled = usePolled<Overview>(period.key, () => urlOf('overview', period.bounds()));
  return (
    <>
      <header class="page-head">
        <h1>Overview</h1>
        <PeriodPicker page="overview" query={query} />
      </header>
      <Loaded of={polled}>
        {(overview) => (
          <>
            {!overview.isWhole && (
              <Notice tone="warn">
                <p>Payments from before are still being counted: for some minutes the sums lack some of them.</p>
              </Notice>
            )}
            <Figures totals={overview.totals} />
            <AttentionList attention={overview.attention} creditsSold={overview.creditsSold} />
            <Charts overview={overview} words={period.words} />
            <Slices title="Endpoints" name="endpoints" slices={overview.endpoints} linkAs="endpoint" />
            <div class="halves">
              <Slices title="Networks" name="networks" slices={overview.networks} linkAs="network" isShort />
              <Slices title="Doors" name="doors" slices={overview.doors} isShort />
            </div>
            <ExportLinks bounds={period.bounds()} words={period.words} />
          </>
        )}
      </Loaded>
    </>
  );
}
