/**
 * One purchase, step by step: the price is asked for once more, the wallet signs exactly what was shown, the request is
 * sent with the payment. A payment whose answer is lost is sent again as it is; no second one is made for it.
 */
import type { PaymentRequired } from '@x402/core/types';
import { readEvents } from '../../../client/events.ts';
import { dollarsOf } from '../../shown.ts';
import type { ShownNetwork } from '../../wallets/shown-network.ts';
import type { Drawing } from '../deposits/draw.ts';
import { textOf } from '../event-text.ts';
import type { SignedPayment } from '../wallets/signed-payment.ts';
import { type PayingWallet, WalletProblem } from '../wallets/wallet.ts';
import { paymentRequiredIn, type Receipt, receiptIn, shownHeaders } from './header.ts';
import { keepPayment } from './kept-payment.ts';
import { isSamePrice, type Offer, offersIn } from './offers.ts';
import type { Payment } from './payment.ts';
import { cutIn, type Failure, failureOf, faultsIn, lost, unpaidProblem } from './problem.ts';
import { begin, type Watcher } from './progress.ts';
import { type CallRequest, type Quote, requestOf } from './types.ts';

export interface Order {
  readonly call: CallRequest;
  /** What the button said. */
  readonly offer: Offer;
  readonly wallet: PayingWallet;
  readonly networks: readonly ShownNetwork[];
  /** Undefined where it is not drawn from a deposit. */
  readonly fromDeposit?: FromDeposit | undefined;
}

/** What the button said of a deposit, and what draws from it. */
export interface FromDeposit {
  readonly drawing: Drawing;
  /** Atomic units that are deposited first; 0: nothing. */
  readonly agreed: bigint;
}

export type Outcome =
  | { readonly kind: 'bought' }
  /** Nothing was signed: another price is asked for now. */
  | { readonly kind: 'repriced'; readonly quote: Quote }
  /** Nothing was sent. */
  | { readonly kind: 'unpaid'; readonly words: string }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly payment: Payment };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const bodyOf = async (response: Response): Promise<unknown> => parsed(await response.text());

const quoteOf = (paymentRequired: PaymentRequired, { price }: { price: string }): Quote => ({ price, paymentRequired });

/** The wallet's code is loaded when it is needed. */
async function sign(order: Order, required: PaymentRequired, accepted: Offer): Promise<SignedPayment> {
  const { offer, wallet, networks, fromDeposit } = order;
  if (fromDeposit) {
    const { drawing, agreed } = fromDeposit;
    return drawing.signFromDeposit({ wallet, offer: accepted, networks, agreed }, required);
  }
  if (wallet.family === 'evm') {
    const { signWithEvmWallet } = await import('../wallets/evm.ts');
    return signWithEvmWallet(wallet, accepted.accepted, required, offer.network.name);
  }
  const { signWithSolanaWallet } = await import('../wallets/solana.ts');
  const rpcUrl = new URL(`/storefront/solana/${offer.network.id}`, location.href).href;
  return signWithSolanaWallet(wallet, accepted.accepted, required, rpcUrl);
}

type Asked =
  | { readonly required: PaymentRequired; readonly accepted: Offer }
  | Extract<Outcome, { kind: 'repriced' | 'unpaid' }>;

/** The price as it is now. */
async function challenge({ call, offer, networks, fromDeposit }: Order, watcher: Watcher): Promise<Asked> {
  const end = begin(watcher, 'challenge', `Asking for the price: ${call.method} ${call.url}`);
  const fail = (words: string): Asked => {
    end('failed', { words });
    return { kind: 'unpaid', words };
  };
  let response: Response;
  try {
    response = await fetch(call.url, requestOf(call));
  } catch {
    return fail('The gateway could not be reached. Nothing was signed: try again in a moment.');
  }
  const required = paymentRequiredIn(response.headers);
  if (response.status !== 402 || !required) return fail(unpaidProblem(response.status, await bodyOf(response)));
  const told = {
    headers: shownHeaders(response.headers),
    decoded: { title: 'PAYMENT-REQUIRED, decoded', value: required },
  };
  const faults = faultsIn(await bodyOf(response));
  if (faults !== undefined) return fail(faults);
  const now = offersIn({ paymentRequired: required }, networks, fromDeposit?.drawing.isSound);
  const accepted = now.find(({ key }) => key === offer.key);
  if (accepted && isSamePrice(accepted, offer)) {
    end('done', { words: `402 Payment Required: ${accepted.price}`, ...told });
    return { required, accepted };
  }
  end('failed', {
    words: accepted ? `The price is another one now: ${accepted.price}` : 'This network is not offered now',
    ...told,
  });
  const { symbol } = offer.network.asset;
  const price = accepted?.price.replace(new RegExp(` ${symbol} on .*$`), '') ?? '';
  return { kind: 'repriced', quote: quoteOf(required, { price }) };
}

async function signature(
  order: Order,
  required: PaymentRequired,
  accepted: Offer,
  watcher: Watcher,
): Promise<SignedPayment | string> {
  const { wallet, fromDeposit } = order;
  const twice = fromDeposit && fromDeposit.agreed > 0n ? ', which asks for the deposit and then for this call' : '';
  const end = begin(watcher, 'signature', `Waiting for ${wallet.name}: look at its window${twice}`);
  try {
    const signed = await sign(order, required, accepted);
    const { scheme, network, asset, amount, payTo } = accepted.accepted;
    const deposited = signed.drawn?.deposited.toString();
    const value = { scheme, network, asset, amount, payTo, from: signed.from, ...(deposited && { deposited }) };
    end('done', { words: `Signed by ${wallet.name}`, decoded: { title: 'What was signed', value } });
    return { ...signed, ...(scheme === 'auth-capture' && { isLocked: true }) };
  } catch (error) {
    const words =
      error instanceof WalletProblem
        ? error.message
        : 'The wallet could not be asked: load the page again. Nothing was sent.';
    end('failed', { words });
    return words;
  }
}

/** Answers what a stream says at its end that did not come to a good one. Throws where the connection ends before. */
async function readResult(response: Response, watcher: Watcher): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream') || !response.body) {
    const body = await bodyOf(response);
    watcher.result(typeof body === 'string' ? { kind: 'text', text: body, isWhole: true } : { kind: 'json', body });
    return undefined;
  }
  let text = '';
  let broken: unknown;
  for await (const { event, data } of readEvents(response.body)) {
    if (event === 'error') broken = parsed(data);
    else text += textOf(data);
    watcher.result({ kind: 'text', text, isWhole: false });
  }
  watcher.result({ kind: 'text', text, isWhole: true });
  return broken;
}

const settledInWords = (receipt: Receipt | undefined, charged: string | undefined): string => {
  if (charged !== undefined) return `${dollarsOf(charged)} USD taken from the deposit`;
  return receipt?.transaction ? 'Settled on the chain' : 'Settled';
};

/** Sends a request with its payment: the first time, or again. Never rejects. */
export async function send(payment: Payment, watcher: Watcher): Promise<Outcome> {
  const outcome = await sendOnce(payment, watcher);
  if (outcome.kind !== 'failed' || !outcome.failure.canAskAgain) payment.signed.drawn?.leave();
  return outcome;
}

async function sendOnce(payment: Payment, watcher: Watcher): Promise<Outcome> {
  const { call, signed, isUncertain } = payment;
  const sent = { isUncertain, isLocked: signed.isLocked === true };
  const settled = begin(watcher, 'settlement', 'Sent with the payment: waiting for the work and its settlement');
  const failed = (failure: Failure): Outcome => ({
    kind: 'failed',
    failure,
    payment: { ...payment, isUncertain: isUncertain || !failure.isUncharged },
  });
  const { drawn } = signed;
  const post = (headers: Readonly<Record<string, string>>) => {
    keepPayment(payment, headers);
    return fetch(call.url, requestOf(call, headers));
  };
  let response: Response;
  try {
    response = await (drawn ? drawn.send(post) : post(signed.headers));
  } catch {
    settled('failed', { words: 'No answer came' });
    return failed(lost);
  }
  const receipt = receiptIn(response.headers);
  const answered = begin(watcher, 'answer', `Reading the answer: ${response.status}`);
  const headers = shownHeaders(response.headers);
  const decoded = receipt && { title: 'PAYMENT-RESPONSE, decoded', value: receipt };
  const told = { headers, ...(decoded && { decoded }) };
  if (!response.ok) {
    const refusal = paymentRequiredIn(response.headers)?.error;
    const failure = failureOf(response.status, await bodyOf(response).catch(() => undefined), refusal, sent);
    const isPaid = drawn ? drawn.charged() !== undefined && drawn.charged() !== '0' : receipt?.transaction;
    settled('failed', { words: isPaid ? 'Paid, and no result yet' : 'No settlement yet' });
    answered('failed', { words: `Status ${response.status}`, ...told });
    if (failure.isUncharged && !failure.canAskAgain) await drawn?.free();
    return failed(failure);
  }
  settled('done', { words: settledInWords(receipt, drawn?.charged()) });
  let broken: unknown;
  try {
    broken = await readResult(response, watcher);
  } catch {
    answered('failed', { words: 'The answer broke off', ...told });
    return failed(lost);
  }
  if (broken !== undefined) {
    const cut = cutIn(broken);
    answered('failed', { words: cut ?? 'The answer broke off', ...told });
    return cut === undefined ? failed(failureOf(500, broken, undefined, sent)) : { kind: 'bought' };
  }
  answered('done', { words: `Status ${response.status}`, ...told });
  return { kind: 'bought' };
}

/** Never rejects. */
export async function pay(order: Order, watcher: Watcher, signedNow: (payment: Payment) => void): Promise<Outcome> {
  const asked = await challenge(order, watcher);
  if ('kind' in asked) return asked;
  const signed = await signature(order, asked.required, asked.accepted, watcher);
  if (typeof signed === 'string') return { kind: 'unpaid', words: signed };
  const payment = { call: order.call, signed, isUncertain: false };
  signedNow(payment);
  return send(payment, watcher);
}
