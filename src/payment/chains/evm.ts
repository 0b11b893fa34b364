/** Asks an EVM chain what became of an EIP-3009 authorization (EIP-3009: Transfer With Authorization). */
import { DAY_SECONDS, EXPIRY_MARGIN_SECONDS, findLog, quantity, readBlock, same, TRANSFER, word } from './evm-logs.ts';
import { type ChainOutcome, unknown, unsettled } from './outcome.ts';
import { createRpc, isObject, type JsonObject } from './rpc.ts';

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
  return (Array.isArray(receipt.logs) ? receipt.logs.filter(isObject) : [])
    .filter((log) => same(log.address, query.asset) && Array.isArray(log.topics) && log.topics[0] === TRANSFER)
    .filter((log) => Array.isArray(log.topics) && same(log.topics[1], `0x${word(query.payer)}`))
    .filter((log) => behind(log) > 0)
    .sort((left, right) => behind(left) - behind(right))[0];
}

async function find(query: Eip3009Query): Promise<ChainOutcome> {
  const rpc = createRpc(query.rpcUrl);
  const latest = await readBlock(rpc, 'latest');
  const call = { to: query.asset, data: `${AUTHORIZATION_STATE}${word(query.payer)}${word(query.nonce)}` };
  const state = String(await rpc('eth_call', [call, quantity(latest.number)]));
  if (!/^0x[0-9a-f]{64}$/i.test(state)) return unknown('the token does not tell the state of authorizations');
  if (BigInt(state) === 0n) {
    return latest.timestamp >= query.validBefore + EXPIRY_MARGIN_SECONDS
      ? unsettled('the authorization expired without being used')
      : unknown('the authorization has not been used yet');
  }
  const topics = [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], `0x${word(query.payer)}`, `0x${word(query.nonce)}`];
  const since = query.since ?? query.validBefore - DAY_SECONDS;
  const use = await findLog(rpc, { address: query.asset, topics }, { last: latest.number, since });
  if (!use) return unknown('the authorization was used, but no log of it was found');
  if (Array.isArray(use.topics) && use.topics[0] === AUTHORIZATION_CANCELED) {
    return unsettled('the payer cancelled the authorization');
  }
  const transaction = String(use.transactionHash);
  const receipt = await rpc('eth_getTransactionReceipt', [transaction]);
  if (!isObject(receipt)) return unknown('the settling transaction has no receipt yet');
  const transfer = transferOf(receipt, use, query);
  if (!transfer) return unknown('the settling transaction shows no transfer of the payer');
  if (!Array.isArray(transfer.topics) || !same(transfer.topics[2], `0x${word(query.payTo)}`)) {
    return unsettled('the payer used the nonce for a transfer to someone else');
  }
  const amount = BigInt(String(transfer.data));
  if (amount !== BigInt(query.value)) return unsettled('the payer used the nonce for another amount');
  return { state: 'settled', transaction, amount };
}

/** Never throws: what cannot be asked is `unknown`. */
export async function findEip3009Settlement(query: Eip3009Query): Promise<ChainOutcome> {
  try {
    return await find(query);
  } catch (error) {
    return unknown(error instanceof Error ? error.message : 'the chain could not be asked');
  }
}
