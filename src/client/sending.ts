/** Sends a call that is drawn from a deposit, over HTTP. */
import type { Drawing } from './deposits.ts';
import type { Payment } from './wallet.ts';
import { x402Header, x402Required, x402Response } from './x402.ts';

/** Sends a call's request with the headers of a payment. */
export type Post = (payment: Record<string, string>) => Promise<Response>;

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
