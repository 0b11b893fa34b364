/** What must be true of a payment at every moment, and of every answer. Each function tells what is wrong, if anything. */
import type { Problem } from '../../src/errors.ts';
import type { Outcome as Ending } from '../../src/lifecycle/outcome.ts';
import type { Payment } from '../../src/store/store.ts';
import type { Money } from './money.ts';
import type { Upstream } from './upstream.ts';

/** Upstream calls in all for a payment that somebody has paid. */
const MOST_PAID_CALLS = 20;

type Charges = Pick<Money, 'isCharged'>;

export function faultOfPayment({ id, state, receipt }: Payment, money: Charges): string | undefined {
  const isCharged = money.isCharged(id);
  if ((state === 'released' || state === 'unsettled') && isCharged) return `is ${state}, and was charged`;
  if ((state === 'settled' || state === 'owed' || receipt) && !isCharged) return `is ${state}, and nobody paid`;
  return undefined;
}

/** Looks up whose claim a new call belongs to; a call may only begin while its claim holds. */
export function faultOfCalls(
  payment: Payment,
  { calls }: Upstream,
  mostUnpaidCalls: number,
  now: number,
): string | undefined {
  const own = calls.filter((call) => call.payment === payment.id);
  const holds = (instance: string) => payment.owner === instance && payment.leaseUntil > now;
  for (const call of own) {
    if (call.attempt !== undefined) continue;
    call.attempt = payment.attempt;
    if (!holds(call.instance)) return 'the upstream is called by an instance that has lost the payment';
  }
  const live = own.filter((call) => call.isUnderWay && call.attempt === payment.attempt && holds(call.instance));
  if (live.length > 1) return 'two upstream calls are under way at a time';
  const most = (payment.receipt ?? payment.settleUpfront) ? MOST_PAID_CALLS : mostUnpaidCalls;
  return own.length > most ? `the upstream was called ${own.length} times` : undefined;
}

export interface Asked {
  /** The payment that came along. */
  readonly id: string;
  readonly prompt: string;
  /** Of the request. */
  readonly digest: string;
  /** False where somebody else shows the proof. */
  readonly isOwn: boolean;
  /** Payments that were charged, or may be, when whoever answered last learnt anything. */
  readonly charged: ReadonlySet<string>;
}

export function faultOfEnding(
  { id, prompt, digest, isOwn, charged }: Asked,
  ending: Ending,
  payments: readonly Payment[],
  money: Charges,
): string | undefined {
  const own = payments.find((payment) => payment.id === id);
  const mayBeCharged = isOwn && own?.requestDigest === digest && charged.has(id);
  switch (ending.kind) {
    case 'result': {
      const paidBy = ending.receipt?.details.payment ?? id;
      const paid = payments.find((payment) => payment.id === paidBy);
      if (!paid || !money.isCharged(paid.id)) return 'gets a result that nobody paid for';
      if (paid.answer?.body !== ending.answer.body) return `gets a result that is not kept: it is ${paid.state}`;
      const { text }: { text: string } = JSON.parse(ending.answer.body);
      return text.endsWith(` for ${prompt}`) ? undefined : 'gets the result of another request';
    }
    case 'challenge':
      return mayBeCharged ? 'is asked to pay again for what is paid' : undefined;
    case 'problem':
      return faultOfProblem(ending.problem, mayBeCharged);
  }
}

function faultOfProblem({ code }: Problem, mayBeCharged: boolean): string | undefined {
  if (code === 'internal_error') return 'gets an internal error';
  if (mayBeCharged && /^upstream_/.test(code)) return `is told that nothing was charged (${code})`;
  return undefined;
}

/** Of payments that are to buy one thing, by one key or name, one is charged. */
export const faultOfKey = (ids: readonly string[], money: Charges): string | undefined =>
  ids.filter((id) => money.isCharged(id)).length > 1 ? 'two payments are charged for one purchase' : undefined;

/** What is left once leases are over and the reconciler has run, and the payer has come back. */
export function faultAtTheEnd(payment: Payment, money: Charges): string | undefined {
  const { state, owner, attempt, answer } = payment;
  if (owner !== '') return `is ${state}, and ${owner} still has it`;
  if (!money.isCharged(payment.id)) {
    return state === 'released' || state === 'unsettled' ? undefined : `stays ${state}`;
  }
  if (state === 'settled' && answer) return undefined;
  return state === 'owed' && attempt >= MOST_PAID_CALLS ? undefined : `is paid, and its answer cannot be had: ${state}`;
}
