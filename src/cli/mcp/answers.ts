/** What an answer to a paid call says of the payment, and what is said to the model where it says nothing good. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { isBusy } from '../../client/deposits.ts';
import type { Offer } from '../../client/offers.ts';
import { isOpen, isOwnCode, saysGivenBack, saysUncharged } from '../../client/problem.ts';
import { asJsonObject, isJsonObject, type JsonObject, numberOrNull, textOrNull } from '../../json.ts';
import { type Money, toDecimal } from '../../money.ts';
import { LARGEST_CHALLENGE_KIB, type PaymentRequired, readPaymentRequired } from './payment-required.ts';

const RECEIPT = 'x402/payment-response';

/** Errors after which the payment is still good, and only later, by who asks for the same once more. */
const LATER = ['result_owed', 'internal_error'];

export type Verdict =
  | { readonly kind: 'paid'; readonly transaction: string | undefined }
  /** `retryAfter`: worth another attempt now, after so many seconds; undefined: later, by who asks for the same once more. */
  | {
      readonly kind: 'open';
      readonly code: string | undefined;
      readonly retryAfter: number | undefined;
      readonly message: string;
    }
  /** `isFree`: the answer says that nothing was charged. `isGivenBack`: whatever earlier attempts came to. */
  | { readonly kind: 'refused'; readonly isFree: boolean; readonly isGivenBack?: boolean };

/** What an answer says of the settlement; undefined where it says nothing. */
export function settlementIn({ _meta }: CallToolResult): JsonObject | undefined {
  const response = _meta?.[RECEIPT];
  return isJsonObject(response) ? response : undefined;
}

/** As a chain writes it; a gateway may say anything. */
function transactionIn(answer: CallToolResult): string | undefined {
  const transaction = textOrNull(settlementIn(answer)?.transaction);
  return transaction !== null && /^[A-Za-z0-9]{1,128}$/.test(transaction) ? transaction : undefined;
}

/** `isFirst`: no attempt before it is without its answer. */
export function verdictOf(answer: CallToolResult, isFirst: boolean): Verdict {
  if (answer.isError !== true) return { kind: 'paid', transaction: transactionIn(answer) };
  // A payment whose settlement failed is out of our hands: it stays counted.
  const hasReceipt = settlementIn(answer) !== undefined;
  // The channel serves another call.
  if (isBusy(asJsonObject(answer.structuredContent)))
    return { kind: 'open', code: undefined, retryAfter: 1, message: 'its deposit serves another call' };
  if (readPaymentRequired(answer)) return { kind: 'refused', isFree: !hasReceipt };
  const error = asJsonObject(asJsonObject(answer.structuredContent).error);
  const code = textOrNull(error.code) ?? '';
  if (!isOpen(code, isFirst)) {
    const isFree = isOwnCode(code) && saysUncharged(code, hasReceipt);
    return { kind: 'refused', isFree, isGivenBack: saysGivenBack(code) };
  }
  const retryAfter = LATER.includes(code) ? undefined : (numberOrNull(error.retryAfterSeconds) ?? 1);
  return { kind: 'open', code, retryAfter, message: textOrNull(error.message) ?? code };
}

const inDollars = (money: Money): string => `${toDecimal(money)} USD`;

/** The gateway's answer, with words of ours where its text stood. */
export const inWords = (text: string, answer: Partial<CallToolResult> = {}): CallToolResult => ({
  ...answer,
  isError: true,
  content: [{ type: 'text', text }],
});

export const words = {
  uncalled: (tool: string, reason: string): string => `${tool} was not called: ${reason}. Nothing was paid.`,
  unanswered: (tool: string, reason: string): string =>
    `${tool} has no answer: ${reason}. The payment that came with the call may have been charged: send the same payment with the same arguments again, which is not charged twice.`,
  notPayable: (tool: string, networks: readonly string[]): string =>
    `${tool} was not paid: it is offered in no way that this wallet pays, which is the schemes exact and auth-capture in dollar stablecoins on ${networks.join(', ')}. Nothing was signed.`,
  tooLong: (tool: string): string =>
    `${tool} was not paid: what it asks for is longer than ${LARGEST_CHALLENGE_KIB} KiB, or nested too deeply. Nothing was signed.`,
  overMax: (tool: string, { price }: Offer, max: Money): string =>
    `${tool} was not paid: it costs ${inDollars(price)}, and the limit for one call is ${inDollars(max)} (--max). Nothing was paid. Ask for something that costs less, or ask the user to raise the limit.`,
  overBudget: (tool: string, { price }: Offer, budget: Money, left: Money): string =>
    `${tool} was not paid: it costs ${inDollars(price)}, and ${inDollars(left)} is left of the day's budget of ${inDollars(budget)} (--budget, until midnight UTC). Nothing was paid.`,
  unsigned: (tool: string, reason: string): string =>
    `${tool} was not paid: the payment could not be made (${reason}). Nothing was paid.`,
  refused: (tool: string, { error }: Pick<PaymentRequired, 'error'>, isFree: boolean): string =>
    `The gateway refused the payment of ${tool}: ${error}. ${isFree ? 'It says that nothing was charged.' : 'Whether it was charged is not certain, so it stays counted.'}`,
  elsewhere: (tool: string, { asset }: Offer): string => `Call ${tool} again: the next call is paid on ${asset.id}.`,
  undrawn: (tool: string, { error }: Pick<PaymentRequired, 'error'>): string =>
    `${words.refused(tool, { error }, true)} Call ${tool} again: the next call is not drawn from that deposit.`,
  open: (tool: string, { price, asset }: Offer, reason: string): string =>
    `${tool} has no answer yet: ${reason}. ${inDollars(price)} was signed on ${asset.id} and may have been charged. Call ${tool} with the same arguments again: the same payment is sent, so that nothing is paid twice.`,
};
