/** A Solana transaction with one token transfer, signed by its payer and completed by the fee payer. */

import { isJsonObject, type JsonObject } from '../../json.ts';
import { refused, type Settlement, unknown, unused } from '../../on-chain/settlement.ts';
import { type Looks, openLooks } from '../chains/looks.ts';
import { createRpc, type Rpc } from '../chains/rpc.ts';
import { blockhashGoodForMs } from '../chains/solana-blockhash.ts';
import { finalizedMoment } from '../chains/solana-clock.ts';
import { messageHash, readSolanaPayment } from '../chains/solana-transaction.ts';
import { Refusal } from '../refusal.ts';
import { SETTLE_MARGIN_MS, tooShort } from '../settle-upfront.ts';
import type { Authorization, Terms } from './authorization.ts';
import { checkAmount } from './checks.ts';
import { malformed, readText } from './fields.ts';

export interface SolanaAuthorization extends Authorization {
  readonly kind: 'solana';
  readonly endsAt: undefined;
  /** Token account that is charged. */
  readonly source: string;
  /** Token account that receives, and the program of both. */
  readonly destination: string;
  readonly tokenProgram: string;
  readonly blockhash: string;
}

export const isSolana = (authorization: Authorization): authorization is SolanaAuthorization =>
  authorization.kind === 'solana';

/** `transaction` in base64. Throws Refusal `malformed-credential`. */
export function readSolana(transaction: unknown): SolanaAuthorization {
  const expected = 'a signed Solana transaction in base64 with one TransferChecked';
  const wire = readText(transaction, 'payload.transaction', /^[A-Za-z0-9+/]+={0,2}$/, expected);
  const payment = decode(wire, expected);
  const { authority, blockhash, source, destination, tokenProgram, mint, amount, isDurable } = payment;
  return {
    kind: 'solana',
    scheme: 'exact',
    payer: authority,
    source,
    destination,
    tokenProgram,
    blockhash,
    // A blockhash is good for a number of blocks: only the chain knows how many are left.
    endsAt: undefined,
    shown: wire,
    payload: { transaction: wire },
    // What every signer commits to: the same whatever signatures stand around it.
    identity: (chain) => `solana:${chain}:${payment.messageHash}`,
    check(terms) {
      checkAmount(amount, terms.amount);
      const fail = (reason: string) => new Refusal('verification-failed', reason);
      if (mint !== terms.asset) throw fail(`the payment is in ${mint}, asked is ${terms.asset}`);
      // Nobody could ever say that it will not be settled.
      if (isDurable) throw fail('the transaction is bound to a durable nonce: sign with a recent blockhash instead');
    },
    recoveryQuery: () => ({ kind: 'solana', source, messageHash: payment.messageHash, blockhash }),
  };
}

/** By seller, mint and program: to derive one takes as long as many checks of a payment. */
const ownAccounts = new Map<string, string>();

/** Has to go to the seller's own token account. Throws Refusal. */
export async function demandDestination(
  { destination, tokenProgram }: Pick<SolanaAuthorization, 'destination' | 'tokenProgram'>,
  { payTo, asset }: Pick<Terms, 'payTo' | 'asset'>,
): Promise<void> {
  const key = `${payTo} ${asset} ${tokenProgram}`;
  // Where nobody pays on Solana its packages are not loaded.
  const { tokenAccountOf } = await import('../chains/solana-token-account.ts');
  const own = ownAccounts.get(key) ?? (await tokenAccountOf(payTo, asset, tokenProgram));
  ownAccounts.set(key, own);
  if (destination === own) return;
  throw new Refusal('verification-failed', `the payment goes to ${destination}, asked is ${own}`);
}

/**
 * What ends before it can be settled buys no work. `deadlineMs` is what may pass before that: 0 where it is settled at
 * once. Throws Refusal.
 */
export async function demandBlockhash(
  rpcUrl: string,
  { blockhash }: Pick<SolanaAuthorization, 'blockhash'>,
  deadlineMs: number,
): Promise<void> {
  const asked = blockhashGoodForMs(createRpc(rpcUrl), blockhash).catch((cause: unknown) => {
    throw new Refusal('verification-failed', 'the payment could not be checked at the moment: try again', { cause });
  });
  const goodForMs = await asked;
  if (goodForMs < SETTLE_MARGIN_MS.blockhash) {
    throw new Refusal('payment-expired', 'the blockhash of the transaction has expired: sign a new one');
  }
  if (goodForMs < deadlineMs + SETTLE_MARGIN_MS.blockhash) throw tooShort();
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

/** The payer may have signed this long before the payment was seen. */
const LOOK_BACK_MS = 180_000;
/** A node may not know a blockhash that is younger than this by its chain's clock: one that stood still knows nothing of it. */
const FINALITY_MS = 60_000;
/**
 * A blockhash lives for 150 blocks, a minute or so, counted from when it was last seen to be valid: a chain that stands
 * still keeps it alive. What reached the chain this long after that is another payment.
 */
const LIFE_MS = 600_000;
const PAGE = 1_000;

/** How far a search came. */
export interface HistoryProgress {
  /** Milliseconds since the epoch: the blockhash was still valid then. */
  validAt: number;
  /** A signature: it and everything newer in the history was looked at. */
  before: string;
}

type Step = { readonly signature: string; readonly row: JsonObject };

/** The token account's transactions, newest first, from `before` on. */
async function* historyOf(
  rpc: Rpc,
  source: string,
  before: string | undefined,
  minContextSlot: number,
): AsyncGenerator<Step> {
  for (let last = before; ; ) {
    const from = last === undefined ? {} : { before: last };
    const options = { limit: PAGE, commitment: 'confirmed', minContextSlot, ...from };
    const answer = await rpc('getSignaturesForAddress', [source, options]);
    // Anything else would say that there are none.
    if (!Array.isArray(answer)) throw new Error('the history of the payer could not be read');
    const rows = answer.filter(isJsonObject);
    for (const row of rows) yield { signature: String(row.signature), row };
    if (rows.length < PAGE) return;
    last = String(rows.at(-1)?.signature);
  }
}

async function find(query: SolanaQuery, rpc: Rpc, progress: Partial<HistoryProgress>): Promise<Settlement> {
  const now = query.now ?? Date.now();
  // Several nodes may stand behind one address: none that has not come as far as this one answers what follows.
  const { slot: minContextSlot, time } = await finalizedMoment(rpc);
  // Asked before the history is read: a transaction that lands in between is then found or leaves it unknown.
  const hasEnded = async (commitment: string): Promise<boolean> => {
    const valid = await rpc('isBlockhashValid', [query.blockhash, { commitment, minContextSlot }]);
    return isJsonObject(valid) && valid.value === false;
  };
  // In the finalized bank alone it may be too new.
  const isInvalid = (await hasEnded('finalized')) && (await hasEnded('processed'));
  if (!isInvalid) progress.validAt = now;
  const isOver = isInvalid && Math.min(now, time) - query.since > FINALITY_MS;
  // The clock that dated it may be wrong, by any time, and transactions are dated by the chain's.
  const aheadMs = now - time;
  const oldest = (query.since - Math.max(0, aheadMs) - LOOK_BACK_MS) / 1_000;
  const newest = (Math.max(query.since, progress.validAt ?? 0) + Math.max(0, -aheadMs) + LIFE_MS) / 1_000;
  let isComplete = true;
  for await (const { signature, row } of historyOf(rpc, query.source, progress.before, minContextSlot)) {
    const time = typeof row.blockTime === 'number' ? row.blockTime : undefined;
    if (time !== undefined && time < oldest) break;
    if (time === undefined || time <= newest) {
      const options = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
      const found = await rpc('getTransaction', [signature, options]);
      const wire = isJsonObject(found) && Array.isArray(found.transaction) ? found.transaction[0] : undefined;
      if (typeof wire !== 'string') isComplete = false;
      else if (messageHash(Buffer.from(wire, 'base64')) === query.messageHash) {
        if (row.err) return refused('the transaction failed on the chain');
        return { state: 'settled', transaction: signature, amount: readSolanaPayment(wire).amount };
      }
    }
    // Until then a transaction of the payment may still come in among the newest.
    if (isOver && isComplete) progress.before = signature;
  }
  if (!isComplete) return unknown('the history of the payer could not be read in full');
  return isOver
    ? refused('the transaction expired without reaching the chain')
    : unused('the transaction has not reached the chain yet');
}

/** What became of a transaction. Never throws: what cannot be asked is `unknown`. */
export const findSolanaSettlement = (
  query: SolanaQuery,
  looks: Looks<HistoryProgress> = openLooks(),
): Promise<Settlement> =>
  looks.look(query.rpcUrl, `solana ${query.messageHash}`, (rpc, progress) => find(query, rpc, progress));
