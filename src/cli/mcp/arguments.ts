import type { Money } from '../../money.ts';
import { MCP_PATH } from '../../paths.ts';
import { dollars } from '../command.ts';
import { readCommandLine, UsageProblem } from '../command-line.ts';

export interface McpArguments {
  /** Origin of the gateway, without a trailing slash. */
  readonly origin: string;
  /** Its server, with what it is asked to list in the query. */
  readonly server: URL;
  /** The most that is paid for one call. */
  readonly max: Money;
  /** The most that is paid in a day. */
  readonly budget: Money;
  /** The most that may lie in deposits; undefined: nothing is deposited. */
  readonly deposit: Money | undefined;
  /** Asks what is left of the deposits back, in place of serving. */
  readonly refund: boolean;
  /** Neutral or CAIP-2 id of the only network that is paid on; undefined: whichever is offered first. */
  readonly network: string | undefined;
}

const USAGE = `npm run mcp -- [options]

  a gateway's MCP server over stdin and stdout, for clients that start servers as processes; pays for their calls

  --url <origin>      the gateway (default: http://127.0.0.1:4020)
  --max <dollars>     the most that is paid for one call (default: 0.10)
  --budget <dollars>  the most that is paid in a day, UTC (default: 1)
  --deposit <dollars> the most that may lie in deposits from which calls are drawn (default: nothing is deposited)
  --refund            with --deposit: asks for what is left of the deposits back, and ends
  --network <id>      where to pay: chain-a, chain-c, ... as this package calls it, or a CAIP-2 id such as eip155:8453
                      (default: whichever is offered first)
  --tools <names>     what to list: search, and groups such as image,token (default: everything)
  --networks <ids>    lists what is paid on these networks, as the gateway calls them
  --content text      answers without pictures and links to files, for models that read text alone

  TURNPIKE_WALLET_EVM     private key that pays on EVM networks: 0x and 64 hex digits
  TURNPIKE_WALLET_SOLANA  key pair that pays on Solana: 64 bytes in base58
                          with neither it only passes on what is said; a sandbox on this machine is paid in play money
  TURNPIKE_DATA           where what was spent and deposited is kept (default: ~/.turnpike)`;

/** Throws UsageProblem. */
export function readArguments(words: readonly string[], environment: NodeJS.ProcessEnv): McpArguments {
  const text = { type: 'string' } as const;
  const options = {
    url: text,
    max: text,
    budget: text,
    deposit: text,
    network: text,
    tools: text,
    networks: text,
    content: text,
  };
  const { values } = readCommandLine(USAGE, { ...options, refund: { type: 'boolean' } }, words);
  const given = values.url ?? `http://127.0.0.1:${environment.PORT ?? '4020'}`;
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw new UsageProblem(`--url is an origin such as http://127.0.0.1:4020: got ${given}`);
  const { origin } = new URL(given);
  const server = new URL(MCP_PATH, origin);
  for (const name of ['tools', 'networks', 'content'] as const) {
    if (values[name] !== undefined) server.searchParams.set(name, values[name]);
  }
  if (values.refund && values.deposit === undefined) throw new UsageProblem('--refund goes with the same --deposit');
  return {
    origin,
    server,
    max: dollars('--max', values.max ?? '0.10'),
    budget: dollars('--budget', values.budget ?? '1'),
    deposit: values.deposit === undefined ? undefined : dollars('--deposit', values.deposit),
    refund: values.refund === true,
    network: values.network,
  };
}
