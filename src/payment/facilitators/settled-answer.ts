/** Whether a facilitator that says it settled, settled what it was asked to. */
import { asJsonObject } from '../../json.ts';
import { sameAddress } from '../../on-chain/address.ts';
import { readSolanaPayment } from '../chains/solana-transaction.ts';
import { amountOf, asText } from './json.ts';

/** The payer that the payment itself names. */
export function payerOf(payload: object): string | undefined {
  const { authorization, permit2Authorization, transaction } = asJsonObject(asJsonObject(payload).payload);
  const from = asText(asJsonObject(authorization).from) ?? asText(asJsonObject(permit2Authorization).from);
  if (from !== undefined || typeof transaction !== 'string') return from;
  try {
    return readSolanaPayment(transaction).authority;
  } catch {
    return undefined;
  }
}

/** Of a chain of the family. */
const TRANSACTION = { evm: /^0x[0-9a-fA-F]{64}$/, solana: /^[1-9A-HJ-NP-Za-km-z]{64,88}$/ };

/**
 * What `answer`, x402's SettleResponse of a success, says against the payment that was sent: a reason, or undefined.
 * Payer and amount may be left out; a transaction only where `upto` settles nothing.
 */
export function disagreement(payload: object, requirements: object, answer: object): string | undefined {
  const { network, payer, amount, transaction } = asJsonObject(answer);
  const asked = asJsonObject(requirements);
  const due = amountOf(requirements);
  if (network !== asked.network) return 'the facilitator settled on another network';
  if (due === undefined || (amount !== undefined && amountOf({ amount }) !== due)) {
    return 'the facilitator settled another amount';
  }
  const expected = payerOf(payload);
  const named = asText(payer);
  if (expected && named && !sameAddress(named, expected)) return 'the facilitator settled for another payer';
  if (asked.scheme === 'upto' && due === 0n && !transaction) return undefined;
  // As both versions name it.
  const family = String(network).startsWith('solana') ? 'solana' : 'evm';
  return TRANSACTION[family].test(asText(transaction) ?? '') ? undefined : 'the facilitator names no transaction';
}
