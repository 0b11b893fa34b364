/** A Solana transaction with one token transfer, signed by its payer and completed by the fee payer. */

import { orUnknown, refused, type Settlement, unknown } from '../../settlement.ts';
import { createRpc, isObject, type JsonObject, type Rpc } from '../chains/rpc.ts';
import { messageHash, readSolanaPayment } from '../chains/solana-transaction.ts';
import { Refusal } from '../refusal.ts';
import type { Authorization } from './authorization.ts';
import { checkAmount } from './checks.ts';
import { malformed, readText } from './fields.ts';

export interface SolanaAuthorization extends Authorization {
  readonly kind: 'solana';
  readonly endsAt: undefined;
  /** Token account that is charged. */
  readonly source: string;
}

/** `transaction` in base64. Throws Refusal `malformed-credential`. */
export function readSolana(transaction: unknown): SolanaAuthorization {
  const expected = 'a signed Solana transaction in base64 with one TransferChecked';
  const wire = readText(transaction, 'payload.transaction', /^[A-Za-z0-9+/]+={0,2}$/, expected);
  const payment = decode(wire, expected);
  const { authority, blockhash, source, mint, amount } = payment;
  return {
    kind: 'solana',
    scheme: 'exact',
    payer: authority,
    source,
    // A blockhash is good for a number of blocks: only the chain knows how many are left.
    endsAt: undefined,
    shown: wire,
    payload: { transaction: wire },
    // What every signer commits to: the same whatever signatures stand around it.
    identity: (chain) => `solana:${chain}:${payment.messageHash}`,
    check(terms) {
      checkAmount(amount, terms.amount);
      if (mint === terms.asset) return;
      throw new Refusal('verification-failed', `the payment is in ${mint}, asked is ${terms.asset}`);
    },
    recoveryQuery: () => ({ kind: 'solana', source, messageHash: payment.messageHash, blockhash }),
  };
}

function decode(wire: string, expected: string) {
  try {
    return readSolanaPayment(wire);
  } catch {
    throw malformed('payload.transaction', expected);
  }
}

export interface SolanaQuery {
  readonly rpcUrl: string;
  /** Token account that is charged. */
  readonly source: string;
  /** SHA-256 of the transaction's message, hex: see `readSolanaPayment`. */
  readonly messageHash: string;
  readonly blockhash: string;
  /** Milliseconds since the epoch when the payment was first seen. */
  readonly since: number;
  /** Milliseconds since the epoch. Default: now. */
  readonly now?: number;
}

/** The payer may have signed this long before the payment was seen; also covers clocks that differ. */
const LOOK_BACK_MS = 180_000;
/** A blockhash younger than this may be missing from the finalized bank because it is too new, not too old. */
const FINALITY_MS = 60_000;
const PAGE = 1_000;
const MOST_PAGES = 10;

interface History {
  readonly rows: readonly JsonObject[];
  /** False where the history is longer than we read. */
  readonly complete: boolean;
}

/** The token account's transactions, newest first, back to the time `from` (seconds since the epoch). */
async function readHistory(rpc: Rpc, source: string, from: number): Promise<History> {
  const rows: JsonObject[] = [];
  let before: unknown;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const options = { limit: PAGE, commitment: 'confirmed', ...(before ? { before } : {}) };
    const answer = await rpc('getSignaturesForAddress', [source, options]);
    const found = Array.isArray(answer) ? answer.filter(isObject) : [];
    const young = found.filter((row) => typeof row.blockTime !== 'number' || row.blockTime >= from);
    rows.push(...young);
    if (found.length < PAGE || young.length < found.length) return { rows, complete: true };
    before = found.at(-1)?.signature;
  }
  return { rows, complete: false };
}

async function find(query: SolanaQuery): Promise<Settlement> {
  const rpc = createRpc(query.rpcUrl);
  // Asked before the history is read: a transaction that lands in between is then found or leaves it unknown.
  const valid = await rpc('isBlockhashValid', [query.blockhash, { commitment: 'finalized' }]);
  const expired = isObject(valid) && valid.value === false;
  const { rows, complete } = await readHistory(rpc, query.source, (query.since - LOOK_BACK_MS) / 1_000);
  let unread = 0;
  for (const row of rows) {
    const signature = String(row.signature);
    const options = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
    const found = await rpc('getTransaction', [signature, options]);
    const wire = isObject(found) && Array.isArray(found.transaction) ? found.transaction[0] : undefined;
    if (typeof wire !== 'string') {
      unread += 1;
      continue;
    }
    if (messageHash(Buffer.from(wire, 'base64')) !== query.messageHash) continue;
    if (row.err) return refused('the transaction failed on the chain');
    return { state: 'settled', transaction: signature, amount: readSolanaPayment(wire).amount };
  }
  if (unread > 0 || !complete) return unknown('the history of the payer could not be read in full');
  if (expired && (query.now ?? Date.now()) - query.since > FINALITY_MS) {
    return refused('the transaction expired without reaching the chain');
  }
  return unknown('the transaction has not reached the chain yet');
}

/** What became of a transaction. Never throws: what cannot be asked is `unknown`. */
export const findSolanaSettlement = (query: SolanaQuery): Promise<Settlement> => orUnknown(find(query));
