import type { Log } from './log.ts';
import { isEvmKey, isSolanaKeyPair } from './on-chain/private-key.ts';

/** Settings by the names of their variables, in the environment or in what takes its place. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Everything that is wrong with the settings. */
export class ConfigProblem extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length} problem(s):\n${problems.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigProblem';
    this.problems = problems;
  }
}

/** Reads settings one by one, and collects what is wrong with them to report all of it at once. */
export interface VariableReader {
  /** Each with the variable's name and what it takes. */
  readonly problems: string[];
  /** The names that were read, set or not. */
  readonly names: ReadonlySet<string>;
  /** Undefined for a variable that is not set, or blank. */
  optional(name: string): string | undefined;
  /** Without slashes at its end. */
  url(name: string): string | undefined;
  /** The private key of an account: hex on EVM, base58 on Solana. */
  privateKey(name: string, family: keyof typeof PRIVATE_KEYS): string | undefined;
}

/** What a private key is, and how that is said. */
const PRIVATE_KEYS = {
  evm: { isKey: isEvmKey, words: '0x and 64 hex digits' },
  solana: { isKey: isSolanaKeyPair, words: 'the 64 bytes of a key pair in base58, the public key last' },
} as const;

/** As in a file that was written for a shell, and is read by what takes each line as it is. */
const QUOTED = /^(["'])(.+)\1$/;

const QUOTED_KEY = 'a key is not used: quotes around its value would be part of it, so give it without them';

/**
 * Providers' keys, by the names of their variables. One in quotes is none, for its provider would refuse every call: the log
 * says so, once.
 */
export function keysIn(variables: Variables, log?: Log): (variable: string) => string | undefined {
  const told = new Set<string>();
  return (variable) => {
    const value = variables[variable]?.trim() || undefined;
    if (value === undefined || !QUOTED.test(value)) return value;
    if (!told.has(variable)) log?.warn({ variable }, QUOTED_KEY);
    told.add(variable);
    return undefined;
  };
}

export function readVariables(variables: Variables): VariableReader {
  const problems: string[] = [];
  const names = new Set<string>();
  const optional = (name: string): string | undefined => {
    const value = variables[name]?.trim() || undefined;
    const quoted = value === undefined ? undefined : QUOTED.exec(value);
    if (quoted && !names.has(name)) {
      problems.push(`${name} has quotes around its value, which would be part of it: give it without them`);
    }
    names.add(name);
    return quoted ? quoted[2] : value;
  };
  const url = (name: string): string | undefined => {
    const value = optional(name);
    // `shop.example:443` alone would be read as a scheme.
    if (value === undefined || (/^https?:/i.test(value) && URL.canParse(value))) return value?.replace(/\/+$/, '');
    problems.push(`${name} is not a URL: give one such as https://api.example.com`);
    return undefined;
  };
  const privateKey: VariableReader['privateKey'] = (name, family) => {
    const value = optional(name);
    const { isKey, words } = PRIVATE_KEYS[family];
    if (value !== undefined && !isKey(value)) problems.push(`${name} is not a private key: give ${words}`);
    return value;
  };
  return { problems, names, optional, url, privateKey };
}
