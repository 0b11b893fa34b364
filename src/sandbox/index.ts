/** The platform of the sandbox: local chains, funded wallets, and doubles of every upstream. */
import { randomBytes } from 'node:crypto';
import { isAskedInSandbox } from '../catalogue/settings/settings.ts';
import type { Catalogue, NetworkId, Upstream } from '../catalogue/types.ts';
import { keysIn, type Variables } from '../environment.ts';
import type { Log } from '../log.ts';
import { usd } from '../money.ts';
import { localFacilitator } from '../payment/facilitators/local.ts';
import type { Platform } from '../platform.ts';
import { type Chains, startChains } from './chains/index.ts';
import { provideDecoder } from './decoder.ts';
import { type Fault, sandboxSecret, startDoubles } from './doubles/index.ts';
import { sandboxAttestationRoot } from './doubles/tdx-hardware.ts';
import { createSandboxRoutes } from './routes.ts';
import { SETTLEMENT_FAULTS, type SettlementFault, watchSettlements } from './settlement-faults.ts';
import { openSandboxWallet } from './wallet/signing.ts';

export interface Sandbox extends Platform {
  /** What `GET /sandbox` answers. */
  readonly state: object;
  /** Atomic units of a network's asset. */
  balance(network: string, address: string): Promise<bigint>;
  /** Address of the wallet that pays on a network. */
  payer(network: string): string;
}

interface SandboxOptions {
  /** Networks to start a local chain for; default: all. */
  readonly networks?: readonly NetworkId[];
  readonly tempo?: boolean;
  /** Where upstreams that are asked themselves have their keys; default: nowhere. */
  readonly variables?: Variables;
  /** Solana's clock, in milliseconds since the epoch; tests set it. */
  readonly solanaNow?: () => number;
}

/** What live mode takes from the environment. */
const variablesOf = ({ tempo, payTo, wallets }: Chains): Variables => ({
  TURNPIKE_REFUND_SIGNER_EVM: wallets.evm.refunder.privateKey,
  TURNPIKE_REFUND_SIGNER_SOLANA: wallets.solana.refunder.secretKey,
  TURNPIKE_MPP_SECRET: randomBytes(32).toString('hex'),
  ...(tempo && {
    TURNPIKE_TEMPO_RPC_URL: tempo.rpcUrl,
    TURNPIKE_TEMPO_CHAIN_ID: String(tempo.chainId),
    TURNPIKE_TEMPO_CURRENCY: tempo.currency,
    TURNPIKE_TEMPO_RECIPIENT: payTo.tempo,
  }),
});

/** What the examples in `/llms.txt` read, by the names that they read. */
const environmentOf = ({ wallets, solana, tempo }: Chains): Readonly<Record<string, string>> => ({
  EVM_PRIVATE_KEY: wallets.evm.payer.privateKey,
  ...(solana && { SVM_PRIVATE_KEY: solana.secretKey, SVM_RPC_URL: solana.rpcUrl }),
  MPPX_PRIVATE_KEY: wallets.evm.payer.privateKey,
  ...(tempo && { MPPX_RPC_URL: tempo.rpcUrl }),
});

/** Everything runs on free loopback ports, with wallets that are made afresh. */
export async function openSandbox(catalogue: Catalogue, log: Log, options: SandboxOptions = {}): Promise<Sandbox> {
  provideDecoder();
  const all = [...catalogue.networks.values()];
  const networks = all.filter(({ id }) => options.networks?.includes(id) ?? true);
  const keyIn = keysIn(options.variables ?? {}, log);
  let real: ReadonlySet<string> = new Set();
  let upstreams: Upstream[] = [];
  const served = (sold: Catalogue) => {
    real = new Set([...sold.upstreams.values()].filter(isAskedInSandbox).map(({ name }) => name));
    upstreams = [...sold.upstreams.values()].filter(({ name }) => !real.has(name));
    return { upstreams, routes: sold.routes };
  };
  const [chains, doubles] = await Promise.all([
    startChains({
      networks,
      tempo: options.tempo ?? true,
      ...(options.solanaNow && { now: options.solanaNow }),
    }),
    startDoubles(served(catalogue)),
  ]);
  const settlements = watchSettlements(localFacilitator(chains.facilitatorOptions), networks);
  const state: Record<string, unknown> = {
    mode: 'sandbox',
    evm: Object.fromEntries(
      Object.entries(chains.evm).map(([id, { asset, ...access }]) => [
        id,
        { ...access, ...asset, asset: asset.address },
      ]),
    ),
    ...(chains.solana && { solana: chains.solana }),
    ...(chains.tempo && { tempo: chains.tempo }),
    payTo: chains.payTo,
    environment: environmentOf(chains),
  };
  log.info({ networks: Object.keys(chains.evm), doubles: doubles.origin }, 'sandbox started');
  return {
    mode: 'sandbox',
    state,
    balance: chains.balance,
    payer: (network) =>
      (chains.evm[network] || network === 'tempo' ? chains.wallets.evm : chains.wallets.solana).payer.address,
    payTo: (network) => chains.payTo[network.id],
    rpcUrl: (network) => (network.family === 'solana' ? chains.solana?.rpcUrl : chains.evm[network.id]?.rpcUrl),
    facilitators: [{ name: 'in-process', facilitator: settlements.facilitator }],
    variables: variablesOf(chains),
    secretOf: (variable, { name }) => (real.has(name) ? keyIn(variable) : sandboxSecret(variable)),
    baseUrlOf: ({ name }) => (real.has(name) ? undefined : doubles.baseUrlOf(name)),
    trustedOrigins: [doubles.origin],
    attestationRoot: sandboxAttestationRoot,
    resolve: undefined,
    readFrom: (url, { upstream, givenBy }) =>
      givenBy === 'provider' && real.has(upstream) ? undefined : doubles.webUrl(url),
    headers: { 'turnpike-mode': 'sandbox' },
    routes: createSandboxRoutes({
      state,
      wallet: openSandboxWallet(chains),
      upstreams: () => upstreams.map(({ name }) => name),
      settlements: networks.map(({ id }) => id),
      upstreamFaults: doubles.faultsOf,
      settlementFaults: SETTLEMENT_FAULTS,
      faultUpstream: (name, fault, count) => doubles.fault(name, fault as Fault, count),
      faultSettlement: (name, fault, count) => settlements.fault(name, fault as SettlementFault, count),
      clearFaults: (target, name) => (target === 'upstream' ? doubles : settlements).clearFaults(name),
      calls: () => ({ upstreams: doubles.calls(), settlements: settlements.settled() }),
    }),
    prepare: async (sold) => doubles.serve(served(sold)),
    opened: async (credits) => {
      state.apiKey = await credits.keep({ label: 'sandbox', credit: usd('100') });
    },
    stop: async () => {
      await settlements.facilitator.close();
      await Promise.all([chains.stop(), doubles.close()]);
    },
  };
}
