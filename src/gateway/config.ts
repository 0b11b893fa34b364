/** The environment as a Config. All problems are reported at once, with the variable's name and what it takes. */
import { availableParallelism } from 'node:os';
import { type AlertConfig, secretFault } from '../alerts/secret.ts';
import { isLoopback } from '../catalogue/settings/loopback.ts';
import type { Network } from '../catalogue/types.ts';
import { ConfigProblem, readVariables, type VariableReader, type Variables } from '../environment.ts';
import { readTrustedProxies, type TrustedProxies } from '../http/client-address.ts';
import { addressFault } from '../on-chain/address.ts';
import { originOf } from '../origin.ts';
import { rails } from '../rails/index.ts';
import type { MediaBucket } from '../upstream/media/s3.ts';
import { unknownIn } from './unknown-variables.ts';

/** Where a gateway keeps what it knows, and of which mode that is: all that most commands have to know of it. */
export interface KeptConfig {
  readonly mode: 'sandbox' | 'live';
  readonly catalogueDirectory: string;
  readonly dataDirectory: string;
  /** Postgres; undefined: SQLite in the data directory. */
  readonly databaseUrl: string | undefined;
  /** Where generated files are kept; undefined: in the data directory, served at `/media`. */
  readonly mediaBucket: MediaBucket | undefined;
  readonly logLevel: string;
}

export interface Config extends KeptConfig {
  readonly host: string;
  readonly port: number;
  /** Where the operator's console, `/metrics` and the probes are served; undefined: nowhere. Without a token one is made. */
  readonly admin: { readonly host: string; readonly port: number; readonly token?: string } | undefined;
  /** Origin under which callers reach the gateway, without a trailing slash. */
  readonly publicUrl: string;
  /** Whether a saved file of the catalogue is sold at once. */
  readonly watch: boolean;
  /** Whose word counts for where a request comes from. */
  readonly trustedProxies: TrustedProxies;
  /** How webhooks are told what `service.yaml` wants them told. */
  readonly alerts: AlertConfig;
  /** The part of those who only ask for a price that has a line in the log, 0 to 1. */
  readonly logUnpaid: number;
  /** How many processes answer. */
  readonly workers: number;
  /** How long calls under way may go on once the gateway has to stop, in milliseconds. */
  readonly drainMs: number;
  /** Live mode only: in the sandbox all of this is made afresh at every start. */
  readonly live: LiveConfig | undefined;
}

export interface LiveConfig {
  /** Pay-to addresses: by network id, else by family. */
  readonly payTo: Readonly<Record<string, string>>;
  /** RPC addresses by network id, over those in `networks.yaml`. */
  readonly rpcUrls: Readonly<Record<string, string>>;
  /** What a network's own coin is worth at most, in dollars, by network id, over what is built in; 0: not weighed. */
  readonly coinDollars: Readonly<Record<string, string>>;
  readonly coinbase: { readonly id: string; readonly secret: string } | undefined;
  readonly facilitatorUrl: string | undefined;
  /** Keys that settle in this process. */
  readonly signers: { readonly evm: string | undefined; readonly solana: string | undefined };
  /** Where rails and upstreams read settings and secrets of their own. */
  readonly variables: Variables;
}

/** Where a network is paid in live mode; undefined: nowhere. */
export const payToOf = ({ payTo }: LiveConfig, { id, family }: Network): string | undefined =>
  payTo[id] ?? payTo[family];

export const rpcUrlOf = ({ rpcUrls }: LiveConfig, { id, live }: Network): string | undefined =>
  rpcUrls[id] ?? live.rpcUrl;

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

export const PAY_TO = 'TURNPIKE_PAY_TO_';
export const RPC_URL = 'TURNPIKE_RPC_URL_';
export const COIN_USD = 'TURNPIKE_COIN_USD_';

/** How those begin that commands read alone. */
const OF_COMMANDS = ['TURNPIKE_WALLET_', 'TURNPIKE_OWNERSHIP_KEY'];

/** What stands after the prefix for a network's id or a family. */
export const inVariable = (name: string): string => name.toUpperCase().replaceAll('-', '_');

/** `TURNPIKE_PAY_TO_CHAIN_C` with the prefix `TURNPIKE_PAY_TO_` is `chain-c`. */
function byNetwork(environment: Variables, prefix: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, untrimmed] of Object.entries(environment)) {
    const value = untrimmed?.trim();
    if (!name.startsWith(prefix) || !value) continue;
    found[name.slice(prefix.length).toLowerCase().replaceAll('_', '-')] = value;
  }
  return found;
}

function readLive(environment: Variables, read: VariableReader): LiveConfig {
  const { problems, optional, url } = read;
  const payTo = byNetwork(environment, PAY_TO);
  if (Object.keys(payTo).length === 0) {
    problems.push('TURNPIKE_PAY_TO_EVM or TURNPIKE_PAY_TO_SOLANA is missing: the addresses that are paid');
  }
  // Those of one network are checked where the networks are known.
  for (const family of ['evm', 'solana'] as const) {
    const name = `${PAY_TO}${inVariable(family)}`;
    const address = optional(name);
    const fault = address === undefined ? undefined : addressFault(family, address);
    if (fault) problems.push(`${name} ${fault}`);
  }
  const id = optional('CDP_API_KEY_ID');
  const secret = optional('CDP_API_KEY_SECRET');
  if ((id === undefined) !== (secret === undefined)) {
    problems.push('CDP_API_KEY_ID and CDP_API_KEY_SECRET belong together: set both or none');
  }
  const facilitatorUrl = url('TURNPIKE_FACILITATOR_URL');
  const signers = {
    evm: read.privateKey('TURNPIKE_SIGNER_EVM', 'evm'),
    solana: read.privateKey('TURNPIKE_SIGNER_SOLANA', 'solana'),
  };
  if (!id && !facilitatorUrl && !signers.evm && !signers.solana) {
    problems.push(
      'a facilitator is missing: set CDP_API_KEY_ID and CDP_API_KEY_SECRET (Coinbase), TURNPIKE_FACILITATOR_URL (any x402 facilitator), or TURNPIKE_SIGNER_EVM / TURNPIKE_SIGNER_SOLANA (settle in this process)',
    );
  }
  // Each rail reads them again when it is opened: here their problems are reported together with all others.
  for (const rail of rails) rail.readConfig(read);
  return {
    payTo,
    rpcUrls: byNetwork(environment, RPC_URL),
    coinDollars: byNetwork(environment, COIN_USD),
    coinbase: id && secret ? { id, secret } : undefined,
    facilitatorUrl,
    signers,
    variables: environment,
  };
}

function readMediaBucket({ problems, optional, url }: VariableReader): MediaBucket | undefined {
  const bucket = optional('TURNPIKE_MEDIA_S3_BUCKET');
  const endpoint = url('TURNPIKE_MEDIA_S3_ENDPOINT');
  const publicUrl = url('TURNPIKE_MEDIA_S3_PUBLIC_URL');
  const region = optional('TURNPIKE_MEDIA_S3_REGION') ?? 'us-east-1';
  if (bucket && publicUrl) return { bucket, endpoint, region, publicUrl };
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

/** It stands in a header and behind the `#` of an address. */
const TOKEN = /^[\w-]{16,512}$/;

const DEFAULT_PORT = '4020';

/** Not a number unless it is written in digits: 0x10 is meant to be something else. */
const numberIn = (text: string): number => (/^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN);

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 0 && port <= 65_535;

function readAdmin({ problems, optional }: VariableReader): Config['admin'] {
  const given = optional('TURNPIKE_ADMIN_PORT');
  // As browsers send it.
  const host = optional('TURNPIKE_ADMIN_HOST')?.toLowerCase() ?? '127.0.0.1';
  const token = optional('TURNPIKE_ADMIN_TOKEN');
  if (given === undefined) return undefined;
  const port = numberIn(given);
  if (!isPort(port)) problems.push(`TURNPIKE_ADMIN_PORT is ${given}: it takes a number from 0 to 65535`);
  if (token !== undefined && !TOKEN.test(token)) {
    problems.push(
      'TURNPIKE_ADMIN_TOKEN must have 16 characters or more, letters, digits, - and _: openssl rand -hex 32',
    );
  }
  return { host, port, ...(token !== undefined && { token }) };
}

/** Two cannot listen at one port of one address. */
function checkPorts(host: string, port: number, admin: Config['admin'], problems: string[]): void {
  const isShared = admin?.host === host || [host, admin?.host].some((one) => one === '0.0.0.0' || one === '::');
  if (port === 0 || admin?.port !== port || !isShared) return;
  problems.push(`TURNPIKE_ADMIN_PORT and PORT are both ${port}: give each a port of its own`);
}

/** `1` or `0`. */
function readSwitch({ optional, problems }: VariableReader, name: string): boolean | undefined {
  const given = optional(name);
  if (given !== undefined && given !== '0' && given !== '1') problems.push(`${name} is ${given}: it takes 1 or 0`);
  return given === undefined ? undefined : given === '1';
}

/** The address of a socket as libpq and hosts of databases write it, `user@/name?host=/directory`, is else no URL. */
const withHost = (databaseUrl: string | undefined): string | undefined =>
  databaseUrl?.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?])/, '$1localhost');

function readKept(read: VariableReader): KeptConfig {
  const { problems, optional } = read;
  const mode = optional('TURNPIKE_MODE') ?? 'sandbox';
  if (mode !== 'sandbox' && mode !== 'live') problems.push(`TURNPIKE_MODE is ${mode}: it takes sandbox or live`);
  const logLevel = optional('LOG_LEVEL') ?? 'info';
  if (!LOG_LEVELS.includes(logLevel)) problems.push(`LOG_LEVEL is ${logLevel}: it takes ${LOG_LEVELS.join(', ')}`);
  const databaseUrl = withHost(optional('DATABASE_URL'));
  if (databaseUrl && !/^postgres(ql)?:$/.test(URL.canParse(databaseUrl) ? new URL(databaseUrl).protocol : '')) {
    problems.push(
      'DATABASE_URL is not the address of a Postgres database: give postgres://user:password@host/name, where the password has %23 for #, %2F for / and %3F for ?',
    );
  }
  return {
    mode: mode === 'live' ? 'live' : 'sandbox',
    catalogueDirectory: optional('TURNPIKE_CATALOGUE') ?? 'catalogue',
    dataDirectory: optional('TURNPIKE_DATA') ?? (mode === 'live' ? 'data/live' : 'data/sandbox'),
    databaseUrl,
    mediaBucket: readMediaBucket(read),
    logLevel,
  };
}

function readAlerts(read: VariableReader, isLive: boolean): AlertConfig {
  const secret = read.optional('TURNPIKE_ALERT_SECRET');
  const fault = secret === undefined ? undefined : secretFault(secret);
  if (fault !== undefined) read.problems.push(fault);
  return { secret, allowsPrivate: readSwitch(read, 'TURNPIKE_ALERT_PRIVATE') ?? !isLive };
}

function readProxies({ optional, problems }: VariableReader): TrustedProxies {
  try {
    return readTrustedProxies(optional('TURNPIKE_TRUST_PROXY'));
  } catch (error) {
    const words = 'the number of proxies in front (0: none), or their addresses and networks with commas between them';
    problems.push(`TURNPIKE_TRUST_PROXY takes ${words}: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

const MOST_WORKERS = 256;

/** More than one share their store and their money: chains and doubles of the sandbox live in one process. */
function readWorkers({ problems, optional }: VariableReader, isLive: boolean): number {
  const given = optional('TURNPIKE_WORKERS') ?? '1';
  const workers = given === 'auto' ? availableParallelism() : numberIn(given);
  if (!Number.isInteger(workers) || workers < 1 || workers > MOST_WORKERS) {
    problems.push(`TURNPIKE_WORKERS must be auto (one process per CPU), or a number from 1 to ${MOST_WORKERS}`);
  } else if (workers > 1 && !isLive) {
    problems.push(
      `TURNPIKE_WORKERS is ${given}, which is ${workers} processes here: the sandbox runs in one. Leave it out, or set TURNPIKE_MODE to live`,
    );
  } else if (workers > 1 && !optional('DATABASE_URL')) {
    problems.push(
      `TURNPIKE_WORKERS is ${given}, which is ${workers} processes here: SQLite is for one. Set DATABASE_URL to a Postgres database, or TURNPIKE_WORKERS to 1`,
    );
  }
  return workers;
}

/** Throws ConfigProblem with every problem at once. */
export const readConfig = (environment: Variables): Config =>
  soundly((read) => configOf(environment, read), environment);

/** The same for commands, which are not asked for what only a gateway that sells needs. */
export const readKeptConfig = (environment: Variables): KeptConfig => soundly(readKept, environment);

/** The same for who tells webhooks. */
export const readAlertConfig = (environment: Variables): KeptConfig & Pick<Config, 'alerts'> =>
  soundly((read) => {
    const kept = readKept(read);
    return { ...kept, alerts: readAlerts(read, kept.mode === 'live') };
  }, environment);

/** Throws ConfigProblem unless it is read without problems. */
function soundly<Read>(reader: (read: VariableReader) => Read, environment: Variables): Read {
  const read = readVariables(environment);
  const config = reader(read);
  if (read.problems.length > 0) throw new ConfigProblem([...read.problems, ...unknownVariables(environment)]);
  return config;
}

/** Of a variable that is set and that nothing reads: its name, never its value, and the one that was probably meant. */
export function unknownVariables(environment: Variables): string[] {
  // Live mode reads all there are.
  const live = { TURNPIKE_MODE: 'live' };
  const read = readVariables(live);
  configOf(live, read);
  return unknownIn(environment, read.names, [PAY_TO, RPC_URL, COIN_USD, ...OF_COMMANDS]);
}

const OUTGOING_PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

/** What was set and is probably not meant, or does not do what it does elsewhere. */
export function doubtful({ live, publicUrl }: Config, environment: Variables = {}): string[] {
  if (!live) return [];
  const unused = OUTGOING_PROXIES.filter((name) => environment[name]?.trim()).map(
    (name) =>
      `${name} is set, and nothing goes through it: providers, facilitators and the networks' nodes have to be reached directly`,
  );
  if (!publicUrl.startsWith('http:') || isLoopback(publicUrl)) return unused;
  return [
    `TURNPIKE_PUBLIC_URL is ${publicUrl}: prices, payments and API keys would cross the network for anybody to read and change. Put a proxy with a certificate before the gateway, and give its https address`,
    ...unused,
  ];
}

/** Node's timers end at once that are to last for more than 24 days. */
const LONGEST_DRAIN_SECONDS = 86_400;

const isOrigin = ({ pathname, search, hash, username }: URL): boolean =>
  pathname === '/' && search + hash + username === '';

function configOf(environment: Variables, read: VariableReader): Config {
  const { problems, optional, url } = read;
  const kept = readKept(read);
  const live = kept.mode === 'live';
  const port = numberIn(optional('PORT') ?? DEFAULT_PORT);
  if (!isPort(port)) problems.push(`PORT is ${optional('PORT')}: it takes a number from 0 to 65535`);
  const logUnpaid = numberIn(optional('TURNPIKE_LOG_UNPAID') ?? '1');
  if (!(logUnpaid >= 0 && logUnpaid <= 1)) {
    problems.push('TURNPIKE_LOG_UNPAID must be a number from 0 to 1: the part of unpaid requests that the log has');
  }
  const drain = optional('TURNPIKE_DRAIN_SECONDS') ?? '30';
  const drainSeconds = numberIn(drain);
  if (!(drainSeconds >= 0 && drainSeconds <= LONGEST_DRAIN_SECONDS)) {
    problems.push(`TURNPIKE_DRAIN_SECONDS is ${drain}: it takes a number of seconds, at most ${LONGEST_DRAIN_SECONDS}`);
  }
  const publicUrl = url('TURNPIKE_PUBLIC_URL') ?? '';
  if (live && publicUrl === '' && !optional('TURNPIKE_PUBLIC_URL')) {
    problems.push('TURNPIKE_PUBLIC_URL is missing: the origin under which callers reach the gateway');
  }
  if (publicUrl !== '' && !isOrigin(new URL(publicUrl))) {
    const { origin } = new URL(publicUrl);
    problems.push(
      `TURNPIKE_PUBLIC_URL has more than an origin, at whose root everything is looked for: give ${origin}`,
    );
  }
  const host = optional('HOST') ?? (live ? '0.0.0.0' : '127.0.0.1');
  const reached = originOf(host, 0);
  // Where callers reach it elsewhere, the system says whether it can listen there.
  if (publicUrl === '' && (!URL.canParse(reached) || !isOrigin(new URL(reached)))) {
    problems.push(`HOST is ${host}: it takes an address or a name of this machine, without a port, or 0.0.0.0 for all`);
  }
  const admin = readAdmin(read);
  checkPorts(host, port, admin, problems);
  return {
    ...kept,
    host,
    port,
    admin,
    publicUrl: publicUrl || originOf(host, port),
    trustedProxies: readProxies(read),
    alerts: readAlerts(read, live),
    logUnpaid,
    watch: readSwitch(read, 'TURNPIKE_WATCH') ?? !live,
    workers: readWorkers(read, live),
    drainMs: drainSeconds * 1000,
    live: live ? readLive(environment, read) : undefined,
  };
}
