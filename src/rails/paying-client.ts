/** What `npm run pay` needs of a rail's payment client: `payer.ts` in the rail's folder, which only that command loads. */

import type { Money } from '../money.ts';
import { fromAtomic } from '../payment/assets.ts';

/** The wallets of `GET /sandbox`. */
export interface SandboxState {
  mode: 'sandbox';
  evm: Record<
    string,
    {
      rpcUrl: string;
      caip2: string;
      chainId: number;
      asset: string;
      symbol: string;
      decimals: number;
      /** Of the asset's EIP-712 domain. */
      name: string;
      version: string;
      privateKey: `0x${string}`;
    }
  >;
  solana?: { id: string; rpcUrl: string; caip2: string; mint: string; decimals: number; secretKey: string };
  tempo?: { rpcUrl: string; chainId: number; currency: string; privateKey: `0x${string}` };
  payTo: Record<string, string>;
}

/** What a challenge asks for, as the client understood it. */
export interface Offer {
  readonly amount: Money;
  /** Where it can be paid, in the gateway's own words. */
  readonly payable: readonly string[];
  /** One line about the payment that would be made. */
  readonly payment: string;
}

export interface Payer {
  /** Reads a 402. Throws PayProblem when it cannot be paid as asked. */
  offer(unpaid: Response, body: unknown): Offer;
  /** Signs the payment for that 402: headers for the same request. */
  sign(unpaid: Response): Promise<Record<string, string>>;
  /** Whether a payment that was turned down can be signed anew, now that the gateway has said what it lacked. */
  corrected?(refused: Response): Promise<boolean>;
  /** One line about the settlement. */
  receipt(answer: Response): string;
}

/** What a `payer.ts` exports. */
export interface PayerModule {
  /**
   * `network`: where to pay, by its neutral or CAIP-2 id or as the rail calls it; undefined: the first that is offered.
   * `scheme`: how, where the rail knows several ways; undefined: the usual one.
   */
  openPayer(sandbox: SandboxState, network: string | undefined, scheme?: string): Payer | Promise<Payer>;
}

/** What so many atomic units are worth of what a network (CAIP-2) is paid in. Tempo's tokens have six decimals. */
export function worthOn({ evm, solana }: SandboxState, network: string, amount: string): Money {
  const known = [...Object.values(evm), ...(solana ? [solana] : [])].find(({ caip2 }) => caip2 === network);
  return fromAtomic(amount, known ?? { decimals: 6 });
}

/** What went wrong and what to do about it, for a person. */
export class PayProblem extends Error {}
