/**
 * A channel of x402's scheme `batch-settlement` as its payer knows it, and what is signed for it. Sources: x402 specification,
 * "batch-settlement" on EVM; EIP-3009; @x402/evm 2.27.0.
 */
import { type Address, encodeAbiParameters, type Hex, hashTypedData, isAddress, keccak256 } from 'viem';
import type { JsonObject } from '../json.ts';
import type { ChannelConfig } from '../on-chain/channel-config.ts';
import { BATCH_SETTLEMENT, EIP3009_DEPOSITS } from '../on-chain/escrow-contracts.ts';
import type { Asset } from './asset.ts';

/** What a gateway says of the channels that it draws from. */
export interface ChannelTerms {
  /** Who claims for the receiver, and gives back. */
  readonly receiverAuthorizer: string;
  /** Seconds after which the payer has its deposit back without the gateway. */
  readonly withdrawDelay: number;
  /** The least that it asks to be deposited at once, in atomic units. */
  readonly minDeposit: bigint | undefined;
}

/** Nothing is lent for longer, whatever is asked. */
const LONGEST_DELAY_SECONDS = 86_400;
/** The contract takes no shorter one. */
const SHORTEST_DELAY_SECONDS = 900;

const NOBODY = /^0x0{40}$/;

/** Atomic units as they are written; undefined for anything else. */
export const readUnits = (value: unknown): bigint | undefined =>
  typeof value === 'string' && /^(0|[1-9][0-9]{0,38})$/.test(value) ? BigInt(value) : undefined;

/** Undefined where nobody claims, or where the money would be away for longer than a day. */
export function readChannelTerms(extra: JsonObject): ChannelTerms | undefined {
  const { receiverAuthorizer, withdrawDelay, minDeposit } = extra;
  if (typeof receiverAuthorizer !== 'string' || !isAddress(receiverAuthorizer) || NOBODY.test(receiverAuthorizer))
    return undefined;
  if (typeof withdrawDelay !== 'number' || !Number.isInteger(withdrawDelay)) return undefined;
  if (withdrawDelay < SHORTEST_DELAY_SECONDS || withdrawDelay > LONGEST_DELAY_SECONDS) return undefined;
  return { receiverAuthorizer, withdrawDelay, minDeposit: readUnits(minDeposit) };
}

const CONFIG_TYPES = {
  ChannelConfig: [
    { name: 'payer', type: 'address' },
    { name: 'payerAuthorizer', type: 'address' },
    { name: 'receiver', type: 'address' },
    { name: 'receiverAuthorizer', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'withdrawDelay', type: 'uint40' },
    { name: 'salt', type: 'bytes32' },
  ],
} as const;

const VOUCHER_TYPES = {
  Voucher: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'maxClaimableAmount', type: 'uint128' },
  ],
} as const;

const DEPOSIT_TYPES = {
  ReceiveWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const chainIdOf = ({ network }: Asset): number => Number(network.split(':')[1]);

const domainOn = (asset: Asset) =>
  ({
    name: 'x402 Batch Settlement',
    version: '1',
    chainId: chainIdOf(asset),
    verifyingContract: BATCH_SETTLEMENT,
  }) as const;

/** The contract's name of the channel. */
export const channelIdOf = (asset: Asset, config: ChannelConfig): Hex =>
  hashTypedData({
    domain: domainOn(asset),
    types: CONFIG_TYPES,
    primaryType: 'ChannelConfig',
    message: config as ChannelConfig & Record<Exclude<keyof ChannelConfig, 'withdrawDelay'>, Hex>,
  });

/** The receiver may claim so much of the channel in all. */
export const voucherOf = (asset: Asset, channel: Hex, max: bigint) =>
  ({
    domain: domainOn(asset),
    types: VOUCHER_TYPES,
    primaryType: 'Voucher',
    message: { channelId: channel, maxClaimableAmount: max },
  }) as const;

/** The contract may take so much for a channel, which the nonce names. */
export const depositOf = (asset: Asset, payer: string, amount: bigint, validBefore: bigint, nonce: Hex) =>
  ({
    domain: { ...asset.domain, chainId: chainIdOf(asset), verifyingContract: asset.address as Address },
    types: DEPOSIT_TYPES,
    primaryType: 'ReceiveWithAuthorization',
    message: { from: payer as Address, to: EIP3009_DEPOSITS, value: amount, validAfter: 0n, validBefore, nonce },
  }) as const;

/** What binds a deposit to its channel. */
export const depositNonceOf = (channel: Hex, salt: string): Hex =>
  keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [channel, BigInt(salt)]));
