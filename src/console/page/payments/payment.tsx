import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { PaymentDetail, RefundRow } from '../../figures.ts';
import { urlOf } from '../api.ts';
import { Copyable } from '../parts/copyable.tsx';
import { dollars, isoOf, momentOf } from '../parts/format.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Notice } from '../parts/notice.tsx';
import { usePolled } from '../parts/polled.ts';
import { Badge, meaningOf, PaymentState } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { linkTo } from '../route.ts';
import { RefundForm } from './refund-form.tsx';
import { Timeline } from './timeline.tsx';

const refundStates = {
  wanted: ['Waiting', 'half'],
  sending: ['On its way', 'half'],
  sent: ['Given back', 'check'],
} as const;

const refundColumns: Column<RefundRow>[] = [
  { title: 'Time (UTC)', text: ({ createdAt }) => isoOf(createdAt), cell: ({ createdAt }) => momentOf(createdAt) },
  {
    title: 'State',
    text: ({ state }) => refundStates[state][0],
    cell: ({ state, fault }) => (
      <>
        <Badge tone={state === 'sent' ? 'good' : fault ? 'warn' : 'plain'} shape={refundStates[state][1]}>
          {refundStates[state][0]}
        </Badge>
        {fault && <p class="hint">{fault}</p>}
      </>
    ),
  },
  { title: 'Amount', text: ({ amount }) => amount, cell: ({ amount }) => dollars(amount), isNumber: true },
  { title: 'Reason', text: ({ reason }) => reason },
  {
    title: 'Transaction',
    text: ({ transaction }) => transaction ?? '',
    cell: ({ transaction, number }) =>
      transaction === undefined ? '–' : <Copyable text={transaction} what={`transaction of refund ${number}`} />,
    isWide: true,
  },
];

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Facts({ payment }: { payment: PaymentDetail }) {
  const { id, createdAt, state, endpoint, rail, network, payer, amount, asset, cost, transaction, reason } = payment;
  const isGivenBack = payment.refunds.length > 0 && state !== 'refunded';
  return (
    <section class="panel" aria-labelledby="facts">
      <h2 id="facts">
        {dollars(amount)} {asset} <PaymentState of={payment} />
        {isGivenBack && (
          <Badge tone="plain" shape="back">
            {Number(payment.left) === 0 ? 'given back since' : 'given back in part'}
          </Badge>
        )}
      </h2>
      <p class="quiet">{meaningOf(payment)}</p>
      <dl class="facts">
        <Fact name="Time (UTC)">{momentOf(createdAt)}</Fact>
        <Fact name="Endpoint">
          <a href={linkTo('payments', { endpoint })}>{endpoint}</a>
        </Fact>
        <Fact name="Network">
          {network}, over {rail}
        </Fact>
        <Fact name="Cost">{cost === undefined ? 'not told by the upstream' : dollars(cost)}</Fact>
        <Fact name="Payer">
          <Copyable text={payer} what="payer" />
          <p>
            <a href={linkTo('payments', { payer })}>Their payments</a>
          </p>
        </Fact>
        <Fact name="Transaction">
          {transaction === undefined ? 'none' : <Copyable text={transaction} what="transaction" />}
        </Fact>
        {reason !== undefined && (
          <Fact name="Reason">
            <code>{reason}</code>
          </Fact>
        )}
        <Fact name="Payment">
          <Copyable text={id} what="payment" />
        </Fact>
      </dl>
    </section>
  );
}

/** All that is known of one payment, and how to give it back. */
export function PaymentPage({ id }: { id: string }) {
  const polled = usePolled<PaymentDetail>(id, () => urlOf(`payments/${encodeURIComponent(id)}`));
  const [done, setDone] = useState<string>();
  return (
    <>
      <p class="crumb">
        <a href={linkTo('payments')}>Payments</a>
      </p>
      <header class="page-head">
        <h1>Payment</h1>
      </header>
      {polled.fault?.status === 404 && polled.data === undefined ? (
        <Notice tone="bad">
          <p>
            There is no payment {id}. It may have been pruned with what is old.{' '}
            <a href={linkTo('payments')}>Look among all payments</a>
          </p>
        </Notice>
      ) : (
        <Loaded of={polled}>
          {(payment) => (
            <>
              <Facts payment={payment} />
              <Timeline moments={payment.timeline} />
              {done !== undefined && (
                <Notice tone="good">
                  <p>{done}</p>
                </Notice>
              )}
              <Table
                title="Refunds"
                name={`refunds-${id}`}
                columns={refundColumns}
                rows={payment.refunds}
                keyOf={({ number }) => String(number)}
                empty="Nothing was given back of this payment."
              />
              <RefundForm
                payment={payment}
                onDone={(next, amount) => {
                  setDone(`${dollars(amount)} will be sent to the payer. It stands among the refunds until it is.`);
                  polled.replace(next);
                }}
                onLost={polled.reload}
              />
            </>
          )}
        </Loaded>
      )}
    </>
  );
}
