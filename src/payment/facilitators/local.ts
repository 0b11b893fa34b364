import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { asJsonObject } from '../../json.ts';
import type { Settlement } from '../../on-chain/settlement.ts';
import type { NonceStore } from '../../store/nonce-store.ts';
import { type Attempt, newAttempt } from './attempt.ts';
import {
  type Facilitator,
  type FacilitatorTransfer,
  FacilitatorUnreachable,
  SETTLE_TIMEOUT_MS,
  VERIFY_TIMEOUT_MS,
} from './facilitator.ts';
import { amountOf, asText } from './json.ts';
import {
  type EvmNetworkOptions,
  type LocalNetwork,
  MALFORMED,
  type Scheme,
  type SettlingTimes,
  type SolanaNetworkOptions,
} from './local-network.ts';
import { ownNonces } from './own-nonces.ts';
import { isPending, isSpent, plainReason } from './reasons.ts';

export interface LocalOptions extends Partial<SettlingTimes> {
  readonly evm: readonly EvmNetworkOptions[];
  readonly solana: readonly SolanaNetworkOptions[];
}

export interface LocalFacilitator extends Facilitator {
  /** Other processes send from the same accounts: from now on `nonces` says by which numbers. */
  share(nonces: NonceStore): void;
}

const CONFIRMATION_TIMEOUT_MS = 25_000;

interface NamedNetwork {
  /** By protocol version. */
  readonly names: { readonly 1: string | undefined; readonly 2: string };
  readonly network: LocalNetwork;
}

const namesOf = ({ caip2, v1Name }: EvmNetworkOptions | SolanaNetworkOptions) => ({ 1: v1Name, 2: caip2 });

interface Selected {
  readonly scheme: Scheme;
  readonly payload: PaymentPayload;
  readonly requirements: PaymentRequirements;
}

const UNREACHABLE = 'the chain could not be asked about the payment';

function stop(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new FacilitatorUnreachable('the chain did not answer in time'));
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}

function checkKeys({ evm, solana }: LocalOptions): void {
  if (evm.some(({ privateKey }) => !/^0x[0-9a-fA-F]{64}$/.test(privateKey))) {
    throw new Error('the key that settles on EVM networks must be 0x and 64 hexadecimal digits');
  }
  if (solana.some(({ secretKey }) => !/^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(secretKey))) {
    throw new Error('the key that settles on Solana must be the 64 bytes of a key pair in base58');
  }
}

/**
 * A facilitator in this process, on @x402/core, @x402/evm and @x402/svm: EIP-3009 and Solana transfers in both
 * protocol versions, and `upto` where the chain has Permit2 and its x402 proxy. The packages are loaded at the
 * first use. Throws for a key that is none.
 */
export function localFacilitator(options: LocalOptions): LocalFacilitator {
  checkKeys(options);
  const times: SettlingTimes = { confirmationTimeoutMs: CONFIRMATION_TIMEOUT_MS, ...options };
  let nonces: NonceStore = ownNonces();
  let loading: Promise<readonly NamedNetwork[]> | undefined;

  const openEvm = async (network: EvmNetworkOptions): Promise<NamedNetwork> => {
    const { createLocalEvmNetwork } = await import('./local-evm.ts');
    return { names: namesOf(network), network: createLocalEvmNetwork(network, () => nonces, times) };
  };

  const openSolana = async (network: SolanaNetworkOptions): Promise<NamedNetwork> => {
    const { createLocalSolanaNetwork } = await import('./local-solana.ts');
    return { names: namesOf(network), network: await createLocalSolanaNetwork(network, times) };
  };

  const networks = (): Promise<readonly NamedNetwork[]> => {
    loading ??= Promise.all([...options.evm.map(openEvm), ...options.solana.map(openSolana)]);
    return loading;
  };

  /** By CAIP-2 id, without those that do not answer. */
  async function fromEach<Value>(ask: (network: LocalNetwork) => Promise<Value>): Promise<ReadonlyMap<string, Value>> {
    const asked = (await networks()).map(async ({ names, network }) => [names[2], await ask(network)] as const);
    const found = await Promise.allSettled(asked);
    return new Map(found.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
  }

  async function select(payload: object, requirements: object, attempt: Attempt): Promise<Selected | string> {
    const version = asJsonObject(payload).x402Version;
    const { scheme: name, network: asked } = asJsonObject(requirements);
    const found = (await networks()).find(({ names }) => names[version === 1 ? 1 : 2] === asText(asked));
    const scheme = asText(asked) ? found?.network.scheme({ version, name, payload, requirements }, attempt) : undefined;
    if (!scheme) return `the facilitator does not do ${String(name)} on ${String(asked)}`;
    const problem = found?.network.problem(payload, requirements);
    if (problem) return problem;
    // The schemes read both versions out of the types of version 2.
    return { scheme, payload: payload as PaymentPayload, requirements: requirements as PaymentRequirements };
  }

  return {
    async supported() {
      const found = await Promise.allSettled((await networks()).map(({ network }) => network.kinds()));
      const kinds = found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      if (kinds.length > 0 || found.length === 0) return kinds;
      const causes = found.map((result) => (result.status === 'rejected' ? String(result.reason.message) : ''));
      throw new FacilitatorUnreachable(causes.join('; '));
    },

    async verify(payload, requirements, signal = AbortSignal.timeout(VERIFY_TIMEOUT_MS)) {
      const attempt = newAttempt();
      const selected = await select(payload, requirements, attempt);
      if (typeof selected === 'string') return { valid: false, reason: selected };
      const verdict = await Promise.race([
        selected.scheme.verify(selected.payload, selected.requirements).catch(() => undefined),
        stop(signal),
      ]);
      if (verdict?.isValid) {
        return { valid: true, payer: verdict.payer ?? '', ...(attempt.deploys && { deploys: true }) };
      }
      if (attempt.unreachable) throw new FacilitatorUnreachable(UNREACHABLE);
      if (attempt.told) return { valid: false, reason: attempt.told };
      if (!verdict) return { valid: false, reason: MALFORMED };
      return { valid: false, reason: plainReason(verdict.invalidReason, attempt.refusal) };
    },

    async settle(
      payload,
      requirements,
      signal = AbortSignal.timeout(SETTLE_TIMEOUT_MS),
    ): Promise<Settlement<FacilitatorTransfer>> {
      const attempt = newAttempt();
      const work = async (): Promise<Settlement<FacilitatorTransfer>> => {
        const selected = await select(payload, requirements, attempt);
        if (typeof selected === 'string') return { state: 'refused', reason: selected };
        const result = await selected.scheme.settle(selected.payload, selected.requirements);
        if (!result.success) return failure(attempt, result.errorReason);
        const { network, payer } = result;
        const transaction = attempt.transaction ?? result.transaction;
        const amount = amountOf(result) ?? amountOf(requirements) ?? 0n;
        return { state: 'settled', transaction, network, amount, ...(payer ? { payer } : {}) };
      };
      try {
        return await Promise.race([work(), stop(signal)]);
      } catch (error) {
        if (error instanceof FacilitatorUnreachable) return { state: 'unknown', reason: error.message };
        return failure(attempt, MALFORMED);
      }
    },

    leastPrices: () => fromEach((network) => network.least()),

    channels: async (caip2) => (await networks()).find(({ names }) => names[2] === caip2)?.network.channels,

    escrow: async (caip2) => (await networks()).find(({ names }) => names[2] === caip2)?.network.escrow,

    accounts: (patienceMs) =>
      fromEach((network) => Promise.race([network.account(), stop(AbortSignal.timeout(patienceMs))])),

    share(shared) {
      nonces = shared;
    },

    async close() {
      for (const { network } of (await loading) ?? []) network.close();
    },
  };
}

/** Refused only where it is certain that no transaction is on its way. */
function failure(attempt: Attempt, code: string | undefined): Settlement<FacilitatorTransfer> {
  const sent = attempt.sent || isPending(code);
  if ((sent && !attempt.rejected) || attempt.unreachable) {
    return { state: 'unknown', reason: sent ? 'the chain has not confirmed the transfer' : UNREACHABLE };
  }
  if (attempt.told) return { state: 'refused', reason: attempt.told };
  const spent = isSpent(code) || isSpent(attempt.refusal);
  return { state: 'refused', reason: plainReason(code, attempt.refusal), ...(spent ? { spent } : {}) };
}
