import { useState } from 'preact/hooks';
import type { PaymentDetail, RefundOrderForm } from '../../figures.ts';
import { write } from '../api.ts';
import { useAction } from '../parts/action.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { dollars } from '../parts/format.ts';
import { Notice } from '../parts/notice.tsx';
import { newReference } from '../parts/reference.ts';

const AMOUNT = /^\d+(\.\d{1,6})?$/;

interface Props {
  readonly payment: PaymentDetail;
  onDone(payment: PaymentDetail, amount: string): void;
  /** The answer was lost: what is known has to be read again. */
  onLost(): void;
}

const problemOf = (amount: string, left: string): string | undefined => {
  if (!AMOUNT.test(amount) || Number(amount) === 0) return 'Give dollars, as in 0.05';
  return Number(amount) > Number(left) ? `No more than ${dollars(left)} is left` : undefined;
};

/** Gives a payment back: nothing is sent without a reason and a second look at the amount and who gets it. */
export function RefundForm({ payment, onDone, onLost }: Props) {
  const { id, state, left, payer, network, asset } = payment;
  // Until somebody changes it, it follows what is left.
  const [given, setGiven] = useState<string>();
  const [reason, setReason] = useState('');
  const [reference, setReference] = useState(newReference);
  const [isAsking, setAsking] = useState(false);
  const [seen, setSeen] = useState(state);
  const { run, isUnderWay, fault, clear } = useAction();
  if (Number(left) === 0) return null;

  const amount = given ?? left;
  const problem = problemOf(amount, left);
  const send = () =>
    run(async () => {
      const order: RefundOrderForm = { amount, reason: reason.trim(), reference, state: seen };
      const next = await write<PaymentDetail>(`payments/${encodeURIComponent(id)}/refund`, order);
      setReason('');
      setGiven(undefined);
      setReference(newReference());
      onDone(next, amount);
    }).then((isDone) => {
      setAsking(false);
      if (!isDone) onLost();
    });

  return (
    <section class="panel" aria-labelledby="refund">
      <h2 id="refund">Give it back</h2>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (problem !== undefined || reason.trim() === '') return;
          clear();
          // What is confirmed is what was looked at, whatever is read meanwhile.
          setGiven(amount);
          setSeen(state);
          setAsking(true);
        }}
      >
        {fault && fault.field === undefined && (
          <Notice tone="bad">
            <p>{fault.message}</p>
          </Notice>
        )}
        <Field
          label={`Amount (${asset}, in dollars)`}
          inputMode="decimal"
          required
          value={amount}
          onText={(text) => setGiven(text.trim())}
          hint={`${dollars(left)} is left`}
          problem={fault?.field === 'amount' ? fault.message : problem}
        />
        <Field
          label="Reason"
          required
          maxLength={200}
          value={reason}
          onText={setReason}
          hint="For your books."
          problem={fault?.field === 'reason' ? fault.message : undefined}
        />
        <button type="submit" disabled={isUnderWay}>
          Give back…
        </button>
      </form>
      {isAsking && (
        <Dialog title={`Give back ${dollars(amount)}?`} onClose={() => setAsking(false)} isKept={isUnderWay}>
          <dl class="facts">
            <div>
              <dt>Amount</dt>
              <dd>
                {dollars(amount)} {asset} on {network}
              </dd>
            </div>
            <div>
              <dt>To</dt>
              <dd>
                <code class="whole">{payer}</code>
              </dd>
            </div>
            <div>
              <dt>Reason</dt>
              <dd>{reason}</dd>
            </div>
          </dl>
          <p class="quiet">What was sent cannot be taken back.</p>
          <div class="actions">
            <button type="button" disabled={isUnderWay} onClick={() => setAsking(false)}>
              Cancel
            </button>
            <button type="button" class="primary" disabled={isUnderWay} onClick={send}>
              {isUnderWay ? 'Giving back…' : `Give back ${dollars(amount)}`}
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}
