/** What has to be known of a payment to ask its chain later what became of it. No signatures. */
import { findEip3009Settlement } from '../chains/evm.ts';
import type { ChainOutcome } from '../chains/outcome.ts';
import { findPermit2Settlement } from '../chains/permit2.ts';
import { findSolanaSettlement } from '../chains/solana.ts';
import type { PayableNetwork } from '../networks.ts';
import type { X402Proof } from '../rails/x402.ts';
import { networkName } from './wire.ts';

const CLOCK_SKEW_SECONDS = 120;

interface Common {
  readonly x402Version: 1 | 2;
  /** The gateway's own name of the network. */
  readonly network: string;
  /** The payment's name of it, for the receipt. */
  readonly networkName: string;
  readonly payer: string;
  /** Seconds since the epoch: the payment was seen then, so it was not settled earlier. */
  readonly since: number;
}

interface Eip3009Trace extends Common {
  readonly kind: 'eip3009';
  readonly asset: string;
  readonly payTo: string;
  readonly nonce: string;
  /** Atomic units. */
  readonly value: string;
  readonly validBefore: number;
}

interface Permit2Trace extends Common {
  readonly kind: 'permit2';
  readonly asset: string;
  readonly payTo: string;
  readonly nonce: string;
  readonly deadline: number;
}

interface SolanaTrace extends Common {
  readonly kind: 'solana';
  readonly source: string;
  readonly messageHash: string;
  readonly blockhash: string;
}

export type Trace = Eip3009Trace | Permit2Trace | SolanaTrace;

/** `now` in milliseconds. */
export function traceOf(
  { authorization, payment }: X402Proof,
  network: PayableNetwork,
  payer: string,
  now: number,
): Trace {
  const common = {
    x402Version: payment.x402Version,
    network: network.id,
    networkName: networkName(payment),
    payer,
    since: Math.floor(now / 1000) - CLOCK_SKEW_SECONDS,
  };
  switch (authorization.kind) {
    case 'eip3009': {
      const { kind, nonce, value, validBefore } = authorization;
      return {
        ...common,
        kind,
        asset: network.asset.address,
        payTo: network.payTo,
        nonce,
        value: value.toString(),
        validBefore: Number(validBefore),
      };
    }
    case 'solana': {
      const { kind, source, messageHash, blockhash } = authorization;
      return { ...common, kind, source, messageHash, blockhash };
    }
    case 'permit2': {
      const { kind, nonce, deadline } = authorization;
      return { ...common, kind, asset: network.asset.address, payTo: network.payTo, nonce, deadline: Number(deadline) };
    }
  }
}

/** Never throws: what cannot be asked is `unknown`. */
export async function askChain(trace: Trace, rpcUrl: string, now: number): Promise<ChainOutcome> {
  switch (trace.kind) {
    case 'eip3009':
      return findEip3009Settlement({ ...trace, rpcUrl });
    case 'solana':
      return findSolanaSettlement({ ...trace, since: trace.since * 1000, rpcUrl, now });
    case 'permit2':
      return findPermit2Settlement({ ...trace, rpcUrl });
  }
}
