/** The error codes of x402 facilitators in plain words (@x402/evm, @x402/svm, and Coinbase's facilitator). */
import { withoutAddresses } from '../without-addresses.ts';
import { NO_GAS_LEFT } from './settling-cost.ts';

const SPENT = /nonce_already_used|authorization is used|invalid_?nonce|duplicate_settlement|already.?processed/i;

const SENTENCES: readonly (readonly [pattern: RegExp, sentence: string])[] = [
  [SPENT, 'the payment was used before'],
  [/no gas left/, NO_GAS_LEFT],
  // SPL Token's error 1 is InsufficientFunds.
  [/insufficient_(balance|funds)|exceeds balance|"Custom":"?1\b/, 'the payer has too few tokens'],
  [/valid_before|deadline_expired|authorization is expired|block_height_exceeded/, 'the authorization has expired'],
  [/blockhash.?not.?found/i, 'the transaction has expired'],
  [/valid_after|not_yet_valid|too_early/, 'the authorization is not valid yet'],
  [/recipient_mismatch|invalid_destination/, 'the payment goes to another recipient'],
  // Tokens say "invalid signature 's' value".
  [/signature/, 'the signature is not the payer’s'],
  [/(value|amount)(_mismatch)?$|amount_exceeds/, 'the payment is for another amount'],
  [/(mint|asset|token)_mismatch/, 'the payment is in another asset'],
  [/network_mismatch|invalid_network/, 'the payment is for another network'],
  [/unsupported_scheme|invalid_.*_?scheme/, 'the scheme is not supported'],
  [/allowance_required/, 'the payer has not approved Permit2 for this token'],
  [/settling takes more than/, 'settling takes too much gas'],
  [/settling costs more than/, 'settling costs more than half the price: pay on another network'],
  [/pay more than the fee/, 'the transaction would cost the fee payer more than its fee'],
  [/fee_payer/, 'the transaction names the wrong fee payer'],
  [/memo/, 'the transaction carries another memo'],
  [/could_not_be_decoded|instructions?_|_instruction|payload_transaction$/, 'the transaction is not a plain transfer'],
  [/simulation_failed/, 'the transfer would fail on the chain'],
  [/transaction_failed|failed_onchain|transfer_event_mismatch/, 'the transfer failed on the chain'],
  [/not_deployed_contract|eip3009_not_supported|token_(name|version)/, 'the token does not take this authorization'],
];

const LONGEST = 160;
/** Signatures and serialized transactions are this long; a transaction hash or an address is not. */
const PROOF = /[A-Za-z0-9+/=_-]{80,}/g;

const sentenceOf = (words: string): string | undefined => SENTENCES.find(([pattern]) => pattern.test(words))?.[1];

/**
 * "the authorization has expired (invalid_exact_evm_payload_authorization_valid_before)". `code` is what the
 * facilitator said and may be free text; addresses in it, and anything that could be a signature, are cut out. `detail` is what the
 * chain said, and tells more where the code says only that the transfer fails, or what has not been approved without the
 * permit that came along.
 */
export function plainReason(code: string | undefined, detail?: string): string {
  if (!code) return 'the facilitator gave no reason';
  const clean = withoutAddresses(code.replace(PROOF, '…').replace(/\s+/g, ' ').slice(0, LONGEST));
  const vague = /(simulation|transaction)_failed|allowance_required/.test(clean);
  const sentence = (vague && detail ? sentenceOf(detail) : undefined) ?? sentenceOf(clean);
  return sentence ? `${sentence} (${clean})` : clean;
}

/** The authorization was used before, by whomever. */
export const isSpent = (code: string | undefined): boolean => SPENT.test(code ?? '');

/** An earlier attempt has sent the transaction, and it is not confirmed yet (@x402/evm, @x402/svm). */
export const isPending = (code: string | undefined): boolean => code === 'settlement_pending';
