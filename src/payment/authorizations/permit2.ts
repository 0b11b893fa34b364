/** Uniswap's Permit2, as x402's `upto` scheme uses it: a permit for an upper bound, settled for what was used. */

import { isJsonObject, type JsonObject } from '../../json.ts';
import { refused, type Settlement, unknown, unused } from '../../on-chain/settlement.ts';
import {
  DAY_SECONDS,
  EXPIRY_MARGIN_SECONDS,
  findLog,
  type LogProgress,
  nothingUntil,
  numberWord,
  quantity,
  readBlock,
  SEEN_BY_ALL_SECONDS,
  same,
  TRANSFER,
  word,
} from '../chains/evm-logs.ts';
import { type Looks, openLooks } from '../chains/looks.ts';
import type { Rpc } from '../chains/rpc.ts';
import type { Authorization } from './authorization.ts';
import { checkAsset } from './checks.ts';
import { readCounterfactual } from './counterfactual.ts';
import type { Approval } from './eip2612.ts';
import { readAddress, readObject, readSignature, readUint } from './fields.ts';

export interface Permit2Authorization extends Authorization {
  readonly kind: 'permit2';
  readonly endsAt: number;
  /** The most that may be taken, in atomic units. */
  readonly amount: bigint;
  /** By which Permit2 may move the payer's tokens where it may not already. */
  readonly approval: Approval | undefined;
}

export const isPermit2 = (authorization: Authorization): authorization is Permit2Authorization =>
  authorization.kind === 'permit2';

/** `permit` is x402's `permit2Authorization`. Throws Refusal `malformed-credential`. */
export function readPermit2(permit: JsonObject, signature: unknown, approval?: Approval): Permit2Authorization {
  const at = 'payload.permit2Authorization';
  const permitted = readObject(permit.permitted, `${at}.permitted`);
  const from = readAddress(permit.from, `${at}.from`);
  const token = readAddress(permitted.token, `${at}.permitted.token`);
  const amount = readUint(permitted.amount, `${at}.permitted.amount`);
  // However it is spelt: Permit2 knows it as a number.
  const nonce = readUint(permit.nonce, `${at}.nonce`).toString();
  const deadline = readUint(permit.deadline, `${at}.deadline`);
  const given = readSignature(signature, 'payload.signature');
  const counterfactual = readCounterfactual(given, 'payload.signature');
  // Permit2 asks the wallet itself, which knows nothing of what deploys it.
  const signed = counterfactual?.signature ?? given;
  return {
    kind: 'permit2',
    scheme: 'upto',
    payer: from,
    // Both are handed in after the work.
    endsAt: Math.min(Number(deadline) * 1000, approval?.endsAt ?? Number.POSITIVE_INFINITY),
    amount,
    approval,
    isCounterfactual: counterfactual !== undefined,
    shown: signed.toLowerCase(),
    // The whole permit as it was signed: its witness is the scheme's own.
    payload: { signature: signed, permit2Authorization: permit },
    identity: (chain) => `permit2:${chain}:${from}:${nonce}`,
    check({ asset }) {
      checkAsset(token, asset);
      approval?.check({ payer: from, token, spender: PERMIT2, amount });
    },
    recoveryQuery: ({ asset, payTo }) => ({ kind: 'permit2', asset, payTo, nonce, deadline: Number(deadline) }),
  };
}

export interface Permit2Query {
  readonly rpcUrl: string;
  /** The token's address. */
  readonly asset: string;
  readonly payer: string;
  readonly payTo: string;
  /** In decimals. */
  readonly nonce: string;
  /** Seconds since the epoch: after it Permit2 refuses the permit. */
  readonly deadline: number;
  /** Seconds since the epoch: it cannot have been used earlier. Default: one day before `deadline`. */
  readonly since?: number;
}

export const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
/** keccak256 of nonceBitmap(address,uint256). */
const NONCE_BITMAP = '0x4fe02b44';

/** The contract that settles `upto` permits (x402UptoPermit2Proxy; @x402/evm, x402UptoPermit2ProxyAddress). */
const UPTO_PROXY = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002';
/**
 * Selectors of its settle(permit, amount, owner, witness, signature) and settleWithPermit(permit2612, the same), with
 * the words before `permit`. All of these are static, so each field has its place: token, permitted amount, nonce,
 * deadline, amount, owner, to, facilitator, valid after.
 */
const SETTLE = { selector: '0xff11e7b4', skipped: 0 };
const SETTLE_WITH_PERMIT = { selector: '0x016c1748', skipped: 5 };

/** Whether the transaction, which moved the token from the payer to us, settled this permit. Throws where the node does not have it. */
function settles(transaction: unknown, { asset, payer, payTo, nonce }: Permit2Query): boolean {
  if (!isJsonObject(transaction)) {
    throw new Error("the chain's node tells of a transfer and does not have its transaction");
  }
  if (!same(transaction.to, UPTO_PROXY)) return false;
  const input = String(transaction.input).toLowerCase();
  const call = [SETTLE, SETTLE_WITH_PERMIT].find(({ selector }) => input.startsWith(selector));
  if (!call) return false;
  const wordAt = (place: number): string =>
    input
      .slice(10)
      .slice((call.skipped + place) * 64)
      .slice(0, 64);
  return (
    wordAt(0) === word(asset) &&
    wordAt(2) === numberWord(nonce) &&
    wordAt(5) === word(payer) &&
    wordAt(6) === word(payTo)
  );
}

async function find(query: Permit2Query, rpc: Rpc, progress: Partial<LogProgress>): Promise<Settlement> {
  const nonce = BigInt(query.nonce);
  const latest = await readBlock(rpc, 'latest');
  const data = `${NONCE_BITMAP}${word(query.payer)}${numberWord(nonce >> 8n)}`;
  const bitmap = String(await rpc('eth_call', [{ to: PERMIT2, data }, quantity(latest.number)]));
  if (!/^0x[0-9a-f]{64}$/i.test(bitmap)) return unknown('the chain has no Permit2');
  if (((BigInt(bitmap) >> (nonce & 0xffn)) & 1n) === 0n) {
    nothingUntil(latest, progress);
    return latest.timestamp >= query.deadline + EXPIRY_MARGIN_SECONDS
      ? refused('the permit expired without being used')
      : unused('the permit has not been used yet');
  }
  const until = query.deadline + SEEN_BY_ALL_SECONDS;
  // Permit2 logs no nonces, but the settling call carries it.
  const topics = [TRANSFER, `0x${word(query.payer)}`, `0x${word(query.payTo)}`];
  const span = { since: query.since ?? query.deadline - DAY_SECONDS, until, latest };
  const transfer = await findLog(rpc, { address: query.asset, topics }, span, progress, async (log) => {
    return settles(await rpc('eth_getTransactionByHash', [log.transactionHash]), query);
  });
  if (transfer) {
    return { state: 'settled', transaction: String(transfer.transactionHash), amount: BigInt(String(transfer.data)) };
  }
  // The payer can make its permit void without any transfer.
  return latest.timestamp >= until
    ? refused('the permit expired without a transfer to us')
    : unknown('the permit was used, but no transfer of it to us was found');
}

/** What became of a permit. Never throws: what cannot be asked is `unknown`. */
export const findPermit2Settlement = (
  query: Permit2Query,
  looks: Looks<LogProgress> = openLooks(),
): Promise<Settlement> => {
  const { rpcUrl, asset, payer, payTo, nonce, deadline } = query;
  const payment = ['permit2', asset, payer, payTo, nonce, deadline].join(' ');
  return looks.look(rpcUrl, payment, (rpc, progress) => find(query, rpc, progress));
};
