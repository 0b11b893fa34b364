/**
 * What a wallet got on Solana: how its balances of the token changed with each transaction of its token account, whatever
 * the instructions were (JSON-RPC `getSignaturesForAddress`, and `getTransaction` with its token balances).
 */
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { Incoming, IncomingReader, TokenHolder } from './incoming.ts';
import type { Rpc } from './rpc.ts';
import { tokenAccountOf } from './solana-token-account.ts';

const PAGE = 1_000;
const COMMITMENT = { commitment: 'confirmed' };

/** By the token's program, which owns its mint. */
async function accountOf(rpc: Rpc, { asset, payTo }: TokenHolder): Promise<string> {
  const answer = await rpc('getAccountInfo', [asset, { encoding: 'base64', ...COMMITMENT }]);
  const mint = isJsonObject(answer) && isJsonObject(answer.value) ? answer.value : undefined;
  if (typeof mint?.owner !== 'string') throw new Error(`the chain does not have the token ${asset}`);
  return tokenAccountOf(payTo, asset, mint.owner);
}

/** Signatures of the account's transactions that succeeded in the period, newest first. */
async function* signaturesOf(rpc: Rpc, account: string, from: number, to: number): AsyncGenerator<string> {
  for (let before: string | undefined; ; ) {
    const options = { limit: PAGE, ...COMMITMENT, ...(before !== undefined && { before }) };
    const answer = await rpc('getSignaturesForAddress', [account, options]);
    if (!Array.isArray(answer)) throw new Error('the history of the address could not be read');
    for (const row of answer.filter(isJsonObject)) {
      const at = typeof row.blockTime === 'number' ? row.blockTime * 1_000 : undefined;
      if (at !== undefined && at < from) return;
      if (!row.err && (at === undefined || at < to)) yield String(row.signature);
    }
    if (answer.length < PAGE) return;
    before = String(Object(answer.at(-1)).signature);
  }
}

/** What each owner's accounts of the token had, before the transaction or after it. */
function balances(meta: JsonObject, which: 'preTokenBalances' | 'postTokenBalances', asset: string) {
  const found = new Map<string, bigint>();
  const rows = meta[which];
  if (!Array.isArray(rows)) throw new Error('the node tells no token balances');
  for (const { mint, owner, uiTokenAmount } of rows.filter(isJsonObject)) {
    if (mint !== asset || !isJsonObject(uiTokenAmount)) continue;
    found.set(String(owner), (found.get(String(owner)) ?? 0n) + BigInt(String(uiTokenAmount.amount)));
  }
  return found;
}

function gainIn(transaction: string, meta: JsonObject, { asset, payTo }: TokenHolder): Incoming[] {
  if (meta.err) return [];
  const before = balances(meta, 'preTokenBalances', asset);
  const after = balances(meta, 'postTokenBalances', asset);
  const change = (owner: string) => (after.get(owner) ?? 0n) - (before.get(owner) ?? 0n);
  const payer = [...before.keys()].find((owner) => change(owner) < 0n) ?? 'unknown';
  return change(payTo) > 0n ? [{ transaction, amount: change(payTo), payer }] : [];
}

async function metaOf(rpc: Rpc, transaction: string): Promise<JsonObject | undefined> {
  const options = { encoding: 'base64', maxSupportedTransactionVersion: 0, ...COMMITMENT };
  const found = await rpc('getTransaction', [transaction, options]);
  return isJsonObject(found) && isJsonObject(found.meta) ? found.meta : undefined;
}

export const solanaIncoming: IncomingReader = {
  async *between(rpc, holder, from, to) {
    const account = await accountOf(rpc, holder);
    for await (const transaction of signaturesOf(rpc, account, from, to)) {
      const meta = await metaOf(rpc, transaction);
      if (!meta) throw new Error(`the node lists transaction ${transaction} and does not have it`);
      yield* gainIn(transaction, meta, holder);
    }
  },

  async with(rpc, holder, transaction) {
    const meta = await metaOf(rpc, transaction);
    return meta ? gainIn(transaction, meta, holder) : [];
  },
};
