/** x402's `batch-settlement`: a voucher drawn on a channel, and perhaps the deposit that opens or fills it. */

import { isJsonObject, type JsonObject } from '../../json.ts';
import type { ChannelConfig } from '../../on-chain/channel-config.ts';
import { DRAWN } from '../../store/channels/channel-store.ts';
import { channelId, WITHDRAW_DELAY } from '../channels/channel.ts';
import type { Deposit } from '../channels/operator.ts';
import { Refusal } from '../refusal.ts';
import type { Authorization } from './authorization.ts';
import { checkAsset, checkRecipient } from './checks.ts';
import { readCounterfactual } from './counterfactual.ts';
import { malformed, readAddress, readObject, readSignature, readText, readUint, readWord } from './fields.ts';

export interface ChannelAuthorization extends Authorization {
  readonly kind: 'batch-settlement';
  readonly type: 'deposit' | 'voucher' | 'refund';
  readonly channel: string;
  readonly config: ChannelConfig;
  readonly voucher: { readonly max: bigint; readonly signature: string };
  readonly deposit: Deposit | undefined;
  /** What is asked back, in atomic units; undefined: all that is left. */
  readonly refund: bigint | undefined;
}

export const isDrawn = (authorization: Authorization): authorization is ChannelAuthorization =>
  authorization.kind === 'batch-settlement';

/** The contract's amounts have 128 bits. */
const MOST = 2n ** 128n - 1n;
const NOBODY = /^0x0{40}$/;

function readAmount(value: unknown, field: string): bigint {
  const amount = readUint(value, field);
  if (amount > MOST) throw malformed(field, 'an amount of at most 128 bits');
  return amount;
}

function readConfig(value: unknown): ChannelConfig {
  const at = 'payload.channelConfig';
  const given = readObject(value, at);
  const { withdrawDelay } = given;
  if (!Number.isSafeInteger(withdrawDelay) || Number(withdrawDelay) < 0)
    throw malformed(`${at}.withdrawDelay`, 'seconds');
  return {
    payer: readAddress(given.payer, `${at}.payer`),
    payerAuthorizer: readAddress(given.payerAuthorizer, `${at}.payerAuthorizer`),
    receiver: readAddress(given.receiver, `${at}.receiver`),
    receiverAuthorizer: readAddress(given.receiverAuthorizer, `${at}.receiverAuthorizer`),
    token: readAddress(given.token, `${at}.token`),
    withdrawDelay: Number(withdrawDelay),
    salt: readWord(given.salt, `${at}.salt`),
  };
}

function readDeposit(value: unknown): Deposit {
  const { amount, authorization } = readObject(value, 'payload.deposit');
  const given = isJsonObject(authorization) ? authorization.erc3009Authorization : undefined;
  const at = 'payload.deposit.authorization.erc3009Authorization';
  const signed = readObject(given, at);
  const signature = readSignature(signed.signature, `${at}.signature`);
  // What deploys a wallet that does not exist yet has to be readable as well.
  readCounterfactual(signature, `${at}.signature`);
  return {
    amount: readAmount(amount, 'payload.deposit.amount'),
    validAfter: readUint(signed.validAfter, `${at}.validAfter`),
    validBefore: readUint(signed.validBefore, `${at}.validBefore`),
    salt: readWord(signed.salt, `${at}.salt`),
    signature,
  };
}

/** The time between a deposit's check and its transaction. */
const SENT_WITHIN_SECONDS = 6n;

function checkDeposit({ validAfter, validBefore }: Deposit, seconds: bigint): void {
  if (validBefore <= seconds + SENT_WITHIN_SECONDS) {
    throw new Refusal('payment-expired', 'the deposit has expired: sign a new one');
  }
  if (validAfter <= seconds) return;
  throw new Refusal('verification-failed', 'the deposit is not valid yet: see validAfter');
}

/**
 * `payload` is the scheme's; `request` is the digest of what is asked for. A voucher that bought nothing is good for another
 * request, so both make the payment. Throws Refusal.
 */
export function readBatchSettlement(payload: JsonObject, chainId: number, request: string): ChannelAuthorization {
  if (!Number.isSafeInteger(chainId)) throw new Refusal('verification-failed', 'no channels are on this network');
  const type = readText(payload.type, 'payload.type', /^(deposit|voucher|refund)$/, 'deposit, voucher or refund');
  const config = readConfig(payload.channelConfig);
  const channel = channelId(chainId, config);
  const given = readObject(payload.voucher, 'payload.voucher');
  if (readWord(given.channelId, 'payload.voucher.channelId') !== channel) {
    throw new Refusal('verification-failed', 'the voucher is for another channel than channelConfig says');
  }
  const voucher = {
    max: readAmount(given.maxClaimableAmount, 'payload.voucher.maxClaimableAmount'),
    signature: readSignature(given.signature, 'payload.voucher.signature'),
  };
  const deposit = type === 'deposit' ? readDeposit(payload.deposit) : undefined;
  const refund =
    type === 'refund' && payload.amount !== undefined ? readAmount(payload.amount, 'payload.amount') : undefined;
  return {
    kind: 'batch-settlement',
    scheme: 'batch-settlement',
    type: type as ChannelAuthorization['type'],
    channel,
    config,
    voucher,
    deposit,
    refund,
    payer: config.payer,
    shown: voucher.signature.toLowerCase(),
    endsAt: undefined,
    payload: {},
    identity: (chain) => `${DRAWN}${chain}:${channel}:${voucher.max}:${request}`,
    check({ asset, payTo }, now) {
      checkRecipient(config.receiver, payTo);
      checkAsset(config.token, asset);
      if (config.withdrawDelay !== WITHDRAW_DELAY) {
        throw new Refusal(
          'verification-failed',
          `withdrawDelay is ${config.withdrawDelay}, asked is ${WITHDRAW_DELAY}`,
        );
      }
      if (NOBODY.test(config.payerAuthorizer)) {
        throw new Refusal('verification-failed', 'payerAuthorizer must be the address whose key signs the vouchers');
      }
      if (deposit) checkDeposit(deposit, BigInt(Math.floor(now / 1000)));
    },
    recoveryQuery: () => ({ kind: 'batch-settlement', channel }),
  };
}
