/** Gateways in live mode, in processes of their own. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { type ServerCommand, type ServerProcess, startServer } from './server-process.ts';
import { offer } from './subject.ts';

export interface GatewayOptions {
  /** A folder for its state that does not exist yet. */
  readonly data: string;
  readonly catalogue: string;
  readonly doublesUrl: string;
  /** Postgres; left out: SQLite. */
  readonly databaseUrl?: string;
  /** Processes that answer; left out: one. */
  readonly workers?: number;
  /** Settles itself, on this node of the chain that is paid on; left out: a facilitator does. */
  readonly signer?: { readonly privateKey: string; readonly rpcUrl: string };
}

/** Every key that an upstream asks for, so that everything is sold. */
function keys(catalogue: string): Record<string, string> {
  const upstreams = parse(readFileSync(join(catalogue, 'upstreams.yaml'), 'utf8')) as Record<
    string,
    { keys?: Record<string, string> }
  >;
  const names = Object.values(upstreams).flatMap((upstream) => Object.values(upstream.keys ?? {}));
  return Object.fromEntries(names.map((name) => [name, 'bench-key']));
}

function command(
  words: readonly string[],
  { data, catalogue, doublesUrl, databaseUrl, workers, signer }: GatewayOptions,
): ServerCommand {
  return {
    words,
    environment: {
      ...keys(catalogue),
      TURNPIKE_MODE: 'live',
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'warn',
      TURNPIKE_PUBLIC_URL: 'https://gateway.example',
      TURNPIKE_CATALOGUE: resolve(catalogue),
      TURNPIKE_DATA: data,
      ...(signer
        ? {
            TURNPIKE_SIGNER_EVM: signer.privateKey,
            TURNPIKE_PAY_TO_CHAIN_C: offer.payTo,
            // Gas costs a hundred times as much on a local node as on Base.
            TURNPIKE_COIN_USD_CHAIN_C: '10',
          }
        : { TURNPIKE_FACILITATOR_URL: doublesUrl, TURNPIKE_PAY_TO_EVM: offer.payTo }),
      TURNPIKE_RPC_URL_CHAIN_C: signer?.rpcUrl ?? `${doublesUrl}/rpc`,
      TURNPIKE_MPP_SECRET: randomBytes(32).toString('hex'),
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ...(workers !== undefined && { TURNPIKE_WORKERS: String(workers) }),
    },
  };
}

/** Exactly what `npm start` runs. */
export const startAsShipped = (options: GatewayOptions): Promise<ServerProcess> =>
  startServer(command(['--import=tsx', 'src/main.ts'], options));

/** What `npm run start:built` runs. */
export function startAsBuilt(options: GatewayOptions): Promise<ServerProcess> {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  return startServer(command(scripts['start:built'].replace('exec node ', '').split(' '), options));
}
