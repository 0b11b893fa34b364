/**
 * What a gateway asks for, and which of it may be paid: a transfer, money that is locked for one, or what is drawn from a
 * deposit, in a known dollar stablecoin, and nothing else.
 */
import { isAddress as isEvmAddress } from 'viem';
import { asJsonObject, type JsonObject, textOrNull } from '../json.ts';
import { type Atomic, divideUp, type Money } from '../money.ts';
import { isSolanaAddress } from '../on-chain/solana-address.ts';
import { type Asset, isSameAddress } from './asset.ts';
import { type ChannelTerms, readChannelTerms } from './channel.ts';
import { type HoldTerms, readHold } from './hold.ts';

export interface Offer {
  readonly asset: Asset;
  /** Atomic units, which is what is signed. */
  readonly amount: Atomic;
  /** The same in dollars, rounded up. */
  readonly price: Money;
  readonly payTo: string;
  /** How long what is signed may be good for. */
  readonly seconds: number;
  /** Who pays for the transaction; on Solana only. */
  readonly feePayer: string | undefined;
  /** How the money is locked; undefined where it is transferred. */
  readonly hold: HoldTerms | undefined;
  /** The offer as it was given, to be named in the payment. */
  readonly given: JsonObject;
}

export interface ChannelOffer extends Offer {
  readonly terms: ChannelTerms;
}

/** Nothing that is signed outlives this, whatever is asked. */
const LONGEST_SECONDS = 900;

const MONEY_DECIMALS = 6;

/** Rounded up. */
export function toDollars(amount: Atomic, decimals: number): Money {
  return decimals >= MONEY_DECIMALS
    ? divideUp(amount, 10n ** BigInt(decimals - MONEY_DECIMALS))
    : amount * 10n ** BigInt(MONEY_DECIMALS - decimals);
}

const sameAddress = (asset: Asset, address: unknown): boolean =>
  typeof address === 'string' &&
  (asset.family === 'evm' ? isSameAddress(address, asset.address) : address === asset.address);

const isAddress = ({ family }: Asset, address: string): boolean =>
  family === 'evm' ? isEvmAddress(address) : isSolanaAddress(address);

/** What offers of all schemes say. */
function readTerms(given: JsonObject, assets: readonly Asset[]): Omit<Offer, 'hold'> | undefined {
  const { network, amount, asset: address, payTo, maxTimeoutSeconds } = given;
  const extra = asJsonObject(given.extra);
  const asset = assets.find((known) => known.network === network && sameAddress(known, address));
  if (!asset) return undefined;
  if (typeof amount !== 'string' || !/^[1-9][0-9]{0,30}$/.test(amount)) return undefined;
  if (typeof payTo !== 'string' || !isAddress(asset, payTo)) return undefined;
  if (typeof maxTimeoutSeconds !== 'number' || !Number.isInteger(maxTimeoutSeconds) || maxTimeoutSeconds <= 0)
    return undefined;
  // Permit2 and the like would sign something else.
  if (extra.assetTransferMethod !== undefined && extra.assetTransferMethod !== 'eip3009') return undefined;
  const feePayer = textOrNull(extra.feePayer) ?? undefined;
  if (asset.family === 'solana' && (feePayer === undefined || !isAddress(asset, feePayer))) return undefined;
  const units = BigInt(amount);
  return {
    asset,
    amount: units,
    price: toDollars(units, asset.decimals),
    payTo,
    seconds: Math.min(maxTimeoutSeconds, LONGEST_SECONDS),
    feePayer,
    given,
  };
}

/** An entry of `accepts` as an offer in one of these assets; undefined for everything else. */
export function readOffer(given: JsonObject, assets: readonly Asset[]): Offer | undefined {
  const offer = readTerms(given, assets);
  if (!offer) return undefined;
  const isHold = given.scheme === 'auth-capture' && offer.asset.family === 'evm';
  const hold = isHold ? readHold(asJsonObject(given.extra)) : undefined;
  return given.scheme === 'exact' || hold ? { ...offer, hold } : undefined;
}

/** An entry of `accepts` that is drawn from a deposit in one of these assets; undefined for everything else. */
export function readChannelOffer(given: JsonObject, assets: readonly Asset[]): ChannelOffer | undefined {
  const offer = readTerms(given, assets);
  if (given.scheme !== 'batch-settlement' || offer?.asset.family !== 'evm' || !offer.asset.domain) return undefined;
  const terms = readChannelTerms(asJsonObject(given.extra));
  return terms && { ...offer, hold: undefined, terms };
}
