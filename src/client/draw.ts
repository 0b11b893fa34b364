/** Draws a call from a deposit: signs for it where deposits and limits have room, and sends it until it is answered. */
import { type Money, toDecimal } from '../money.ts';
import type { Answer, Failure } from './answer.ts';
import { type Deposits, type Drawing, isBusy } from './deposits.ts';
import type { Spending } from './limits.ts';
import { type ChannelOffer, toDollars } from './offers.ts';
import { notSigned, openPurchase } from './purchase.ts';
import { openSending } from './sending.ts';
import type { Challenge, Payment } from './wallet.ts';
import { x402Required, x402Response, x402Transaction } from './x402.ts';

/** What a call may be drawn from. */
export interface Drawable {
  readonly offers: readonly ChannelOffer[];
  readonly challenge: Challenge;
}

interface Draw extends Drawable {
  /** The call can be paid otherwise. */
  readonly hasOther: boolean;
  readonly deposits: Pick<Deposits, 'turn' | 'draw'>;
  readonly spending: Pick<Spending, 'reached' | 'count' | 'unsigned'>;
  /** The most that the call may cost. */
  readonly most: Money;
  /** Sends the call's request with the headers of a payment. */
  post(payment: Record<string, string>, signal: AbortSignal | undefined): Promise<Response>;
  /** Attempts after the first. */
  readonly retries: number;
  readonly signal: AbortSignal | undefined;
}

/** Undefined where the deposits have no room for it, or a limit has none: then other ways may. */
export async function draw<Result>(parts: Draw): Promise<Answer<Result> | undefined> {
  const { offers, challenge, hasOther, deposits, spending, most, signal } = parts;
  if (offers.length === 0) return undefined;
  let isSent = false;

  async function buy(offer: ChannelOffer, drawing: Drawing): Promise<Answer<Result>> {
    spending.count(drawing.adds);
    let payment: Payment;
    try {
      signal?.throwIfAborted();
      payment = await drawing.sign();
    } catch (error) {
      spending.unsigned(drawing.adds);
      throw error;
    }
    isSent = true;
    return await complete(parts, offer, drawing, payment);
  }

  try {
    return await deposits.turn(async () => {
      for (const offer of offers) {
        const drawing = await deposits.draw(offer, challenge, hasOther);
        if (drawing && !spending.reached(offer.price, most, drawing.adds)) return await buy(offer, drawing);
      }
      return undefined;
    }, signal);
  } catch (error) {
    if (isSent) throw error;
    return notSigned(error);
  }
}

/** Sends it until it is answered, and keeps what the answer says of the channel. */
async function complete<Result>(
  { deposits: { turn }, post, retries, signal }: Draw,
  offer: ChannelOffer,
  drawing: Drawing,
  payment: Payment,
): Promise<Answer<Result>> {
  const { send, charged } = openSending(drawing, payment);
  const purchase = openPurchase<Result>({
    offer,
    turn,
    retries,
    send: (waiting) => send((payment) => post(payment, waiting)),
    transactionOf: (answer) => x402Transaction(answer) ?? (x402Response(answer) && drawing.channel),
    charged,
    isBusy: (answer) => answer.status === 402 && isBusy(x402Required(answer)),
    // What was signed stays signed: the next voucher is for the same money.
    giveBack: () => false,
  });
  const answer = await purchase.complete(signal);
  if (answer.ok || answer.reason === 'owed') return answer;
  if (answer.code !== 'answer_gone') await drawing.free();
  return drawing.isUnusable()
    ? { ...answer, message: `${answer.message}. Call again: the next call is not drawn from it` }
    : answer;
}

/** Why nothing could be drawn, where there is no other way to pay. `deposit`: the dollars that may lie in deposits. */
export function noRoom({ offers: [offer] }: Drawable, deposit: string | undefined): Failure<never> {
  const asked = offer?.terms.minDeposit ?? offer?.amount ?? 0n;
  const least = toDecimal(toDollars(asked, offer?.asset.decimals ?? 0));
  const message = `It is drawn from a deposit here, of ${least} USD at least, and pay.deposit of ${deposit} USD has no room for that: raise it, or ask back what is left with refund(). Nothing was signed.`;
  const said = { status: 402, code: 'payment_required', message, details: [], requestId: undefined };
  return { ok: false, reason: 'unpaid', ...said };
}
