import type { Moment } from '../../figures.ts';
import { duration, isoOf, momentOf } from '../parts/format.ts';
import { wordOf } from '../parts/state.tsx';

const WORDS: Readonly<Record<string, string>> = {
  challenge: 'Told the price',
  verified: 'Payment checked',
  claimed: 'Payment claimed',
  upstream: 'Upstream asked',
  settled: 'Payment settled',
  answered: 'Answered',
  refunded: 'Given back',
};

/** What comes so long after is no part of the same drawing to scale. */
const PAUSE_MS = 60_000;

/** An answer is told when it was given, with how long it took in all; everything else when it began. */
const beginOf = ({ at, step, ms = 0 }: Moment): number => (step === 'answered' ? at - ms : at);
const endOf = (moment: Moment): number => beginOf(moment) + (moment.ms ?? 0);

/** The moments of each visit; what comes after an answer, a retry or a refund, is another. */
function visitsOf(moments: readonly Moment[]): Moment[][] {
  const visits: Moment[][] = [];
  for (const moment of moments) {
    const before = visits.at(-1)?.at(-1);
    const isSame = before && before.step !== 'answered' && moment.at - endOf(before) < PAUSE_MS;
    if (isSame) visits.at(-1)?.push(moment);
    else visits.push([moment]);
  }
  return visits;
}

function Visit({ moments }: { moments: readonly Moment[] }) {
  const start = Math.min(...moments.map(beginOf));
  const span = Math.max(1, ...moments.map((moment) => endOf(moment) - start));
  const percent = (ms: number): string => `${(100 * ms) / span}%`;
  return (
    <li>
      <p class="quiet">
        <time dateTime={isoOf(start)}>{momentOf(start)} UTC</time>
      </p>
      <ol class="moments">
        {moments.map((moment) => {
          const { at, step, ms, detail } = moment;
          return (
            <li key={`${at} ${step} ${detail}`}>
              <span class="when">{at <= start ? '0 ms' : `+${duration(at - start)}`}</span>
              <span class="step">
                <b>{WORDS[step] ?? wordOf(step)}</b> {detail && <span class="detail">{detail}</span>}
              </span>
              <span class="took">{ms === undefined ? '' : duration(ms)}</span>
              <span class="track" aria-hidden="true">
                <i style={{ insetInlineStart: percent(beginOf(moment) - start), inlineSize: percent(ms ?? 0) }} />
              </span>
            </li>
          );
        })}
      </ol>
    </li>
  );
}

/** What happened to a payment, in order, each visit drawn to its own scale. */
export function Timeline({ moments }: { moments: readonly Moment[] }) {
  return (
    <section class="panel" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      {moments.length === 0 ? (
        <p class="empty">Nothing is known of its steps: they are kept for a time only.</p>
      ) : (
        <ol class="visits">
          {visitsOf(moments).map((visit) => (
            <Visit key={visit[0]?.at} moments={visit} />
          ))}
        </ol>
      )}
    </section>
  );
}
