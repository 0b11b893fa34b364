/** A call that is drawn from a deposit, over HTTP, and what is left of deposits, asked back. */
import { textOrNull } from '../json.ts';
import { toDecimal } from '../money.ts';
import type { Answer } from './answer.ts';
import { readUnits } from './channel.ts';
import { type Deposits, type Drawing, isBusy } from './deposits.ts';
import type { Offer } from './offers.ts';
import { openPurchase, reasonOf } from './purchase.ts';
import type { Payment } from './wallet.ts';
import { x402Challenge, x402Header, x402Required, x402Response, x402Transaction } from './x402.ts';

type Post = (payment: Record<string, string>) => Promise<Response>;

interface Drawn {
  readonly offer: Offer;
  readonly drawing: Drawing;
  /** As it was signed. */
  readonly payment: Payment;
  /** Sends the request with a payment. */
  readonly post: Post;
  readonly turn: Deposits['turn'];
  readonly retries: number;
  readonly signal: AbortSignal | undefined;
}

/** Sends a payment from a deposit, once or again, and keeps what each answer says of the channel. */
export function openSending(drawing: Drawing, signed: Payment) {
  let payment = signed;
  let charged: string | undefined;
  return {
    async send(post: Post): Promise<Response> {
      let answer = await post(x402Header(payment));
      const corrected = answer.status === 402 ? await drawing.corrected(x402Required(answer)) : undefined;
      if (corrected) {
        payment = corrected;
        answer = await post(x402Header(payment));
      }
      const response = x402Response(answer);
      if (response) charged = await drawing.told(response);
      return answer;
    },
    /** Dollars, by the last answer that said it. */
    charged: (): string | undefined => charged,
  };
}

/** Sends it until it is answered, and keeps what the answer says of the channel. */
export async function buyDrawn<Result>({ drawing, payment, post, ...others }: Drawn): Promise<Answer<Result>> {
  const { send, charged } = openSending(drawing, payment);
  const purchase = openPurchase<Result>({
    ...others,
    send: () => send(post),
    transactionOf: (answer) => x402Transaction(answer) ?? (x402Response(answer) && drawing.channel),
    charged,
    isBusy: (answer) => answer.status === 402 && isBusy(x402Required(answer)),
    // What was signed stays signed: the next voucher is for the same money.
    giveBack: () => false,
  });
  const answer = await purchase.complete();
  if (!answer.ok && answer.reason !== 'owed') await drawing.free();
  return answer;
}

/** What became of one channel's deposit. */
export type GivenBack =
  | {
      readonly ok: true;
      /** Neutral id of the network. */
      readonly network: string;
      /** Dollars, as a decimal string, by the gateway's word: the transaction says it as well. */
      readonly amount: string;
      /** Undefined where nothing was left. */
      readonly transaction: string | undefined;
    }
  | { readonly ok: false; readonly network: string; readonly message: string };

const NO_BALANCE = 'invalid_batch_settlement_evm_refund_no_balance';

/** In its turn. Never throws. `ask`: the gateway's path for it, with the headers of a payment if there is one. */
export async function askBack(
  deposits: Deposits,
  { channel, network }: { readonly channel: string; readonly network: string },
  ask: (headers: Record<string, string>) => Promise<Response>,
): Promise<GivenBack> {
  try {
    const challenge = x402Challenge(await ask({}));
    for (let attempts = 0; attempts < 2; attempts += 1) {
      const payment = await deposits.refund(channel, challenge);
      if (!payment) return { ok: false, network, message: 'the gateway does not take vouchers of this channel' };
      const answer = await ask(x402Header(payment));
      const response = x402Response(answer);
      if (answer.ok && response) {
        const amount = await deposits.givenBack(channel, readUnits(response.amount) ?? 0n, response);
        return { ok: true, network, amount, transaction: textOrNull(response.transaction) ?? undefined };
      }
      const required = x402Required(answer);
      if (required.error === NO_BALANCE) {
        await deposits.givenBack(channel, undefined, {});
        return { ok: true, network, amount: toDecimal(0n), transaction: undefined };
      }
      if (!(await deposits.corrected(channel, required))) {
        const message = textOrNull(required.error) ?? `the gateway answered ${answer.status}`;
        return { ok: false, network, message };
      }
    }
    return { ok: false, network, message: 'the gateway does not say twice the same of what the channel has cost' };
  } catch (error) {
    return { ok: false, network, message: `${reasonOf(error)}: ask again` };
  }
}
