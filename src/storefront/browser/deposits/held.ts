/**
 * The deposits of an account, kept in this browser. Two tabs that drew from the same channel would sign for each other's calls:
 * one has them at a time.
 */
import { type Address, getAddress, type Hex } from 'viem';
import type { Asset } from '../../../client/asset.ts';
import { type Deposits, openDeposits } from '../../../client/deposits.ts';
import { type DepositStore, inMemory } from '../../../client/kept-channels.ts';
import type { EvmSigner } from '../../../client/wallet.ts';
import type { ShownNetwork } from '../../wallets/shown-network.ts';
import type { TypedData } from '../wallets/evm-check.ts';
import { WalletProblem } from '../wallets/wallet.ts';

type Ask = (data: TypedData) => Promise<Hex>;

interface Held {
  readonly account: Address;
  readonly deposits: Deposits;
  /** Has what is drawn now signed. */
  signWith(ask: Ask): void;
  /** Lets another tab have them. */
  leave(): void;
}

/** Each deposit is agreed to on a button that says how much it is, and in the wallet. */
const NO_LIMIT = 10n ** 30n;

const nameOf = (account: Address): string => `turnpike-deposits ${account.toLowerCase()}`;

const storeOf = (account: Address): DepositStore => ({
  read: async () => localStorage.getItem(nameOf(account)) ?? undefined,
  write: async (text) => localStorage.setItem(nameOf(account), text),
});

/** As the client knows it; undefined where deposits of it cannot be signed. */
export function assetOf({ id, family, caip2, asset }: ShownNetwork): Asset | undefined {
  const { address, decimals, domain } = asset;
  return family === 'evm' && domain ? { id, network: caip2, family, address, decimals, domain } : undefined;
}

function depositsOf(signer: EvmSigner, networks: readonly ShownNetwork[], store: DepositStore): Deposits {
  const assets = networks.map(assetOf).filter((asset) => asset !== undefined);
  const accounts = new Map(assets.map(({ id }) => [id, signer]));
  return openDeposits({ most: NO_LIMIT, assets, payable: assets, accounts, store });
}

async function signsNothing(): Promise<Hex> {
  throw new WalletProblem('Nothing was to be signed.');
}

const signerOf = (account: Address, ask: Ask): EvmSigner =>
  ({ address: account, signTypedData: ask }) as unknown as EvmSigner;

/** Resolves with what lets go of it; undefined where another tab has it. */
function lock(name: string): Promise<(() => void) | undefined> {
  return new Promise((resolve, reject) => {
    const until = (taken: unknown) =>
      taken ? new Promise<void>((release) => resolve(() => release())) : resolve(undefined);
    navigator.locks.request(name, { ifAvailable: true }, until).catch(reject);
  });
}

let held: Held | undefined;

/** Throws WalletProblem while another tab has them. */
export async function holdDeposits(given: string, networks: readonly ShownNetwork[]): Promise<Held> {
  const account = getAddress(given);
  if (held?.account === account) return held;
  held?.leave();
  const release = await lock(nameOf(account));
  if (!release)
    throw new WalletProblem(
      'Another tab of this browser is paying from this deposit: wait for it or close it, then click again. Nothing was signed.',
    );
  let ask: Ask = signsNothing;
  const deposits = depositsOf(
    signerOf(account, (data) => ask(data)),
    networks,
    storeOf(account),
  );
  const own: Held = {
    account,
    deposits,
    signWith: (next) => {
      ask = next;
    },
    leave: () => {
      if (held === own) held = undefined;
      release();
    },
  };
  held = own;
  return own;
}

const NOBODY = '0x0000000000000000000000000000000000000000';

/** To be looked at: nothing of it can be signed. `account` undefined: one that has shown itself to nobody yet. */
export function lookAtDeposits(account: string | undefined, networks: readonly ShownNetwork[]): Deposits {
  if (account === undefined) return depositsOf(signerOf(NOBODY, signsNothing), networks, inMemory());
  const address = getAddress(account);
  if (held?.account === address) return held.deposits;
  return depositsOf(signerOf(address, signsNothing), networks, storeOf(address));
}

/** A payment of this tab may still be sent again. */
export const isHeld = (account: string): boolean => held?.account === getAddress(account);
