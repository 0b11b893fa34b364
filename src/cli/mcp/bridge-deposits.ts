/** The deposits of the account that pays for a bridge's calls. */
import { type Deposits, openDeposits } from '../../client/deposits.ts';
import { askBack, mayHaveLeft } from '../../client/refund.ts';
import type { Money } from '../../money.ts';
import { CHANNELS_PATH } from '../../paths.ts';
import { UsageProblem } from '../command-line.ts';
import { openDepositFile } from './deposit-file.ts';
import type { Funds } from './funds.ts';

export interface BridgeDeposits extends Deposits {
  /** Lets go of them: another process may draw from them. */
  close(): void;
}

/**
 * Undefined while another process draws from them. Throws UsageProblem without a wallet that could deposit, and Error where what
 * is kept of them cannot be read.
 */
export async function openBridgeDeposits(
  { assets, payable, accounts }: Funds,
  directory: string,
  most: Money,
): Promise<BridgeDeposits | undefined> {
  const [account] = accounts.values();
  if (!account) throw new UsageProblem('--deposit needs a wallet on an EVM network: set TURNPIKE_WALLET_EVM');
  const store = openDepositFile(directory, account.address);
  if (!store) return undefined;
  const deposits = openDeposits({ most, assets, payable, accounts, store });
  // Better said now than at the first call.
  await deposits.list();
  return { ...deposits, close: store.close };
}

/** Asks the gateway for what is left of each, and tells what became of it: true where all of it came back. */
export async function askDepositsBack(
  deposits: Deposits,
  origin: string,
  tell: (line: string) => void,
): Promise<boolean> {
  const listed = await deposits.list();
  const lent = listed.filter(mayHaveLeft);
  if (lent.length === 0) tell('nothing is left of deposits');
  let isAll = true;
  for (const { network, channel, left } of lent) {
    const back = await askBack(deposits, { network, channel }, (headers) =>
      fetch(origin + CHANNELS_PATH, { headers, redirect: 'manual' }),
    );
    isAll &&= back.ok;
    if (!back.ok) tell(`${left} USD are left on ${network}, in channel ${channel}: ${back.message}`);
    else if (back.transaction) tell(`${back.amount} USD came back on ${network}, transaction ${back.transaction}`);
    else tell(`nothing is left on ${network}: it came back before, or was never deposited`);
  }
  return isAll;
}
