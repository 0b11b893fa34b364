/**
 * Calls tools and pays for them, within limits. A call is asked for without a payment first, and is paid as its answer asks;
 * what is signed is counted before it is sent, and sent again, the same, until it is answered.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { canonicalJson } from '../../canonical-json.ts';
import type { Offer } from '../../client/offers.ts';
import type { Payment, Wallet } from '../../client/wallet.ts';
import { type Money, toDecimal } from '../../money.ts';
import { inWords, verdictOf, words } from './answers.ts';
import { type Asking, type Gateway, type Order, reasonOf } from './gateway.ts';
import { type PaymentRequired, readPaymentRequired } from './payment-required.ts';
import type { Reservation, Spending } from './spending.ts';

export interface BuyerParts {
  readonly gateway: Pick<Gateway, 'call'>;
  readonly wallet: Wallet;
  readonly spending: Spending;
  readonly max: Money;
  readonly budget: Money;
  /** One line to whoever runs this. */
  tell(line: string): void;
}

export interface Buyer {
  call(order: Order, asking: Asking): Promise<CallToolResult>;
}

interface Purchase {
  readonly order: Order;
  readonly offer: Offer;
  readonly payment: Payment;
  readonly reservation: Reservation;
}

const PAYMENT = 'x402/payment';
const MPP_CREDENTIAL = 'org.paymentauth/credential';

/** Attempts after the first. */
const REPEATS = 3;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Purchases without an answer that are kept, for who asks for the same again. */
const MOST_OPEN = 100;

export function createBuyer(parts: BuyerParts): Buyer {
  const { gateway, wallet, spending, max, budget, tell } = parts;
  /** By what was ordered: those that nobody waits for, or that ended without an answer. */
  const open = new Map<string, Purchase>();

  const keyOf = ({ name, arguments: input }: Order): string => canonicalJson([name, input]);

  function keep(purchase: Purchase): void {
    const [oldest] = open.keys();
    if (open.size >= MOST_OPEN && oldest !== undefined) open.delete(oldest);
    open.set(keyOf(purchase.order), purchase);
  }

  /** What cannot be given back stays counted. */
  const giveBack = (...given: Parameters<Spending['giveBack']>): Promise<void> =>
    spending.giveBack(...given).catch((error: unknown) => tell(`what was spent cannot be kept: ${reasonOf(error)}`));

  /** Sends a payment until it is answered. */
  async function send(purchase: Purchase, { onProgress }: Asking, isFirst: boolean): Promise<CallToolResult> {
    const { order, offer, payment, reservation } = purchase;
    const { name } = order;
    const paid = { ...order, meta: { ...order.meta, [PAYMENT]: payment } };
    let reason = 'nothing was answered';
    for (let repeats = 0; repeats <= REPEATS; repeats += 1) {
      if (repeats > 0) tell(`${name}: ${reason}; the same payment is sent again`);
      let pause = FIRST_PAUSE_MS * 2 ** repeats;
      const answer = await gateway.call(paid, onProgress ? { onProgress } : {}).catch((error: unknown) => {
        reason = reasonOf(error);
      });
      const verdict = answer && verdictOf(answer);
      if (verdict?.kind === 'paid') {
        await tellPaid(purchase, verdict.transaction);
        return answer as CallToolResult;
      }
      if (answer && verdict?.kind === 'refused') {
        // What an earlier attempt came to, nobody has said.
        const isFree = verdict.isFree && isFirst && repeats === 0;
        if (isFree) await giveBack(reservation, 'said');
        const required = readPaymentRequired(answer);
        return required ? inWords(words.refused(name, required, isFree), answer) : answer;
      }
      if (answer && verdict?.kind === 'open') {
        reason = verdict.message;
        if (verdict.again === undefined) {
          keep(purchase);
          return inWords(words.open(name, offer, reason), answer);
        }
        pause = Math.max(pause, verdict.again * 1000);
      }
      if (repeats < REPEATS) await delay(Math.min(pause, LONGEST_PAUSE_MS));
    }
    keep(purchase);
    return inWords(words.open(name, offer, reason));
  }

  async function tellPaid({ order, offer }: Purchase, transaction: string | undefined): Promise<void> {
    const { price, asset } = offer;
    const receipt = transaction === undefined ? 'without a receipt' : `transaction ${transaction}`;
    const left = await spending.left().then((money) => `${toDecimal(money)} USD left today`, reasonOf);
    tell(`${order.name}: ${toDecimal(price)} USD on ${asset.id}, ${receipt}, ${left}`);
  }

  /** Whoever leaves while a payment is under way finds it again by asking for the same. */
  async function sendFor(purchase: Purchase, asking: Asking, isFirst: boolean): Promise<CallToolResult> {
    const leave = () => keep(purchase);
    asking.signal?.addEventListener('abort', leave, { once: true });
    try {
      return await send(purchase, asking, isFirst);
    } finally {
      asking.signal?.removeEventListener('abort', leave);
    }
  }

  async function pay(order: Order, required: PaymentRequired, unpaid: CallToolResult, asking: Asking) {
    const { name } = order;
    const [offer] = wallet.offers(required);
    if (!offer) return inWords(words.notPayable(name, [...wallet.addresses.keys()]), unpaid);
    const { price, asset } = offer;
    if (price > max) return inWords(words.overMax(name, offer, max), unpaid);
    asking.signal?.throwIfAborted();
    let reservation: Reservation | undefined;
    try {
      reservation = await spending.reserve(price, { tool: name.slice(0, 100), network: asset.id });
      if (!reservation) return inWords(words.overBudget(name, offer, budget, await spending.left()), unpaid);
    } catch (error) {
      return inWords(words.unsigned(name, `what is spent cannot be kept: ${reasonOf(error)}`), unpaid);
    }
    let payment: Payment;
    try {
      payment = await wallet.sign(offer, required);
    } catch (error) {
      await giveBack(reservation, 'unsent');
      return inWords(words.unsigned(name, reasonOf(error)), unpaid);
    }
    return await sendFor({ order, offer, payment, reservation }, asking, true);
  }

  return {
    async call(order, asking) {
      const key = keyOf(order);
      const unanswered = open.get(key);
      if (unanswered) {
        open.delete(key);
        return await sendFor(unanswered, asking, false);
      }
      const unpaid = await gateway.call(order, asking);
      const required = readPaymentRequired(unpaid);
      const paysItself = PAYMENT in order.meta || MPP_CREDENTIAL in order.meta;
      if (!required || required.isInvalid || paysItself) return unpaid;
      return await pay(order, required, unpaid, asking);
    },
  };
}
