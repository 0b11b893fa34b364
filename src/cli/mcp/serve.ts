/** What the command does: it serves a bridge that pays, or asks for what lies in deposits back. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Server } from '@modelcontextprotocol/server';
import { isLoopback } from '../../catalogue/settings/loopback.ts';
import { toDecimal } from '../../money.ts';
import { UsageProblem } from '../command-line.ts';
import type { McpArguments } from './arguments.ts';
import { createBridge } from './bridge.ts';
import { askDepositsBack, openBridgeDeposits } from './bridge-deposits.ts';
import { createBuyer } from './buyer.ts';
import { openFunds } from './funds.ts';
import { openGateway } from './gateway.ts';
import { openSpending } from './spending.ts';
import { openUnanswered } from './unanswered.ts';

/** Who runs it. */
export interface Caller {
  readonly environment: NodeJS.ProcessEnv;
  /** Takes a line at a time, in which a gateway's words may be. */
  tell(line: string): void;
}

export interface Bridge {
  /** For each client one. */
  createServer(): Server;
  /** Lets go of the deposits and of what has no answer, as the end of the process does. */
  close(): void;
}

const directoryOf = ({ TURNPIKE_DATA }: NodeJS.ProcessEnv): string =>
  join(TURNPIKE_DATA ?? join(homedir(), '.turnpike'), 'spending');

const TAKEN = 'another process draws from the deposits of this account: calls are paid without';

/** `--refund`. True where all of it came back. Throws UsageProblem. */
export async function askBack(
  { origin, network, deposit = 0n }: McpArguments,
  { environment, tell }: Caller,
): Promise<boolean> {
  const funds = await openFunds(origin, network, environment);
  if (!funds) throw new UsageProblem('--refund needs the wallet that deposited: set TURNPIKE_WALLET_EVM');
  const deposits = await openBridgeDeposits(funds, directoryOf(environment), deposit);
  if (!deposits) throw new UsageProblem('another process draws from these deposits: end it first');
  try {
    return await askDepositsBack(deposits, origin, tell);
  } finally {
    deposits.close();
  }
}

/** Throws UsageProblem. */
export async function openBridge(
  { origin, server, max, budget, network, deposit }: McpArguments,
  { environment, tell }: Caller,
): Promise<Bridge> {
  const gateway = await openGateway(server, '1');
  const funds = await openFunds(origin, network, environment);
  if (!funds) {
    tell(`${origin}: no wallet, so calls that cost something answer their price`);
    tell('set TURNPIKE_WALLET_EVM or TURNPIKE_WALLET_SOLANA to have them paid');
    const parts = { gateway, origin, call: gateway.call, instructions: undefined };
    return { createServer: () => createBridge(parts), close: () => {} };
  }
  const { wallet, money } = funds;
  const directory = directoryOf(environment);
  const deposits = deposit === undefined ? undefined : await openBridgeDeposits(funds, directory, deposit);
  const spending = openSpending(directory, money, budget);
  const unanswered = openUnanswered(directory, origin, tell);
  const limits = `up to ${toDecimal(max)} USD a call and ${toDecimal(budget)} USD a day`;
  const networksOf = (address: string) =>
    [...wallet.addresses].flatMap(([id, other]) => (other === address ? [id] : []));
  const from = [...new Set(wallet.addresses.values())].map((each) => `${each} on ${networksOf(each).join(', ')}`);
  tell(`${origin}: calls are paid, ${limits}, ${toDecimal(await spending.left())} USD left today`);
  tell(
    money === 'play'
      ? 'this is a sandbox: it is paid from its own wallet, in play money'
      : `paid from ${from.join(', and ')}`,
  );
  if (deposit !== undefined) tell(deposits ? `drawn from deposits of up to ${toDecimal(deposit)} USD` : TAKEN);
  if (money === 'dollars' && !isLoopback(origin) && !origin.startsWith('https:'))
    tell(`${origin} is not https: whoever is on the way can change what is paid, and to whom`);
  const { call } = createBuyer({ gateway, wallet, deposits, spending, unanswered, max, budget, tell });
  const instructions = `Calls of paid tools are paid for you, ${limits}: their answer says so where one is not.`;
  const parts = { gateway, origin, call, instructions };
  const close = () => {
    unanswered.close();
    deposits?.close();
  };
  return { createServer: () => createBridge(parts), close };
}
