import type { ComponentChildren } from 'preact';
import type { Totals } from '../../figures.ts';
import { count, duration, roughly, share } from '../parts/format.ts';

function Figure({ name, value, children }: { name: string; value: string; children?: ComponentChildren }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        <b>{value}</b>
        <span class="quiet">{children}</span>
      </dd>
    </div>
  );
}

/** A period's figures, large. */
export function Figures({ totals }: { totals: Totals }) {
  const { calls, failures, challenges, revenue, cost, margin, refunds, p50, p95 } = totals;
  const kept = share(Number(margin), Number(revenue));
  const failed = share(failures, calls);
  return (
    <dl class="figures">
      <Figure name="Revenue" value={roughly(revenue)}>
        {Number(refunds) > 0 ? `${roughly(refunds)} given back` : 'nothing given back'}
      </Figure>
      <Figure name="Cost" value={roughly(cost)}>
        as far as upstreams tell it
      </Figure>
      <Figure name="Margin" value={roughly(margin)}>
        {kept && `${kept} of revenue`}
      </Figure>
      <Figure name="Calls" value={count(calls)}>
        {count(challenges)} {challenges === 1 ? 'price' : 'prices'} told
      </Figure>
      <Figure name="Failures" value={count(failures)}>
        {failed && `${failed} of calls`}
      </Figure>
      <Figure name="Latency, p95" value={duration(p95)}>
        {p50 !== undefined && `half within ${duration(p50)}`}
      </Figure>
    </dl>
  );
}
