/** A wallet of this browser, whichever kind of chain it signs for. */

import type { SolanaSignTransactionFeature } from '@solana/wallet-standard-features';
import type { Wallet as StandardWallet, WalletAccount, WalletWithFeatures } from '@wallet-standard/base';

/** Source: EIP-1193. */
export interface EvmProvider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
  on(event: 'accountsChanged' | 'chainChanged', listener: (value: never) => void): unknown;
  removeListener(event: 'accountsChanged' | 'chainChanged', listener: (value: never) => void): unknown;
}

interface Shown {
  readonly id: string;
  readonly name: string;
  /** A `data:` URI. */
  readonly icon: string;
  /** Has play money, and nothing else. */
  readonly isSandbox: boolean;
}

export interface EvmWallet extends Shown {
  readonly family: 'evm';
  readonly provider: EvmProvider;
}

type ConnectFeature = {
  readonly 'standard:connect': { connect(): Promise<{ readonly accounts: readonly WalletAccount[] }> };
};

type EventsFeature = {
  readonly 'standard:events'?: { on(event: 'change', listener: () => void): () => void };
};

export type SigningWallet = WalletWithFeatures<ConnectFeature & SolanaSignTransactionFeature & EventsFeature>;

export interface SolanaWallet extends Shown {
  readonly family: 'solana';
  readonly wallet: SigningWallet;
}

export type PayingWallet = EvmWallet | SolanaWallet;

const NEEDED = ['standard:connect', 'solana:signTransaction'];

export const signsForSolana = (wallet: StandardWallet): wallet is SigningWallet =>
  NEEDED.every((feature) => feature in wallet.features) && wallet.chains.some((chain) => chain.startsWith('solana:'));

/** Why a wallet did not sign, in words for the person who asked it, with what to do next. Nothing was sent. */
export class WalletProblem extends Error {}

/** Codes of EIP-1193 and EIP-1474. */
const REFUSED = 4001;
const BUSY = -32002;

interface Thrown {
  readonly code?: unknown;
  readonly message?: unknown;
  /** Some wallets put what went wrong into an internal error. */
  readonly data?: { readonly originalError?: { readonly code?: unknown } };
}

export function codeOf(error: unknown): number | undefined {
  const { code: own, data } = (error ?? {}) as Thrown;
  const code = data?.originalError?.code ?? own;
  return typeof code === 'number' ? code : undefined;
}

/** What a wallet threw, in words. Solana's wallets have no codes: their refusals are told by what they say. */
export function walletProblem(error: unknown, wallet: string): WalletProblem {
  if (error instanceof WalletProblem) return error;
  const said = error instanceof Error ? error.message : String((error as Thrown | undefined)?.message ?? '');
  const code = codeOf(error);
  if (code === REFUSED || /reject|denied|declined|cancel/i.test(said))
    return new WalletProblem(`${wallet} did not sign: the request was refused. Click again to ask it once more.`);
  if (code === BUSY)
    return new WalletProblem(
      `${wallet} is still waiting for an answer to an earlier request: open it, then click again.`,
    );
  return new WalletProblem(`${wallet} could not sign${said === '' ? '.' : `: ${said.slice(0, 200)}`}`);
}
