/** Channels as they are kept between two runs of a program: one text, in JSON. Amounts in atomic units. */

import { asJsonObject, asJsonObjects, isJsonObject, type JsonObject, textOrNull } from '../json.ts';
import type { ChannelConfig } from '../on-chain/channel-config.ts';
import { isSameAddress } from './asset.ts';
import { readUnits } from './channel.ts';
import type { SignedDeposit } from './voucher.ts';

/** Where a program keeps the channels of one client: a file, or a browser's storage. One client at a time has it. */
export interface DepositStore {
  /** What was written last; undefined: nothing yet. */
  read(): Promise<string | undefined>;
  /** It is safe when this resolves. Part of it is a signature: nobody else should read it. */
  write(text: string): Promise<void>;
}

/** Keeps nothing beyond the process. */
export function inMemory(): DepositStore {
  let kept: string | undefined;
  return {
    read: async () => kept,
    write: async (text) => {
      kept = text;
    },
  };
}

export interface Channel {
  /** CAIP-2 id. */
  readonly network: string;
  readonly config: ChannelConfig;
  /** All deposits that were signed, whatever became of them. */
  readonly deposited: bigint;
  /** What of them was given back. */
  readonly returned: bigint;
  /** What the contract holds, as far as the gateway has said. */
  readonly balance: bigint;
  /** What calls have cost in all. One whose end is not known has cost all that was signed for it. */
  readonly charged: bigint;
  /** What of that the gateway has told: calls whose end is not known are beyond it. */
  readonly told: bigint;
  /** The most that was ever signed for: what the receiver could claim. */
  readonly signed: bigint;
  /** A deposit that was signed last, and of which nobody has said that it was made; `expected`: the balance with it. */
  readonly pending: { readonly deposit: SignedDeposit; readonly expected: bigint } | undefined;
  /** Until when one of the deposits that were signed may still be made, whatever a gateway says: seconds since the epoch. */
  readonly openUntil: bigint;
  /** Calls are drawn from another: the gateway takes no vouchers of this one. What is left of it can be asked back. */
  readonly isClosed: boolean;
}

const AMOUNTS = ['deposited', 'returned', 'balance', 'charged', 'signed'] as const;

/** Until when the deposit may be made: seconds since the epoch. */
export const endOf = ({ authorization }: SignedDeposit): bigint =>
  BigInt(authorization.erc3009Authorization.validBefore);

function unreadable(): Error {
  return new Error(
    'what is kept of the deposits cannot be read: give back what is left with the program that wrote it',
  );
}

function units(value: unknown): bigint {
  const read = readUnits(value);
  if (read === undefined) throw unreadable();
  return read;
}

function readDeposit(kept: JsonObject): SignedDeposit {
  const { erc3009Authorization } = asJsonObject(kept.authorization);
  units(asJsonObject(erc3009Authorization).validBefore);
  return kept as unknown as SignedDeposit;
}

function readChannel(kept: JsonObject): Channel {
  const network = textOrNull(kept.network);
  if (network === null || !isJsonObject(kept.config)) throw unreadable();
  const [deposited, returned, balance, charged, signed] = AMOUNTS.map((name) => units(kept[name]));
  const given = isJsonObject(kept.pending) ? kept.pending : undefined;
  const pending = given && {
    deposit: readDeposit(asJsonObject(given.deposit)),
    expected: units(given.expected),
  };
  return {
    network,
    config: kept.config as unknown as ChannelConfig,
    deposited: deposited ?? 0n,
    returned: returned ?? 0n,
    balance: balance ?? 0n,
    charged: charged ?? 0n,
    told: kept.told === undefined ? (charged ?? 0n) : units(kept.told),
    signed: signed ?? 0n,
    pending,
    // What was kept before there was such a time has that of its last deposit alone.
    openUntil: kept.openUntil === undefined ? ((pending && endOf(pending.deposit)) ?? 0n) : units(kept.openUntil),
    isClosed: kept.isClosed === true,
  };
}

/** Throws Error for a text that is no list of channels, or one of other payers. */
export function readChannels(text: string | undefined, payers: readonly string[]): Channel[] {
  if (text === undefined) return [];
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch {
    throw unreadable();
  }
  if (!isJsonObject(kept) || !Array.isArray(kept.channels)) throw unreadable();
  const channels = asJsonObjects(kept.channels).map(readChannel);
  if (channels.every(({ config }) => payers.some((payer) => isSameAddress(config.payer, payer)))) return channels;
  throw new Error('what is kept are the deposits of another account: name another place for those of this one');
}

export const writeChannels = (channels: Iterable<Channel>): string =>
  JSON.stringify({ channels: [...channels] }, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
