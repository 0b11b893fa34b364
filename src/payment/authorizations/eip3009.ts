/** EIP-3009: Transfer With Authorization, as USDC and other tokens on EVM chains take it. */

import { isJsonObject, type JsonObject } from '../../json.ts';
import { refused, type Settlement, unknown, unused } from '../../on-chain/settlement.ts';
import {
  DAY_SECONDS,
  EXPIRY_MARGIN_SECONDS,
  findLog,
  type LogProgress,
  nothingUntil,
  quantity,
  readBlock,
  SEEN_BY_ALL_SECONDS,
  same,
  TRANSFER,
  word,
} from '../chains/evm-logs.ts';
import { type Looks, openLooks } from '../chains/looks.ts';
import type { Rpc } from '../chains/rpc.ts';
import { Refusal } from '../refusal.ts';
import type { Authorization } from './authorization.ts';
import { checkAmount, checkRecipient } from './checks.ts';
import { readCounterfactual } from './counterfactual.ts';
import { readAddress, readSignature, readUint, readWord } from './fields.ts';

export interface Eip3009Authorization extends Authorization {
  readonly kind: 'eip3009';
  /** 32 bytes in hex, lower case. */
  readonly nonce: string;
  readonly endsAt: number;
}

/** The same for the same authorization on every rail: what the token itself remembers of it. */
export const eip3009Identity = (chain: string, asset: string, from: string, nonce: string): string =>
  `eip3009:${chain}:${asset}:${from}:${nonce}`.toLowerCase();

/** The members of a signed message, whichever function takes it. `at` names them in errors. Throws Refusal `malformed-credential`. */
export const readMessage = (fields: JsonObject, at: string) => ({
  from: readAddress(fields.from, `${at}.from`),
  to: readAddress(fields.to, `${at}.to`),
  value: readUint(fields.value, `${at}.value`),
  validAfter: readUint(fields.validAfter, `${at}.validAfter`),
  validBefore: readUint(fields.validBefore, `${at}.validBefore`),
  nonce: readWord(fields.nonce, `${at}.nonce`),
});

/** `fields` are those of the signed message; `at` names them in errors. Throws Refusal `malformed-credential`. */
export function readEip3009(fields: JsonObject, signature: unknown, at = 'payload'): Eip3009Authorization {
  const { from, to, value, validAfter, validBefore, nonce } = readMessage(fields, at);
  const signed = readSignature(signature, 'payload.signature');
  const counterfactual = readCounterfactual(signed, 'payload.signature');
  const [amount, after, before] = [value, validAfter, validBefore].map(String);
  return {
    kind: 'eip3009',
    scheme: 'exact',
    payer: from,
    nonce,
    endsAt: Number(validBefore) * 1000,
    isCounterfactual: counterfactual !== undefined,
    // The token gets what the wallet itself signed, with or without what deploys it.
    shown: (counterfactual?.signature ?? signed).toLowerCase(),
    payload: {
      signature: signed,
      authorization: { from, to, value: amount, validAfter: after, validBefore: before, nonce },
    },
    identity: (chain, asset) => eip3009Identity(chain, asset, from, nonce),
    check(terms, now) {
      const seconds = BigInt(Math.floor(now / 1000));
      checkAmount(value, terms.amount);
      checkRecipient(to, terms.payTo);
      if (validBefore <= seconds) throw new Refusal('payment-expired', 'the authorization has expired: sign a new one');
      if (validAfter <= seconds) return;
      throw new Refusal('verification-failed', 'the authorization is not valid yet: see validAfter');
    },
    recoveryQuery: ({ asset, payTo }) => ({
      kind: 'eip3009',
      asset,
      payTo,
      nonce,
      value: value.toString(),
      validBefore: Number(validBefore),
    }),
  };
}

export interface Eip3009Query {
  readonly rpcUrl: string;
  /** The token's address. */
  readonly asset: string;
  readonly payer: string;
  readonly payTo: string;
  /** Atomic units that the authorization moves, in decimals. */
  readonly value: string;
  /** 32 bytes in hex. */
  readonly nonce: string;
  /** Seconds since the epoch: from then on the token refuses the authorization. */
  readonly validBefore: number;
  /** Seconds since the epoch: it cannot have been used earlier. Default: one day before `validBefore`. */
  readonly since?: number;
}

/** keccak256 of the signatures of EIP-3009's functions and events. */
const AUTHORIZATION_STATE = '0xe94a0102';
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
const AUTHORIZATION_CANCELED = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81';

/**
 * The payer's transfer that belongs to the use: the first one after it in the same receipt, as in EIP-3009's reference
 * and in FiatToken. One before it is another payment's: whoever sends the transaction can put any there.
 */
function transferOf(receipt: JsonObject, use: JsonObject, query: Eip3009Query): JsonObject | undefined {
  const behind = (log: JsonObject): number => Number(log.logIndex) - Number(use.logIndex);
  return (Array.isArray(receipt.logs) ? receipt.logs.filter(isJsonObject) : [])
    .filter((log) => same(log.address, query.asset) && Array.isArray(log.topics) && log.topics[0] === TRANSFER)
    .filter((log) => Array.isArray(log.topics) && same(log.topics[1], `0x${word(query.payer)}`))
    .filter((log) => behind(log) > 0)
    .sort((left, right) => behind(left) - behind(right))[0];
}

async function find(query: Eip3009Query, rpc: Rpc, progress: Partial<LogProgress>): Promise<Settlement> {
  const latest = await readBlock(rpc, 'latest');
  const call = { to: query.asset, data: `${AUTHORIZATION_STATE}${word(query.payer)}${word(query.nonce)}` };
  const state = String(await rpc('eth_call', [call, quantity(latest.number)]));
  if (!/^0x[0-9a-f]{64}$/i.test(state)) return unknown('the token does not tell the state of authorizations');
  if (BigInt(state) === 0n) {
    nothingUntil(latest, progress);
    return latest.timestamp >= query.validBefore + EXPIRY_MARGIN_SECONDS
      ? refused('the authorization expired without being used')
      : unused('the authorization has not been used yet');
  }
  const until = query.validBefore + SEEN_BY_ALL_SECONDS;
  const topics = [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], `0x${word(query.payer)}`, `0x${word(query.nonce)}`];
  const span = { since: query.since ?? query.validBefore - DAY_SECONDS, until, latest };
  const use = await findLog(rpc, { address: query.asset, topics }, span, progress);
  if (!use) {
    // Its log has to be there: the node that showed none was behind the one that told of the use.
    delete progress.next;
    // The payer can cancel it, or use its nonce for another, after it has expired.
    return latest.timestamp >= until
      ? refused('the authorization expired before it was used')
      : unknown('the authorization was used, but no log of it was found');
  }
  if (Array.isArray(use.topics) && use.topics[0] === AUTHORIZATION_CANCELED) {
    return refused('the payer cancelled the authorization');
  }
  const transaction = String(use.transactionHash);
  const receipt = await rpc('eth_getTransactionReceipt', [transaction]);
  if (!isJsonObject(receipt)) return unknown('the settling transaction has no receipt yet');
  const transfer = transferOf(receipt, use, query);
  if (!transfer) return unknown('the settling transaction shows no transfer of the payer');
  if (!Array.isArray(transfer.topics) || !same(transfer.topics[2], `0x${word(query.payTo)}`)) {
    return refused('the payer used the nonce for a transfer to someone else');
  }
  const amount = BigInt(String(transfer.data));
  if (amount !== BigInt(query.value)) return refused('the payer used the nonce for another amount');
  return { state: 'settled', transaction, amount };
}

/** What became of an authorization. Never throws: what cannot be asked is `unknown`. */
export const findEip3009Settlement = (
  query: Eip3009Query,
  looks: Looks<LogProgress> = openLooks(),
): Promise<Settlement> => {
  const { rpcUrl, asset, payer, payTo, value, nonce, validBefore } = query;
  const payment = ['eip3009', asset, payer, payTo, value, nonce, validBefore].join(' ');
  return looks.look(rpcUrl, payment, (rpc, progress) => find(query, rpc, progress));
};
