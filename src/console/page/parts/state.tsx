import type { PaymentRow } from '../../figures.ts';
import { Shape, type ShapeName } from './shape.tsx';

type Tone = 'good' | 'plain' | 'warn' | 'bad';

interface Look {
  readonly word: string;
  /** What it means, and what happens next. */
  readonly meaning: string;
  readonly tone: Tone;
  readonly shape: ShapeName;
}

const look = (word: string, tone: Tone, shape: ShapeName, meaning: string): Look => ({ word, tone, shape, meaning });

/** What the store calls a payment's state, in words for people. */
export const STATES: Readonly<Record<string, Look>> = {
  settled: look('Paid', 'good', 'check', 'The money moved and the result was delivered.'),
  claimed: look('In progress', 'plain', 'half', 'The request is being worked on.'),
  fulfilled: look('Settling', 'plain', 'half', 'The result is there; the payment is being settled.'),
  released: look(
    'Not charged',
    'plain',
    'ring',
    'The call failed, so nothing was taken. The payer can use the payment again.',
  ),
  owed: look(
    'Result owed',
    'warn',
    'warning',
    'The money moved without a result. The payer can still get it by asking again, or is given the money back.',
  ),
  unknown: look(
    'Unclear',
    'warn',
    'question',
    'Nobody knows yet whether the money moved. The gateway keeps asking the chain until its authorization has run out.',
  ),
  unsettled: look(
    'Not paid',
    'plain',
    'ring',
    'The money could not be taken before there was a result, or was locked and is given back. The payer has to sign another payment.',
  ),
  refunded: look('Given back', 'plain', 'back', 'The money was given back to the payer.'),
};

const loss = look(
  'Not paid',
  'bad',
  'cross',
  'The result was made, but the money could not be taken: this call is a loss.',
);

type Standing = Pick<PaymentRow, 'state' | 'isLoss'>;

const lookOf = ({ state, isLoss }: Standing): Look | undefined => (isLoss ? loss : STATES[state]);

export const meaningOf = (payment: Standing): string | undefined => lookOf(payment)?.meaning;

export const wordOf = (state: string): string => STATES[state]?.word ?? state;

interface Props {
  readonly tone: Tone;
  readonly shape: ShapeName;
  readonly children: string;
}

export function Badge({ tone, shape, children }: Props) {
  return (
    <span class={`badge ${tone}`}>
      <Shape name={shape} />
      {children}
    </span>
  );
}

export function PaymentState({ of }: { of: Standing }) {
  const { tone, shape } = lookOf(of) ?? { tone: 'plain', shape: 'ring' };
  return (
    <Badge tone={tone} shape={shape}>
      {wordOf(of.state)}
    </Badge>
  );
}
