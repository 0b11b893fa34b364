import type { ComponentChildren } from 'preact';
import type { Attention, Sum } from '../../figures.ts';
import { count, dollars } from '../parts/format.ts';
import { Shape, type ShapeName } from '../parts/shape.tsx';
import { linkTo } from '../route.ts';

interface Matter {
  readonly sum: Sum;
  readonly title: string;
  readonly shape: ShapeName;
  readonly what: ComponentChildren;
}

const toPayments = (state: string, words: string) => <a href={linkTo('payments', { state })}>{words}</a>;

const mattersOf = ({ owed, unknown, stuck, refundsWaiting }: Attention): Matter[] => [
  {
    sum: owed,
    title: 'Results owed',
    shape: 'warning',
    what: <>Paid, and not delivered. {toPayments('owed', 'See who is owed')}</>,
  },
  {
    sum: unknown,
    title: 'Unclear',
    shape: 'question',
    what: <>Nobody knows yet whether money moved. {toPayments('unknown', 'See which')}</>,
  },
  {
    sum: stuck,
    title: 'Stuck',
    shape: 'half',
    what: (
      <>
        Worked on for too long: {toPayments('claimed', 'in progress')} or {toPayments('fulfilled', 'settling')}
      </>
    ),
  },
  {
    sum: refundsWaiting,
    title: 'Refunds waiting',
    shape: 'back',
    what: (
      <>
        Not sent yet. <code>npm run refund -- --list</code> says which and why; it may be{' '}
        <a href={linkTo('networks')}>a signer's gas</a>
      </>
    ),
  },
];

/** What somebody has to look at, now. */
export function AttentionList({ attention, creditsSold }: { attention: Attention; creditsSold: string }) {
  const matters = mattersOf(attention).filter(({ sum }) => sum.count > 0);
  return (
    <section class="panel" aria-labelledby="attention">
      <header class="panel-head">
        <h2 id="attention">Needs attention</h2>
        <p class="quiet">
          {Number(creditsSold) > 0 && `${dollars(creditsSold)} of credits sold in this period. `}Credits not spent yet:{' '}
          <a href={linkTo('keys')}>{dollars(attention.creditLiability)}</a>
        </p>
      </header>
      {matters.length === 0 ? (
        <p class="calm good">
          <Shape name="check" /> Nothing: all that was paid for was delivered.
        </p>
      ) : (
        <ul class="matters">
          {matters.map(({ title, sum, shape, what }) => (
            <li key={title}>
              <Shape name={shape} />
              <p>
                <b>
                  {title}: {count(sum.count)}
                </b>{' '}
                worth {dollars(sum.worth)}
              </p>
              <p class="quiet">{what}</p>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
