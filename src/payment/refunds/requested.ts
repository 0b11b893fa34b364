/**
 * What a payer asks back. Source: the draft x402 extension `refund`, which leaves open what is signed: here it is the request
 * without `payerSignature`, as canonical JSON. What is owed is given back whole, once; what was delivered is not.
 */
import { canonicalJson } from '../../canonical-json.ts';
import { Problem } from '../../errors.ts';
import type { Payment, Store } from '../../store/store.ts';
import type { Rail } from '../rail.ts';
import { senderFor } from './sender.ts';
import { isSignedOnSolana, signerOnEvm } from './signature.ts';

/** Atomic units are decimal. Fits `refundRequestSchema`. */
export interface RefundRequestBody {
  readonly x402Version: 2;
  readonly paymentReference: { readonly txHash: string; readonly network: string };
  readonly amount: string;
  readonly reason?: string;
  readonly idempotencyKey: string;
  /** Who paid: on Solana a signature does not tell. */
  readonly payer?: string;
  readonly payerSignature: string;
}

const text = (pattern: string, description: string) => ({ type: 'string', pattern, description }) as const;

export const refundRequestSchema = {
  type: 'object',
  required: ['x402Version', 'paymentReference', 'amount', 'idempotencyKey', 'payerSignature'],
  additionalProperties: false,
  properties: {
    x402Version: { const: 2 },
    paymentReference: {
      type: 'object',
      required: ['txHash', 'network'],
      additionalProperties: false,
      properties: {
        txHash: text('^[0-9A-Za-z]{32,128}$', 'the transaction that paid, from the receipt'),
        network: text('^(eip155|solana):[0-9A-Za-z]{1,44}$', 'its network (CAIP-2)'),
      },
    },
    amount: text('^[0-9]{1,78}$', 'atomic units, decimal: all that was paid'),
    reason: { type: 'string', maxLength: 500 },
    idempotencyKey: text('^[\\x21-\\x7e]{1,128}$', '1 to 128 printable characters'),
    payer: text('^[0-9A-Za-z]{32,64}$', 'the address that paid'),
    payerSignature: text('^[0-9A-Za-z]{64,132}$', 'an EIP-191 signature in hex, or ed25519 in base58'),
  },
} as const;

export interface RefundAnswer {
  readonly status: 'executed' | 'pending' | 'denied';
  readonly amount: string;
  readonly refundTxHash?: string;
  readonly denialReason?: string;
}

interface RequestParts {
  readonly store: Pick<Store, 'list' | 'refunds'>;
  readonly rails: ReadonlyMap<string, Rail>;
  /** As the catalogue names a network. */
  idOf(network: string): string;
  now(): number;
}

async function payerOf({ payerSignature, ...request }: RefundRequestBody): Promise<string> {
  const signed = canonicalJson(request);
  const { payer, paymentReference } = request;
  const refused = (path: string, message: string, expected: string) =>
    new Problem('invalid_request', 'The request is not signed by who paid', { details: [{ path, message, expected }] });
  const expected = 'the signature of the request without payerSignature, as canonical JSON (RFC 8785)';
  if (paymentReference.network.startsWith('solana:')) {
    if (payer === undefined) throw refused('/payer', 'is required', 'the address that paid');
    if (isSignedOnSolana(signed, payerSignature, payer)) return payer;
  } else {
    const signer = await signerOnEvm(signed, payerSignature);
    if (signer !== undefined && (payer === undefined || payer.toLowerCase() === signer.toLowerCase())) return signer;
  }
  throw refused('/payerSignature', 'is not that of the payer over this request', expected);
}

/** Calls that one transaction has paid for: far more than anybody puts into one. */
const MOST_PAID_AT_ONCE = 100;

/** The one that the same request was about before; else, of as much, the one that is owed still. */
async function meantBy(
  { amount, idempotencyKey }: RefundRequestBody,
  payments: readonly Payment[],
  { refunds }: Pick<Store, 'refunds'>,
): Promise<Payment | undefined> {
  for (const payment of payments) {
    if (payment.state !== 'refunded') continue;
    if ((await refunds.of(payment.id)).some(({ reference }) => reference === idempotencyKey)) return payment;
  }
  const asMuch = payments.filter(({ receipt }) => receipt?.amount === amount);
  return asMuch.find(({ state }) => state === 'owed') ?? asMuch[0] ?? payments[0];
}

/** Throws Problem `invalid_request`, and `store_unavailable`. The same request again gets what became of it since. */
export async function requestRefund(body: RefundRequestBody, parts: RequestParts): Promise<RefundAnswer> {
  const { store, rails, now } = parts;
  const payer = await payerOf(body);
  const { txHash, network } = body.paymentReference;
  const denied = (denialReason: string): RefundAnswer => ({ status: 'denied', amount: '0', denialReason });
  const found = await store.list({
    payer,
    states: ['owed', 'refunded'],
    transaction: txHash,
    withoutAnswers: true,
    limit: MOST_PAID_AT_ONCE,
  });
  const paid = found.filter((each) => each.network === network || each.network === parts.idOf(network));
  const payment = await meantBy(body, paid, store);
  const nothingOwed = () =>
    denied('nothing is owed for this transaction: what was delivered, or never paid here, is not given back');
  if (!payment?.receipt) return nothingOwed();
  const taken = payment.receipt.amount;
  if (body.amount !== taken) return denied(`its result is owed: it is given back whole, all ${taken} atomic units`);
  if (payment.state === 'owed') {
    if (!senderFor(rails, payment.network)) return denied('nothing can be sent on this network now: ask the operator');
    const reason = `asked for by its payer${body.reason ? `: ${body.reason}` : ''}`;
    const { idempotencyKey: reference } = body;
    const order = { paymentId: payment.id, reason, isAutomatic: true, reference, now: now() };
    const outcome = await store.refunds.want(order);
    if ('refused' in outcome && outcome.refused === 'in-progress') {
      return denied('the request that it paid for is being worked on: ask again in a minute');
    }
    if ('refused' in outcome && outcome.refused === 'delivered') return nothingOwed();
  }
  const [refund] = await store.refunds.of(payment.id);
  if (!refund) return denied('it was not given back: ask the operator');
  return refund.state === 'sent' && refund.transaction
    ? { status: 'executed', amount: refund.amount, refundTxHash: refund.transaction }
    : { status: 'pending', amount: refund.amount };
}
