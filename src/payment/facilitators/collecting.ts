/** How a contract collects a payer's money, whose wallet is deployed first where it pays before it exists. */
import { type Abi, type Address, encodeFunctionData } from 'viem';
import { type Attempt, newAttempt } from './attempt.ts';
import type { PayingWallet } from './evm-deployment.ts';
import { type Call, type EvmDriver, run } from './evm-driver.ts';
import { MOST_GAS } from './evm-gas.ts';

export interface Collecting {
  readonly address: Address;
  /** With the errors by which the contract refuses. */
  readonly abi: Abi;
  readonly functionName: string;
  readonly args: readonly unknown[];
}

/** Who pays, and so many atomic units. */
interface Paid {
  readonly price: bigint;
  /** Undefined: it needs nobody to deploy it. */
  readonly wallet: PayingWallet | undefined;
}

const callOf = ({ address, ...call }: Collecting): Call => ({ to: address, data: encodeFunctionData(call) });

/** Runs it as it would be sent, and weighs what it takes. Moves nothing. False: the attempt tells why. */
export async function rehearse(
  { noting, reader, operator, weigh }: EvmDriver,
  attempt: Attempt,
  collecting: Collecting,
  { price, wallet }: Paid,
): Promise<boolean> {
  const call = callOf(collecting);
  const tried = async () => {
    if (wallet && (await wallet.isMissing(attempt))) {
      const { weigh: weighBoth } = await wallet.rehearse({ ...call, abi: collecting.abi }, price);
      return weighBoth();
    }
    // Says by name what the contract refuses; an estimate does not. A payer's own contract is run for no more than the call may take.
    await reader.simulateContract({ ...collecting, account: operator, gas: MOST_GAS });
    return weigh(call, price);
  };
  return noting(attempt, tried).then(
    () => true,
    () => false,
  );
}

/** Sends it and waits for its block, as `run` does. */
export async function collect(driver: EvmDriver, collecting: Collecting, { price, wallet }: Paid): Promise<Attempt> {
  const call = callOf(collecting);
  if (!wallet) return run(driver, call, price);
  const deploying = newAttempt();
  const named = { ...call, abi: collecting.abi };
  try {
    await driver.noting(deploying, () => wallet.deployFor(named, deploying, price));
  } catch {
    return deploying;
  }
  return run(driver, call, price);
}
