/** Asks the gateway what a request costs, by sending it without a payment. Costs nothing. */
import type { PaymentRequired } from '@x402/core/types';
import { paymentRequiredIn } from '../purchase/header.ts';
import { type CallRequest, type Quote, requestOf } from '../purchase/types.ts';
import type { FormFault } from './read-form.ts';

export interface Answer {
  /** Undefined where nothing is offered that could be paid now. */
  readonly quote: Quote | undefined;
  /** Dollars, decimal; undefined where the gateway tells none. */
  readonly price: string | undefined;
  readonly faults: readonly FormFault[];
  /** What is wrong besides, in words. */
  readonly problem: string | undefined;
  /** It was answered without a payment. */
  readonly isFree: boolean;
}

interface Detail {
  readonly path: string;
  readonly message: string;
  readonly expected?: string;
}

/** What the gateway says of a field, by the field's name: `/style/0` is about `style`. */
const toFault = ({ path, message, expected }: Detail): FormFault => ({
  field: path.split('/')[1] ?? '',
  message: expected === undefined ? message : `${message}: ${expected}`,
});

const SIX_DECIMALS = 1e6;

const priceOf = ({ accepts: [offer] }: PaymentRequired, headers: Headers): string =>
  headers.get('turnpike-quoted') ?? String(Number(offer?.amount ?? 0) / SIX_DECIMALS);

/** Where nothing is offered, the amount stands in the words of the 402 alone. */
const priceInDetail = (detail: string | undefined): string | undefined =>
  /costs (\d+(?:\.\d+)?) USD/.exec(detail ?? '')?.[1];

const NOTHING = { quote: undefined, price: undefined, faults: [], problem: undefined, isFree: false } as const;

/** Throws where the gateway cannot be reached, and where `signal` is aborted. */
export async function askPrice(call: CallRequest, signal: AbortSignal): Promise<Answer> {
  const response = await fetch(call.url, { ...requestOf(call), signal });
  const paymentRequired = paymentRequiredIn(response.headers);
  const content = (await response.json().catch(() => ({}))) as {
    readonly invalidParams?: readonly Detail[];
    readonly detail?: string;
    readonly error?: { readonly message?: string; readonly details?: readonly Detail[] };
  };
  // What was asked since may be answered already, or not have to be asked at all.
  signal.throwIfAborted();
  if (paymentRequired) {
    const faults = (content.invalidParams ?? []).map(toFault);
    if (paymentRequired.accepts.length === 0) {
      return { ...NOTHING, price: priceInDetail(content.detail), faults, problem: content.detail };
    }
    const price = priceOf(paymentRequired, response.headers);
    return { ...NOTHING, quote: { price, paymentRequired }, price, faults };
  }
  if (response.ok) return { ...NOTHING, isFree: true };
  const { message = `the gateway answered ${response.status}`, details = [] } = content.error ?? {};
  return { ...NOTHING, faults: details.map(toFault), problem: message };
}
