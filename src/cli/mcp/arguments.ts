import { MCP_PATH } from '../../mcp-path.ts';
import type { Money } from '../../money.ts';
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
  /** Neutral or CAIP-2 id of the only network that is paid on; undefined: whichever is offered first. */
  readonly network: string | undefined;
}

const USAGE = `npm run mcp -- [options]

  a gateway's MCP server over stdin and stdout, for clients that start servers as processes; pays for their calls

  --url <origin>      the gateway (default: http://127.0.0.1:4020)
  --max <dollars>     the most that is paid for one call (default: 0.10)
  --budget <dollars>  the most that is paid in a day, UTC (default: 1)
  --network <id>      where to pay: chain-a, chain-c, ... (default: whichever is offered first)
  --tools <names>     what to list: search, and groups such as image,token (default: everything)
  --networks <ids>    lists what is paid on these networks

  TURNPIKE_WALLET_EVM     private key that pays on EVM networks: 0x and 64 hex digits
  TURNPIKE_WALLET_SOLANA  key pair that pays on Solana: 64 bytes in base58
                          with neither it only passes on what is said; a sandbox on this machine is paid in play money
  TURNPIKE_DATA           where what was spent is kept (default: ~/.turnpike)`;

/** Throws UsageProblem. */
export function readArguments(words: readonly string[], environment: NodeJS.ProcessEnv): McpArguments {
  const options = ['url', 'max', 'budget', 'network', 'tools', 'networks'] as const;
  const strings = Object.fromEntries(options.map((name) => [name, { type: 'string' }])) as Record<
    (typeof options)[number],
    { type: 'string' }
  >;
  const { values } = readCommandLine(USAGE, strings, words);
  const given = values.url ?? `http://127.0.0.1:${environment.PORT ?? '4020'}`;
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw new UsageProblem(`--url is an origin such as http://127.0.0.1:4020: got ${given}`);
  const { origin } = new URL(given);
  const server = new URL(MCP_PATH, origin);
  if (values.tools !== undefined) server.searchParams.set('tools', values.tools);
  if (values.networks !== undefined) server.searchParams.set('networks', values.networks);
  return {
    origin,
    server,
    max: dollars('--max', values.max ?? '0.10'),
    budget: dollars('--budget', values.budget ?? '1'),
    network: values.network,
  };
}
