/** What gas a settlement on an EVM chain may take. Contracts choose it, ours of the payer's wallet too; we pay it. */
import { type Address, BaseError, type Hex, type PublicClient } from 'viem';
import type { PricedCall } from './evm-sender.ts';
import { COSTS_TOO_MUCH, leastPrice, NO_GAS_LEFT } from './settling-cost.ts';

/** A transfer by authorization takes some 80,000, one through Permit2 120,000; a contract wallet's check comes on top. */
export const MOST_GAS = 300_000n;
const USUAL_GAS = 120_000n;

export interface GasTerms {
  readonly sender: Address;
  /** Atomic units that the payer has signed for. */
  readonly price: bigint;
  /** Atomic units that one coin is worth at most; 0: only the gas is bounded. */
  readonly nativeValue: bigint;
}

/** What a call may take, and what is said of one that takes more. */
export interface GasBounds {
  readonly most: bigint;
  /** Gas of what follows the call for the same price. */
  readonly besides: bigint;
  readonly tooMuch: string;
  /** `least`: atomic units from which on it would be worth it. */
  tooDear(least: bigint): string;
}

const SETTLING: GasBounds = {
  most: MOST_GAS,
  besides: 0n,
  tooMuch: `settling takes more than ${MOST_GAS} gas`,
  tooDear: () => COSTS_TOO_MUCH,
};

/** A call that may be sent at the fees of the moment. */
export interface WeighedCall extends PricedCall {
  /** Atomic units that it has to be worth at least, and is. */
  readonly least: bigint;
}

/** Settling is refused for what it takes; the message says why. */
class TooDear extends Error {}

const OUT_OF_GAS = /out of ?gas|gas required exceeds|exceeds allowance/i;

const isOutOfGas = (error: unknown): boolean => error instanceof BaseError && OUT_OF_GAS.test(error.details);

/** Why an estimate was refused, where it says nothing of the payment itself. */
export function gasReason(error: unknown): string | undefined {
  if (error instanceof TooDear) return error.message;
  return isOutOfGas(error) ? SETTLING.tooMuch : undefined;
}

/** Whether an estimate was refused for the gas that the call takes, whatever it is worth. */
export const takesTooMuch = (error: unknown): boolean => error instanceof TooDear && error.message === SETTLING.tooMuch;

/**
 * A call with its gas limit and fees, found by running it as it would be sent: from the same sender, at the same gas price
 * and within the same limit. Throws TooDear, or viem's error where the call fails.
 */
export async function priceCall(
  node: PublicClient,
  call: { readonly to: Address; readonly data: Hex },
  { sender, price, nativeValue }: GasTerms,
  { most, besides, tooMuch, tooDear }: GasBounds = SETTLING,
): Promise<WeighedCall> {
  const { maxFeePerGas, maxPriorityFeePerGas } = await node.estimateFeesPerGas();
  const fees = { maxFeePerGas, maxPriorityFeePerGas };
  // Nodes allow an estimate no more gas than the sender can pay, and say of both limits the same.
  const left = await node.getBalance({ address: sender });
  if (left < (most + besides) * maxFeePerGas) throw new TooDear(NO_GAS_LEFT);
  const estimate = await node.estimateGas({ ...call, ...fees, account: sender, gas: most }).catch((error: unknown) => {
    throw isOutOfGas(error) ? new TooDear(tooMuch) : error;
  });
  if (estimate > most) throw new TooDear(tooMuch);
  // The chain moves on between the estimate and the block.
  const roomy = (estimate * 11n) / 10n;
  const gas = roomy < most ? roomy : most;
  const leastAt = (fee: bigint) => leastPrice((gas + besides) * fee, { decimals: 18, value: nativeValue });
  const least = leastAt(maxFeePerGas);
  if (price < least) throw new TooDear(tooDear(least));
  return { ...call, gas, ...fees, least, isWorth: (fee) => price >= leastAt(fee) };
}

/** For how many settlements a balance lasts at the chain's fees of the moment. */
export async function settlementsFor(node: PublicClient, balance: bigint): Promise<bigint> {
  return balance / ((await usualCost(node)) || 1n);
}

/** What a settlement costs at the chain's fees of the moment, in atomic units of its coin. */
const usualCost = async (node: PublicClient): Promise<bigint> =>
  USUAL_GAS * (await node.estimateFeesPerGas()).maxFeePerGas;

/** The lowest price, in atomic units, that is worth settling at the chain's fees of the moment. */
export async function leastSettled(node: PublicClient, nativeValue: bigint): Promise<bigint> {
  if (nativeValue === 0n) return 0n;
  return leastPrice(await usualCost(node), { decimals: 18, value: nativeValue });
}
