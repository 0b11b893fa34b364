/** `GET payments`, `GET payments/<id>` and `POST payments/<id>/refund`. */
import { toAtomic, toDecimal } from '../money.ts';
import { refusalInWords } from '../payment/refunds/words.ts';
import type { PaidVisit } from '../store/figures/figures-store.ts';
import { paymentStates } from '../store/payments/states.ts';
import type { Refund } from '../store/refunds/refund-store.ts';
import type { Payment, PaymentFilter } from '../store/store.ts';
import type { Moment, PaymentDetail, PaymentPage, PaymentRow, RefundOrderForm, RefundRow } from './figures.ts';
import { dollars, form, oneOf, type Query, reference, requiredText, text } from './input.ts';
import { type Names, namesIn } from './names.ts';
import type { ConsoleParts } from './parts.ts';
import { ConsoleProblem, wrongField } from './problem.ts';

const PAGE = 50;

type Place = Pick<Payment, 'createdAt' | 'id'>;

const placeOf = ({ createdAt, id }: Place): string => Buffer.from(`${createdAt} ${id}`).toString('base64url');

function readPlace(query: Query): Place | undefined {
  const after = text(query, 'after', 2_000);
  if (after === undefined) return undefined;
  const [, createdAt, id] = /^(\d{1,15}) ([\x20-\x7e]+)$/.exec(Buffer.from(after, 'base64url').toString()) ?? [];
  if (createdAt === undefined || id === undefined)
    throw wrongField('after', 'takes what the page before gave as after');
  return { createdAt: Number(createdAt), id };
}

function readTransaction(query: Query): string | undefined {
  const transaction = text(query, 'transaction');
  if (transaction === undefined || /^[A-Za-z0-9]{1,128}$/.test(transaction)) return transaction;
  throw wrongField('transaction', 'takes letters and digits');
}

/** One for each route of an endpoint and each name of a network: what they find in order is brought together. */
function filtersOf(query: Query, names: Names): Omit<PaymentFilter, 'limit'>[] {
  const state = oneOf(query, 'state', paymentStates);
  const [payer, transaction, before] = [text(query, 'payer'), readTransaction(query), readPlace(query)];
  const [endpoint, network] = [text(query, 'endpoint'), text(query, 'network')];
  const shared = {
    withoutAnswers: true,
    ...(state !== undefined && { states: [state] }),
    ...(payer !== undefined && { payer: payer.trim() }),
    ...(transaction !== undefined && { transaction }),
    ...(before !== undefined && { before }),
  };
  const routes = endpoint === undefined ? [{}] : names.routesOf(endpoint).map((route) => ({ route }));
  const networks = network === undefined ? [{}] : names.namesOf(network).map((name) => ({ network: name }));
  return routes.flatMap((route) => networks.map((each) => ({ ...shared, ...route, ...each })));
}

const isNewer = (one: Place, other: Place): number =>
  other.createdAt - one.createdAt || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);

export async function payments(
  parts: Pick<ConsoleParts, 'store' | 'catalogue' | 'mode'>,
  query: Query,
): Promise<PaymentPage> {
  const names = namesIn(parts.catalogue(), parts.mode);
  const found = await Promise.all(
    filtersOf(query, names).map((filter) => parts.store.list({ ...filter, limit: PAGE + 1 })),
  );
  const all = found.flat().sort(isNewer);
  const page = all.slice(0, PAGE);
  const last = page.at(-1);
  return {
    payments: page.map((payment) => rowOf(payment, names)),
    ...(last && all.length > PAGE && { after: placeOf(last) }),
  };
}

function rowOf(payment: Payment, names: Names): PaymentRow {
  const { id, createdAt, state, route, rail, network, payer, amount, asset, cost, receipt, reason, lostAt } = payment;
  return {
    id,
    createdAt,
    state,
    endpoint: names.endpointOf(route),
    rail,
    network: names.networkOf(network),
    payer,
    amount: toDecimal(names.worth({ amount: receipt?.amount ?? amount, asset })),
    asset: names.symbolOf(asset),
    ...(cost !== undefined && { cost }),
    ...(receipt && { transaction: receipt.transaction }),
    ...(reason !== undefined && { reason }),
    ...(lostAt !== undefined && { isLoss: true }),
  };
}

const shownAmount = ({ amount, asset }: { amount: string; asset: string }, names: Names): string =>
  `${toDecimal(names.worth({ amount, asset }))} ${names.symbolOf(asset)}`;

function refundRow(refund: Refund, names: Names): RefundRow {
  const { number, state, reason, createdAt, transaction, fault } = refund;
  return {
    number,
    amount: toDecimal(names.worth(refund)),
    state,
    reason,
    createdAt,
    ...(transaction !== undefined && { transaction }),
    ...(fault !== undefined && { fault }),
  };
}

function ofVisit({ steps, attempt, door }: PaidVisit): Moment[] {
  const claimed = attempt === undefined ? undefined : `attempt ${attempt}, over ${door}`;
  return steps.map((step) => ({ ...step, ...(step.step === 'claimed' && claimed && { detail: claimed }) }));
}

/** What visits told, and what only the payment and its refunds do: the reconciler visits nobody. */
function timelineOf(
  payment: Payment,
  visits: readonly PaidVisit[],
  refunds: readonly Refund[],
  names: Names,
): Moment[] {
  const { state, receipt, reason, createdAt, updatedAt } = payment;
  const moments = visits.flatMap(ofVisit);
  if (!moments.some(({ step }) => step === 'claimed')) moments.push({ at: createdAt, step: 'claimed' });
  const settled = moments.findLastIndex(({ step }) => step === 'settled');
  if (receipt && settled === -1) moments.push({ at: receipt.settledAt, step: 'settled', detail: receipt.transaction });
  else if (receipt) moments.splice(settled, 1, { ...(moments[settled] as Moment), detail: receipt.transaction });
  if (reason !== undefined && state !== 'refunded') moments.push({ at: updatedAt, step: state, detail: reason });
  for (const { state: became, amount, asset, transaction, updatedAt: at } of refunds) {
    if (became !== 'sent') continue;
    moments.push({ at, step: 'refunded', detail: `${shownAmount({ amount, asset }, names)}: ${transaction}` });
  }
  return moments.sort((one, other) => one.at - other.at);
}

export async function payment(parts: ConsoleParts, id: string): Promise<PaymentDetail> {
  const { store } = parts;
  await parts.flush();
  const [found, refunds, visits] = await Promise.all([
    store.find(id),
    store.refunds.of(id),
    store.figures.visitsOf(id),
  ]);
  if (!found) throw new ConsoleProblem(404, 'there is no such payment');
  const names = namesIn(parts.catalogue(), parts.mode);
  const left = refunds.reduce((rest, { amount }) => rest - BigInt(amount), BigInt(found.receipt?.amount ?? 0));
  return {
    ...rowOf(found, names),
    timeline: timelineOf(found, visits, refunds, names),
    refunds: refunds.map((refund) => refundRow(refund, names)),
    left: toDecimal(names.worth({ amount: left, asset: found.asset })),
  };
}

/** Written down here, and sent by the gateway. */
export async function refund(parts: ConsoleParts, id: string, body: unknown): Promise<PaymentDetail> {
  const given = form<RefundOrderForm>(body, ['amount', 'reason', 'reference', 'state']);
  const reason = requiredText(given, 'reason', 'why, for your books');
  const seen = oneOf(given, 'state', paymentStates);
  const found = await parts.store.find(id);
  if (!found) throw new ConsoleProblem(404, 'there is no such payment');
  const names = namesIn(parts.catalogue(), parts.mode);
  const { asset } = found;
  const decimals = names.decimalsOf(asset);
  const amount = dollars(given, 'amount', { decimals });
  const outcome = await parts.store.refunds.want({
    paymentId: id,
    ...(amount !== undefined && { amount: toAtomic(amount, decimals) }),
    reason,
    isAutomatic: false,
    reference: reference(given),
    ...(seen !== undefined && { seen }),
    now: parts.store.now(),
  });
  if ('refused' in outcome) {
    throw new ConsoleProblem(
      409,
      refusalInWords(outcome, (left) => shownAmount({ amount: left, asset }, names)),
    );
  }
  return payment(parts, id);
}
