/**
 * Calls tools and pays for them, within limits. A call is asked for without a payment first, and is paid as its answer asks;
 * what is signed is counted before it is sent, and sent again, the same, until it is answered.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { canonicalJson } from '../../canonical-json.ts';
import type { Deposits, Drawing } from '../../client/deposits.ts';
import type { Offer } from '../../client/offers.ts';
import { LONGEST_CALL_MS, openPatience } from '../../client/patience.ts';
import { openRefused } from '../../client/refused.ts';
import type { Payment, Wallet } from '../../client/wallet.ts';
import { asJsonObject } from '../../json.ts';
import { type Money, toDecimal } from '../../money.ts';
import type { Turn } from '../../turns.ts';
import { reasonOf } from '../reason.ts';
import { inWords, settlementIn, verdictOf, words } from './answers.ts';
import type { Asking, Gateway, Order } from './gateway.ts';
import { gatewayReason } from './gateway-reason.ts';
import { isTooLong, PAYMENT, type PaymentRequired, paysItself, readPaymentRequired } from './payment-required.ts';
import type { Reservation, Spending } from './spending.ts';
import type { Sent, Unanswered } from './unanswered.ts';

export interface BuyerParts {
  readonly gateway: Pick<Gateway, 'call'>;
  readonly wallet: Wallet;
  /** Undefined: nothing is drawn from deposits. */
  readonly deposits: Deposits | undefined;
  readonly spending: Spending;
  readonly unanswered: Unanswered;
  readonly max: Money;
  readonly budget: Money;
  /** One line to whoever runs this. */
  tell(line: string): void;
  /** Aborted once a payment has been sent for too long. Default: after longer than any call takes. */
  untilLate?(): AbortSignal;
}

export interface Buyer {
  /** Throws what the gateway's connection throws, but only where nothing was paid. */
  call(order: Order, asking: Asking): Promise<CallToolResult>;
}

interface Purchase {
  readonly order: Order;
  readonly offer: Offer;
  /** The one that was signed last: what takes its place does so before anybody has it. */
  payment: Payment;
  readonly reservation: Reservation;
  /** How it is drawn from a deposit; undefined where it is not, or another process has signed it. */
  readonly drawing: Drawing | undefined;
  /** It was sent once, so that one answer says all that became of it. */
  isSentOnce: boolean;
  /** It bought nothing, and may not be counted any more: nobody sends it again. */
  isOver: boolean;
}

/** One way to pay a call. */
interface Way extends Pick<Purchase, 'offer' | 'drawing'> {
  /** Dollars that it adds to what is spent. */
  readonly adds: Money;
  sign(): Promise<Payment>;
  /** Pays otherwise where it cannot be signed; undefined: nothing else could. */
  instead?(): Promise<CallToolResult | undefined>;
}

/** Attempts after the first. */
const REPEATS = 3;
const LATE = 'no answer came for longer than any call takes';

/** Purchases without an answer that are kept, for who asks for the same again. */
const MOST_OPEN = 100;

export function createBuyer(parts: BuyerParts): Buyer {
  const { gateway, wallet, deposits, spending, unanswered, max, budget, tell } = parts;
  const { untilLate = () => AbortSignal.timeout(LONGEST_CALL_MS) } = parts;
  const refused = openRefused();
  /** Those that nobody waits for, or that ended without an answer, the oldest first. */
  const open = new Set(unanswered.left.flatMap(leftBefore));

  const left = 'calls of an earlier process have no answer';
  const unsendable = unanswered.left.length - open.size;
  if (open.size > 0) tell(`${open.size} ${left}: who asks for the same has what they paid for`);
  if (unsendable > 0)
    tell(
      `${unsendable} ${left}, and are not sent again: start with the wallet, --network and --deposit that paid for them`,
    );

  /** What another process sent: none where it is paid otherwise by now. */
  function leftBefore({ order, payment, reservation }: Sent): Purchase[] {
    const { accepted, resource, extensions } = payment;
    const required = { accepts: [asJsonObject(accepted)], resource, extensions };
    const [offer] = [...wallet.offers(required), ...(deposits?.offers(required) ?? [])];
    if (!offer) return [];
    return [{ order, offer, payment, reservation, drawing: undefined, isSentOnce: false, isOver: false }];
  }

  const isDrawn = ({ offer }: Purchase): boolean => 'terms' in offer;

  const keyOf = ({ name, arguments: input }: Order): string => canonicalJson([name, input]);

  function keep(purchase: Purchase): void {
    if (purchase.isOver) return;
    const [oldest] = open;
    if (open.size >= MOST_OPEN && oldest && !open.has(purchase)) open.delete(oldest);
    open.add(purchase);
  }

  /** Who asks for the same once this process has died has its answer. */
  function keepSent(purchase: Purchase): void {
    try {
      unanswered.keep(purchase);
    } catch (error) {
      tell(
        `${purchase.order.name}: where this process dies before its answer it is paid once more (${reasonOf(error)})`,
      );
    }
  }

  /** Its caller has left, and the answer crossed the news of that. */
  function keepAnswered(purchase: Purchase): void {
    keep(purchase);
    keepSent(purchase);
  }

  /** Nobody sends it again. */
  function forget(purchase: Purchase): void {
    open.delete(purchase);
    try {
      unanswered.forget(purchase);
    } catch (error) {
      tell(`what was answered cannot be written down: ${reasonOf(error)}`);
    }
  }

  /** Whoever asks for the same has it, and nobody else. */
  function takeOpen(order: Order): Purchase | undefined {
    const key = keyOf(order);
    const found = [...open].find((purchase) => keyOf(purchase.order) === key);
    if (found) open.delete(found);
    return found;
  }

  /** What cannot be given back stays counted. */
  const giveBack = (...given: Parameters<Spending['giveBack']>): Promise<void> =>
    spending.giveBack(...given).catch((error: unknown) => tell(`what was spent cannot be kept: ${reasonOf(error)}`));

  /** Sends it once. What the answer says of the deposit is kept; what it proves to have cost less or more is signed anew. */
  async function ask(purchase: Purchase, asking: Asking): Promise<CallToolResult> {
    const { order, drawing } = purchase;
    const send = () => gateway.call({ ...order, meta: { ...order.meta, [PAYMENT]: purchase.payment } }, asking);
    let answer = await send();
    const corrected = answer.isError && (await drawing?.corrected(asJsonObject(answer.structuredContent)));
    if (corrected) {
      // Whatever becomes of its answer: this is the one that may be charged.
      purchase.payment = corrected;
      keepSent(purchase);
      answer = await send();
    }
    const response = settlementIn(answer);
    if (response) await drawing?.told(response);
    return answer;
  }

  /** Sends a payment until it is answered. */
  async function send(purchase: Purchase, { signal, onProgress }: Asking): Promise<CallToolResult> {
    const { order, offer, reservation, drawing } = purchase;
    const { name } = order;
    const late = untilLate();
    // Others wait for the turn that it has.
    const hasTurn = isDrawn(purchase);
    const waiting = { ...(onProgress && { onProgress }), ...(hasTurn && { signal: late }) };
    const patience = openPatience(REPEATS);
    let reason = 'nothing was answered';
    let pauseMs: number | undefined = 0;
    while (pauseMs !== undefined && !(hasTurn && late.aborted)) {
      if (patience.lost() > 0) tell(`${name}: ${reason}; the same payment is sent again`);
      const answer = await ask(purchase, waiting).catch((error: unknown) => {
        reason = late.aborted ? LATE : gatewayReason(error);
      });
      const verdict = answer && verdictOf(answer, purchase.isSentOnce);
      if (answer && verdict?.kind === 'paid') {
        refused.remove(offer);
        // Whose caller left is had by who asks for the same.
        if (!open.has(purchase)) forget(purchase);
        signal?.addEventListener('abort', () => keepAnswered(purchase), { once: true });
        await tellPaid(purchase, verdict.transaction);
        return answer;
      }
      if (answer && verdict?.kind === 'refused') {
        // What bought nothing is not sent again, though its caller left and it was kept: it is not counted any more.
        forget(purchase);
        // What other attempts come to, nobody has said, unless all is given back.
        purchase.isOver = purchase.isSentOnce || verdict.isGivenBack === true;
        const isFree = verdict.isFree && purchase.isOver;
        // What was signed of a deposit stays signed: the next voucher is for the same money.
        if (drawing && verdict.isFree) await drawing.free();
        if (!drawing && isFree) await giveBack(reservation, 'said');
        const required = readPaymentRequired(answer);
        if (required && drawing?.isUnusable()) return inWords(words.undrawn(name, required), answer);
        if (!required) return answer;
        const said = words.refused(name, required, isFree);
        if (!isFree || drawing) return inWords(said, answer);
        refused.add(offer);
        const next = wallet.offers(required).find((each) => !refused.has(each) && each.price <= max);
        return inWords(next ? `${said} ${words.elsewhere(name, next)}` : said, answer);
      }
      if (answer && verdict?.kind === 'open') {
        reason = verdict.message;
        if (verdict.retryAfter === undefined) {
          keep(purchase);
          return inWords(words.open(name, offer, reason), answer);
        }
      }
      purchase.isSentOnce = false;
      pauseMs = patience.pauseAfter(verdict?.kind === 'open' ? verdict : {});
      if (pauseMs !== undefined) await delay(pauseMs, undefined, waiting).catch(() => {});
    }
    keep(purchase);
    return inWords(words.open(name, offer, reason));
  }

  async function tellPaid(purchase: Purchase, transaction: string | undefined): Promise<void> {
    const { order, offer } = purchase;
    const { price, asset } = offer;
    const receipt = transaction === undefined ? 'without a receipt' : `transaction ${transaction}`;
    const how = isDrawn(purchase) && transaction === undefined ? 'from the deposit' : receipt;
    const left = await spending.left().then((money) => `${toDecimal(money)} USD left today`, reasonOf);
    tell(`${order.name}: ${toDecimal(price)} USD on ${asset.id}, ${how}, ${left}`);
  }

  /** Whoever leaves while a payment is under way finds it again by asking for the same. */
  async function sendFor(purchase: Purchase, asking: Asking, inTurn: Turn = (work) => work()): Promise<CallToolResult> {
    const leave = () => keep(purchase);
    if (asking.signal?.aborted) leave();
    asking.signal?.addEventListener('abort', leave, { once: true });
    try {
      return await inTurn(() => send(purchase, asking));
    } catch (error) {
      // Whatever it was, somebody may have the payment.
      leave();
      return inWords(words.open(purchase.order.name, purchase.offer, reasonOf(error)));
    } finally {
      asking.signal?.removeEventListener('abort', leave);
    }
  }

  /** Counts what it adds to what is spent, signs it and sends it. */
  async function payBy(
    order: Order,
    unpaid: CallToolResult,
    asking: Asking,
    { offer, adds, sign, drawing, instead }: Way,
  ): Promise<CallToolResult> {
    const { name } = order;
    asking.signal?.throwIfAborted();
    let reservation: Reservation | undefined;
    try {
      reservation = await spending.reserve(adds, { tool: name.slice(0, 100), network: offer.asset.id });
      if (!reservation) return inWords(words.overBudget(name, offer, budget, await spending.left()), unpaid);
    } catch (error) {
      return inWords(words.unsigned(name, `what is spent cannot be kept: ${reasonOf(error)}`), unpaid);
    }
    let payment: Payment;
    try {
      payment = await sign();
    } catch (error) {
      await giveBack(reservation, 'unsent');
      return (await instead?.()) ?? inWords(words.unsigned(name, reasonOf(error)), unpaid);
    }
    if (asking.signal?.aborted) {
      // Who asks for the same meanwhile does not find it, and pays by itself.
      await (drawing ? drawing.free() : giveBack(reservation, 'unsent'));
      throw asking.signal.reason;
    }
    const purchase: Purchase = { order, offer, payment, reservation, drawing, isSentOnce: true, isOver: false };
    keepSent(purchase);
    return await sendFor(purchase, asking);
  }

  /** Undefined where the deposits have no room for it. */
  async function draw(order: Order, required: PaymentRequired, unpaid: CallToolResult, asking: Asking) {
    const offers = (deposits?.offers(required) ?? []).filter(({ price }) => price <= max);
    if (!deposits || offers.length === 0) return undefined;
    const hasOther = wallet.offers(required).length > 0;
    return await deposits.turn(async () => {
      for (const offer of offers) {
        const drawing = await deposits.draw(offer, required, hasOther);
        if (drawing) return await payBy(order, unpaid, asking, { ...drawing, offer, drawing });
      }
      return undefined;
    }, asking.signal);
  }

  async function pay(order: Order, required: PaymentRequired, unpaid: CallToolResult, asking: Asking) {
    const { name } = order;
    const drawn = await draw(order, required, unpaid, asking);
    if (drawn) return drawn;
    const offers = wallet.offers(required).sort(refused.compare);
    const paid = await transfer(order, required, unpaid, asking, offers);
    if (paid) return paid;
    const [costly] = [...offers, ...(deposits?.offers(required) ?? [])];
    if (costly && costly.price > max) return inWords(words.overMax(name, costly, max), unpaid);
    return inWords(words.notPayable(name, [...wallet.addresses.keys()]), unpaid);
  }

  /** By the first that the limits allow, or with another key where it cannot be signed. Undefined: they allow none. */
  async function transfer(
    order: Order,
    required: PaymentRequired,
    unpaid: CallToolResult,
    asking: Asking,
    offers: readonly Offer[],
  ): Promise<CallToolResult | undefined> {
    const within = offers.filter(({ price }) => price <= max);
    // Where it cannot be read nothing can be reserved, which says why.
    const left = within.length > 1 ? await spending.left().catch(() => max) : max;
    const offer = within.find(({ price }) => price <= left) ?? within[0];
    if (!offer) return undefined;
    const others = offers.filter(({ asset }) => asset.family !== offer.asset.family);
    return await payBy(order, unpaid, asking, {
      offer,
      adds: offer.price,
      sign: () => wallet.sign(offer, required),
      drawing: undefined,
      instead: () => transfer(order, required, unpaid, asking, others),
    });
  }

  return {
    async call(order, asking) {
      const unanswered = takeOpen(order);
      if (unanswered) {
        unanswered.isSentOnce = false;
        return await sendFor(unanswered, asking, isDrawn(unanswered) ? deposits?.turn : undefined);
      }
      const unpaid = await gateway.call(order, asking);
      const required = readPaymentRequired(unpaid);
      if (!required || required.isInvalid || paysItself(order)) return unpaid;
      if (isTooLong(required)) return inWords(words.tooLong(order.name));
      return await pay(order, required, unpaid, asking);
    },
  };
}
