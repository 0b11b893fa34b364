/** `npm run mcp`: a gateway's MCP server over stdio, for clients that start servers as processes and cannot pay. */
import './own-fetch.ts';
import './broken-pipe.ts';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isLoopback } from '../catalogue/loopback.ts';
import { type Money, toDecimal } from '../money.ts';
import { run } from './command.ts';
import { UsageProblem } from './command-line.ts';
import { readArguments } from './mcp/arguments.ts';
import { createBridge } from './mcp/bridge.ts';
import { askDepositsBack, openBridgeDeposits } from './mcp/bridge-deposits.ts';
import { createBuyer } from './mcp/buyer.ts';
import { openFunds } from './mcp/funds.ts';
import { openGateway } from './mcp/gateway.ts';
import { openSpending } from './mcp/spending.ts';

/** To whoever runs this: standard output belongs to the protocol. What a gateway said may hold anything. */
const tell = (line: string): void => {
  process.stderr.write(`${line.replace(/\p{Cc}/gu, ' ').slice(0, 1000)}\n`);
};

const directory = join(process.env.TURNPIKE_DATA ?? join(homedir(), '.turnpike'), 'spending');

const TAKEN = 'another process draws from the deposits of this account: calls are paid without';

/** `--refund`. */
async function askBack(origin: string, network: string | undefined, most: Money): Promise<void> {
  const funds = await openFunds(origin, network, process.env);
  if (!funds) throw new UsageProblem('--refund needs the wallet that deposited: set TURNPIKE_WALLET_EVM');
  const deposits = await openBridgeDeposits(funds, directory, most);
  if (!deposits) throw new UsageProblem('another process draws from these deposits: end it first');
  if (!(await askDepositsBack(deposits, origin, tell))) process.exitCode = 1;
}

await run(async () => {
  const given = readArguments(process.argv.slice(2), process.env);
  const { origin, server, max, budget, network, deposit } = given;
  if (given.refund) return await askBack(origin, network, deposit ?? 0n);
  const gateway = await openGateway(server, '1');
  const funds = await openFunds(origin, network, process.env);
  if (!funds) {
    tell(`${origin}: no wallet, so calls that cost something answer their price`);
    tell('set TURNPIKE_WALLET_EVM or TURNPIKE_WALLET_SOLANA to have them paid');
    serveStdio(() => createBridge({ gateway, origin, call: gateway.call, instructions: undefined }));
    return;
  }
  const { wallet, money } = funds;
  const deposits = deposit === undefined ? undefined : await openBridgeDeposits(funds, directory, deposit);
  const spending = openSpending(directory, money, budget);
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
  const { call } = createBuyer({ gateway, wallet, deposits, spending, max, budget, tell });
  const instructions = `Calls of paid tools are paid for you, ${limits}: their answer says so where one is not.`;
  serveStdio(() => createBridge({ gateway, origin, call, instructions }));
});
