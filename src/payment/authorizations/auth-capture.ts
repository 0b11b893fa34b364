/** x402's `auth-capture`: an EIP-3009 authorization by which an escrow locks what the gateway may take after the work. */

import { isJsonObject, type JsonObject } from '../../json.ts';
import { EIP3009_COLLECTOR, ESCROW } from '../../on-chain/escrow-contracts.ts';
import { heldForUs, refused, type Settlement, unknown, unused } from '../../on-chain/settlement.ts';
import {
  EXPIRY_MARGIN_SECONDS,
  findLog,
  type LogProgress,
  nothingUntil,
  quantity,
  readBlock,
  same,
  word,
} from '../chains/evm-logs.ts';
import { type Looks, openLooks } from '../chains/looks.ts';
import type { Rpc } from '../chains/rpc.ts';
import { authorizationNonce, type PaymentInfo, paymentHash } from '../escrow/payment-info.ts';
import { Refusal } from '../refusal.ts';
import type { Authorization } from './authorization.ts';
import { checkAmount, checkAsset, checkRecipient } from './checks.ts';
import { readCounterfactual } from './counterfactual.ts';
import { eip3009Identity, readMessage } from './eip3009.ts';
import { malformed, readSignature, readWord } from './fields.ts';

export interface AuthCaptureAuthorization extends Authorization {
  readonly kind: 'auth-capture';
  readonly info: PaymentInfo;
  readonly signature: string;
}

/** What an entry of `accepts` says of a hold, as its payer echoes it. */
export interface HoldTerms {
  readonly operator: string;
  /** Seconds since the epoch. */
  readonly captureDeadline: number;
  readonly asset: string;
  readonly payTo: string;
  readonly amount: string;
}

export const isHold = (authorization: Authorization): authorization is AuthCaptureAuthorization =>
  authorization.kind === 'auth-capture';

/** `payload` is the scheme's. Throws Refusal `malformed-credential`. */
export function readAuthCapture(payload: JsonObject, terms: HoldTerms, chainId: number): AuthCaptureAuthorization {
  const at = 'payload.authorization';
  const { authorization } = payload;
  if (!isJsonObject(authorization)) throw malformed(at, 'an object: holds are signed by EIP-3009 here');
  const { from, to, value, validAfter, validBefore, nonce } = readMessage(authorization, at);
  const signature = readSignature(payload.signature, 'payload.signature');
  const counterfactual = readCounterfactual(signature, 'payload.signature');
  // The chain's clock has 48 bits.
  if (validBefore > 2n ** 48n - 1n) throw malformed(`${at}.validBefore`, 'a time in seconds');
  const info: PaymentInfo = {
    operator: terms.operator.toLowerCase(),
    payer: from,
    receiver: terms.payTo.toLowerCase(),
    token: terms.asset.toLowerCase(),
    maxAmount: value.toString(),
    preApprovalExpiry: Number(validBefore),
    authorizationExpiry: terms.captureDeadline,
    salt: readWord(payload.salt, 'payload.salt'),
  };
  return {
    kind: 'auth-capture',
    scheme: 'auth-capture',
    payer: from,
    info,
    signature,
    isCounterfactual: counterfactual !== undefined,
    // The token gets what the wallet itself signed, with or without what deploys it.
    shown: (counterfactual?.signature ?? signature).toLowerCase(),
    endsAt: Number(validBefore) * 1000,
    payload: { authorization, signature, salt: payload.salt },
    identity: (chain, asset) => eip3009Identity(chain, asset, from, nonce),
    check({ asset, payTo, amount }, now) {
      const seconds = BigInt(Math.floor(now / 1000));
      checkAmount(value, amount);
      checkAsset(terms.asset, asset);
      checkRecipient(terms.payTo, payTo);
      if (!same(to, EIP3009_COLLECTOR)) {
        throw new Refusal('verification-failed', `the authorization goes to ${to}, asked is ${EIP3009_COLLECTOR}`);
      }
      if (nonce !== authorizationNonce(chainId, info)) {
        throw new Refusal('verification-failed', 'the nonce is not that of the terms that are echoed: sign again');
      }
      if (validBefore <= seconds) throw new Refusal('payment-expired', 'the authorization has expired: sign a new one');
      if (validBefore > BigInt(info.authorizationExpiry)) {
        throw new Refusal(
          'verification-failed',
          'the authorization ends after the capture deadline: sign a shorter one',
        );
      }
      if (validAfter <= seconds) return;
      throw new Refusal('verification-failed', 'the authorization is not valid yet: see validAfter');
    },
    recoveryQuery: () => ({ kind: 'auth-capture', chainId, info }),
  };
}

export interface AuthCaptureQuery {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly info: PaymentInfo;
  /** Seconds since the epoch: it cannot have been locked earlier. */
  readonly since: number;
}

/** `paymentState(bytes32)`: whether it was ever locked, what can be taken of it, and what was taken. */
const PAYMENT_STATE = '0x34b778ed';
/** keccak256 of PaymentCaptured(bytes32,uint256,uint256,address), and of version 1.0's with uint16. */
const CAPTURED = [
  '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e',
  '0xe749f7bbd01b49bb05abf26ca492cb4dfdea6bedeada8a40fdccd478c73a74e2',
];

async function find(
  { info, chainId, since }: AuthCaptureQuery,
  rpc: Rpc,
  progress: Partial<LogProgress>,
): Promise<Settlement> {
  const latest = await readBlock(rpc, 'latest');
  const hash = paymentHash(chainId, info);
  const call = { to: ESCROW, data: `${PAYMENT_STATE}${word(hash)}` };
  const answer = String(await rpc('eth_call', [call, quantity(latest.number)]));
  if (!/^0x[0-9a-f]{192}$/i.test(answer)) return unknown('the escrow does not tell the state of payments');
  const [wasLocked, capturable, captured] = [0, 1, 2].map((at) =>
    BigInt(`0x${answer.slice(2 + 64 * at, 66 + 64 * at)}`),
  );
  if (!wasLocked) {
    nothingUntil(latest, progress);
    return latest.timestamp >= info.preApprovalExpiry + EXPIRY_MARGIN_SECONDS
      ? refused('the authorization expired without being used')
      : unused('the authorization has not been used yet');
  }
  if (capturable) return heldForUs('the escrow has the money');
  if (!captured) return refused('the payer has the money back');
  const span = { since, until: info.authorizationExpiry, latest };
  const taken = await findLog(rpc, { address: ESCROW, topics: [CAPTURED, hash] }, span, progress);
  if (!taken) {
    // Its log has to be there: the node that showed none was behind the one that told the state.
    delete progress.next;
    return unknown('the money was taken, but no log of it was found');
  }
  return { state: 'settled', transaction: String(taken.transactionHash), amount: captured };
}

/** What became of a hold. Never throws: what cannot be asked is `unknown`. */
export const findHold = (query: AuthCaptureQuery, looks: Looks<LogProgress> = openLooks()): Promise<Settlement> =>
  looks.look(query.rpcUrl, `auth-capture ${paymentHash(query.chainId, query.info)}`, (rpc, progress) =>
    find(query, rpc, progress),
  );
