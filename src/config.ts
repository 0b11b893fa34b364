/** The environment as a Config. Every problem is told at once, with the variable's name and what it takes. */
import { checksumAddress } from './checksum-address.ts';
import type { MediaBucket } from './upstream/media/s3.ts';

export interface Config {
  readonly mode: 'sandbox' | 'live';
  readonly host: string;
  readonly port: number;
  /** Origin under which callers reach the gateway, without a trailing slash. */
  readonly publicUrl: string;
  readonly catalogueDirectory: string;
  readonly dataDirectory: string;
  /** Postgres; undefined: SQLite in the data directory. */
  readonly databaseUrl: string | undefined;
  /** Where generated files are kept; undefined: in the data directory, served at `/media`. */
  readonly mediaBucket: MediaBucket | undefined;
  readonly logLevel: string;
  /** How long calls under way may go on once the gateway is told to stop, in milliseconds. */
  readonly drainMs: number;
  /** Live mode only: in the sandbox all of this is made afresh at every start. */
  readonly live: LiveConfig | undefined;
}

export interface LiveConfig {
  /** Pay-to addresses: by network id, else by family. */
  readonly payTo: Readonly<Record<string, string>>;
  /** RPC addresses by network id, over those in `networks.yaml`. */
  readonly rpcUrls: Readonly<Record<string, string>>;
  readonly coinbase: { readonly id: string; readonly secret: string } | undefined;
  readonly facilitatorUrl: string | undefined;
  /** Keys that settle in this process. */
  readonly signers: { readonly evm: string | undefined; readonly solana: string | undefined };
  readonly mpp: MppConfig;
  /** Secrets of the upstreams, read by the names that `upstreams.yaml` gives. */
  secretOf(variable: string): string | undefined;
}

export interface MppConfig {
  /** The first signs; the others are honoured until their challenges have expired. */
  readonly secrets: readonly [string, ...string[]];
  /** Undefined: the public host name. */
  readonly realm: string | undefined;
  readonly tempo: TempoConfig | undefined;
}

export interface TempoConfig {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly currency: `0x${string}`;
  readonly recipient: `0x${string}`;
}

/** Everything that is wrong with the environment. */
export class ConfigProblem extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length} problem(s):\n${problems.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigProblem';
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const isEvmAddress = (text: string): text is `0x${string}` => /^0x[0-9a-fA-F]{40}$/.test(text);
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** What is wrong with an address of that family, or undefined. An EVM address in one case only has no checksum. */
export function addressFault(family: 'evm' | 'solana', address: string): string | undefined {
  if (family === 'solana')
    return SOLANA_ADDRESS.test(address) ? undefined : 'is not a Solana address: give 32 bytes in base58';
  if (!isEvmAddress(address)) return 'is not an EVM address: give 0x and 40 hex digits';
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase() || address === checksumAddress(address)) {
    return undefined;
  }
  return 'is misspelt, for its capitals do not fit (EIP-55): copy it again from where it comes from';
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

export const PAY_TO = 'TURNPIKE_PAY_TO_';
export const RPC_URL = 'TURNPIKE_RPC_URL_';

/** What stands after the prefix for a network's id or a family. */
export const inVariable = (name: string): string => name.toUpperCase().replaceAll('-', '_');

/** `TURNPIKE_PAY_TO_CHAIN_C` with the prefix `TURNPIKE_PAY_TO_` is `chain-c`. */
function byNetwork(environment: Environment, prefix: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, untrimmed] of Object.entries(environment)) {
    const value = untrimmed?.trim();
    if (!name.startsWith(prefix) || !value) continue;
    found[name.slice(prefix.length).toLowerCase().replaceAll('_', '-')] = value;
  }
  return found;
}

/** Collects problems while values are read. */
function reader(environment: Environment) {
  const problems: string[] = [];
  const optional = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const url = (name: string): string | undefined => {
    const value = optional(name);
    if (value === undefined || URL.canParse(value)) return value?.replace(/\/+$/, '');
    problems.push(`${name} is not a URL: give one such as https://api.example.com`);
    return undefined;
  };
  return { problems, optional, url };
}

function readMpp(read: ReturnType<typeof reader>): MppConfig {
  const { problems, optional } = read;
  const secrets = (optional('TURNPIKE_MPP_SECRET') ?? '').split(',').map((secret) => secret.trim());
  const [current = '', ...old] = secrets;
  if (secrets.some((secret) => Buffer.byteLength(secret) < 32)) {
    problems.push(
      'TURNPIKE_MPP_SECRET must be a secret of 32 bytes or more (old ones may follow, after commas): try `openssl rand -hex 32`',
    );
  }
  const realm = optional('TURNPIKE_MPP_REALM');
  if (realm && /["|\\]/.test(realm)) problems.push('TURNPIKE_MPP_REALM must not contain a quote, a backslash or |');
  return { secrets: [current, ...old], realm, tempo: readTempo(read) };
}

function readTempo({ problems, optional, url }: ReturnType<typeof reader>): TempoConfig | undefined {
  const address = (name: string) => {
    const value = optional(name);
    const fault = value === undefined ? undefined : addressFault('evm', value);
    if (fault) problems.push(`${name} ${fault}`);
    return value !== undefined && isEvmAddress(value) ? value : undefined;
  };
  const rpcUrl = url('TURNPIKE_TEMPO_RPC_URL');
  const currency = address('TURNPIKE_TEMPO_CURRENCY');
  const recipient = address('TURNPIKE_TEMPO_RECIPIENT');
  const chainId = Number(optional('TURNPIKE_TEMPO_CHAIN_ID') ?? '4217');
  if (!Number.isSafeInteger(chainId)) problems.push('TURNPIKE_TEMPO_CHAIN_ID must be a number');
  if (rpcUrl && currency && recipient) return { rpcUrl, chainId, currency, recipient };
  if (rpcUrl ?? currency ?? recipient) {
    problems.push(
      'TURNPIKE_TEMPO_RPC_URL, TURNPIKE_TEMPO_CURRENCY and TURNPIKE_TEMPO_RECIPIENT belong together: set all three or none',
    );
  }
  return undefined;
}

function readLive(environment: Environment, read: ReturnType<typeof reader>): LiveConfig {
  const { problems, optional, url } = read;
  const payTo = byNetwork(environment, PAY_TO);
  if (Object.keys(payTo).length === 0) {
    problems.push('TURNPIKE_PAY_TO_EVM or TURNPIKE_PAY_TO_SOLANA is missing: the addresses that are paid');
  }
  // Those of one network are checked where the networks are known.
  for (const family of ['evm', 'solana'] as const) {
    const fault = payTo[family] === undefined ? undefined : addressFault(family, payTo[family]);
    if (fault) problems.push(`${PAY_TO}${inVariable(family)} ${fault}`);
  }
  const id = optional('CDP_API_KEY_ID');
  const secret = optional('CDP_API_KEY_SECRET');
  if ((id === undefined) !== (secret === undefined)) {
    problems.push('CDP_API_KEY_ID and CDP_API_KEY_SECRET belong together: set both or none');
  }
  const facilitatorUrl = url('TURNPIKE_FACILITATOR_URL');
  const signers = { evm: optional('TURNPIKE_SIGNER_EVM'), solana: optional('TURNPIKE_SIGNER_SOLANA') };
  if (!id && !facilitatorUrl && !signers.evm && !signers.solana) {
    problems.push(
      'a facilitator is missing: set CDP_API_KEY_ID and CDP_API_KEY_SECRET (Coinbase), TURNPIKE_FACILITATOR_URL (any x402 facilitator), or TURNPIKE_SIGNER_EVM / TURNPIKE_SIGNER_SOLANA (settle in this process)',
    );
  }
  return {
    payTo,
    rpcUrls: byNetwork(environment, RPC_URL),
    coinbase: id && secret ? { id, secret } : undefined,
    facilitatorUrl,
    signers,
    mpp: readMpp(read),
    secretOf: (variable) => environment[variable]?.trim() || undefined,
  };
}

function readMediaBucket({ problems, optional, url }: ReturnType<typeof reader>): MediaBucket | undefined {
  const bucket = optional('TURNPIKE_MEDIA_S3_BUCKET');
  const endpoint = url('TURNPIKE_MEDIA_S3_ENDPOINT');
  const publicUrl = url('TURNPIKE_MEDIA_S3_PUBLIC_URL');
  if (bucket && publicUrl) {
    return { bucket, endpoint, region: optional('TURNPIKE_MEDIA_S3_REGION') ?? 'us-east-1', publicUrl };
  }
  if (bucket && !optional('TURNPIKE_MEDIA_S3_PUBLIC_URL')) {
    problems.push(
      'TURNPIKE_MEDIA_S3_PUBLIC_URL is missing: the address under which everybody can read the files of TURNPIKE_MEDIA_S3_BUCKET',
    );
  }
  if (!bucket && (endpoint ?? publicUrl)) {
    problems.push(
      'TURNPIKE_MEDIA_S3_BUCKET is missing: the bucket that the other TURNPIKE_MEDIA_S3_ variables speak of',
    );
  }
  return undefined;
}

/** Throws ConfigProblem with every problem at once. */
export function readConfig(environment: Environment): Config {
  const read = reader(environment);
  const { problems, optional, url } = read;
  const mode = optional('TURNPIKE_MODE') ?? 'sandbox';
  if (mode !== 'sandbox' && mode !== 'live') problems.push(`TURNPIKE_MODE is ${mode}: it takes sandbox or live`);
  const live = mode === 'live';
  const port = Number(optional('PORT') ?? '4020');
  if (!Number.isInteger(port) || port < 0 || port > 65_535) problems.push('PORT must be a number from 0 to 65535');
  const logLevel = optional('LOG_LEVEL') ?? 'info';
  if (!LOG_LEVELS.includes(logLevel)) problems.push(`LOG_LEVEL is ${logLevel}: it takes ${LOG_LEVELS.join(', ')}`);
  const drainSeconds = Number(optional('TURNPIKE_DRAIN_SECONDS') ?? '30');
  if (!(drainSeconds >= 0)) problems.push('TURNPIKE_DRAIN_SECONDS must be a number of seconds');
  const publicUrl = url('TURNPIKE_PUBLIC_URL') ?? '';
  if (live && publicUrl === '' && !optional('TURNPIKE_PUBLIC_URL')) {
    problems.push('TURNPIKE_PUBLIC_URL is missing: the origin under which callers reach the gateway');
  }
  const host = optional('HOST') ?? (live ? '0.0.0.0' : '127.0.0.1');
  const config: Config = {
    mode: live ? 'live' : 'sandbox',
    host,
    port,
    publicUrl: publicUrl || `http://${host}:${port}`,
    catalogueDirectory: optional('TURNPIKE_CATALOGUE') ?? 'catalogue',
    dataDirectory: optional('TURNPIKE_DATA') ?? (live ? 'data/live' : 'data/sandbox'),
    databaseUrl: optional('DATABASE_URL'),
    mediaBucket: readMediaBucket(read),
    logLevel,
    drainMs: drainSeconds * 1000,
    live: live ? readLive(environment, read) : undefined,
  };
  if (problems.length > 0) throw new ConfigProblem(problems);
  return config;
}
