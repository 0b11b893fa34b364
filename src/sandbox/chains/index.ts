import type { AssetFile, Network, NetworkId } from '../../catalogue/types.ts';
import type { LocalOptions } from '../../payment/facilitators/local.ts';
import { type EvmChain, startEvmChain } from './evm.ts';
import { type SolanaChain, startSolanaChain } from './solana.ts';
import { startTempoChain, type TempoChain } from './tempo.ts';
import { type EvmWallet, newEvmWallet, newSolanaWallet, type SolanaWallet } from './wallets.ts';

/** How a client reaches a network and with which funded wallet it pays. */
export interface EvmAccess {
  readonly rpcUrl: string;
  readonly caip2: string;
  readonly chainId: number;
  readonly asset: AssetFile;
  readonly privateKey: string;
}

export interface SolanaAccess {
  readonly id: NetworkId;
  readonly rpcUrl: string;
  readonly caip2: string;
  readonly mint: string;
  readonly decimals: number;
  /** Base58 of the 64 bytes. */
  readonly secretKey: string;
}

export interface TempoAccess {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Address of the TIP-20 token. */
  readonly currency: string;
  readonly privateKey: string;
}

export interface Chains {
  readonly evm: Readonly<Record<NetworkId, EvmAccess>>;
  readonly solana: SolanaAccess | undefined;
  readonly tempo: TempoAccess | undefined;
  /** Where payments go, by network id, and `tempo`. */
  readonly payTo: Readonly<Record<string, string>>;
  /** The payer has the tokens, the facilitator the gas; what is given back comes from the refunder. */
  readonly wallets: {
    readonly evm: { readonly payer: EvmWallet; readonly facilitator: EvmWallet; readonly refunder: EvmWallet };
    readonly solana: {
      readonly payer: SolanaWallet;
      readonly facilitator: SolanaWallet;
      readonly refunder: SolanaWallet;
    };
  };
  /** With coins that are worth nothing: here settling always pays. */
  readonly facilitatorOptions: LocalOptions;
  /** Atomic units of the network's asset (`tempo`: of its currency). Throws for a network that was not started. */
  balance(network: NetworkId | 'tempo', address: string): Promise<bigint>;
  stop(): Promise<void>;
}

export interface ChainsOptions {
  readonly networks: readonly Network[];
  /** A Tempo chain as well; with it the EVM chains have Permit2, so that `upto` payments work. */
  readonly tempo?: boolean;
  /** Solana's clock, in milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
}

type Started = EvmChain | SolanaChain | TempoChain;

/**
 * Starts a local chain for every network, all at once, and stops those that started when one fails. At most one
 * network may be of the family solana.
 */
export async function startChains(options: ChainsOptions): Promise<Chains> {
  const wallets = {
    evm: { payer: newEvmWallet(), facilitator: newEvmWallet(), refunder: newEvmWallet() },
    solana: { payer: newSolanaWallet(), facilitator: newSolanaWallet(), refunder: newSolanaWallet() },
  };
  const evmPayTo = newEvmWallet().address;
  const solanaPayTo = newSolanaWallet().address;
  const evmNetworks = options.networks.filter(({ family }) => family === 'evm');
  const [solanaNetwork, second] = options.networks.filter(({ family }) => family === 'solana');
  if (second) throw new Error(`networks.yaml: ${second.id} is a second Solana network; the sandbox runs one`);

  const running: Started[] = [];
  const keep = async <T extends Started>(starting: Promise<T>): Promise<T> => {
    const chain = await starting;
    running.push(chain);
    return chain;
  };
  const stop = async () => {
    await Promise.all(running.map((chain) => chain.stop()));
  };

  const tempoStart = options.tempo
    ? keep(startTempoChain(Object.values(wallets.evm).map(({ address }) => address)))
    : undefined;

  const shared = tempoStart?.then((chain) => chain.shared);
  // A chain that fails first no longer waits for it; the failure itself is that of `tempoStart`.
  shared?.catch(() => undefined);

  const evmStarts = evmNetworks.map(({ id, sandbox: { caip2, asset } }) =>
    keep(
      startEvmChain({
        id,
        caip2,
        asset,
        payer: wallets.evm.payer.address,
        facilitator: wallets.evm.facilitator.address,
        refunder: wallets.evm.refunder.address,
        ...(shared ? { shared } : {}),
      }),
    ),
  );
  const solanaStart =
    solanaNetwork &&
    keep(
      startSolanaChain({
        id: solanaNetwork.id,
        caip2: solanaNetwork.sandbox.caip2,
        asset: solanaNetwork.sandbox.asset,
        payer: wallets.solana.payer.address,
        facilitator: wallets.solana.facilitator.address,
        refunder: wallets.solana.refunder.address,
        payTo: solanaPayTo,
        ...(options.now ? { now: options.now } : {}),
      }),
    );
  const starts = [...evmStarts, solanaStart, tempoStart];
  const failed = (await Promise.allSettled(starts)).find((result) => result.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  const evm = await Promise.all(evmStarts);
  const solana = await solanaStart;
  const tempo = await tempoStart;

  const v1NameOf = (id: NetworkId) => {
    const v1Name = options.networks.find((network) => network.id === id)?.sandbox.v1Name;
    return v1Name ? { v1Name } : {};
  };
  const factoriesOf = (id: NetworkId) => options.networks.find((network) => network.id === id)?.sandbox.walletFactories;
  const { payer, facilitator } = wallets.evm;
  const byId: Record<string, Started> = Object.fromEntries([...evm, ...(solana ? [solana] : [])].map((c) => [c.id, c]));
  if (tempo) byId.tempo = tempo;
  return {
    wallets,
    evm: Object.fromEntries(
      evm.map(({ id, rpcUrl, caip2, chainId, asset }) => [
        id,
        { rpcUrl, caip2, chainId, asset, privateKey: payer.privateKey },
      ]),
    ),
    solana: solana && {
      id: solana.id,
      rpcUrl: solana.rpcUrl,
      caip2: solana.caip2,
      mint: solana.asset.address,
      decimals: solana.asset.decimals,
      secretKey: wallets.solana.payer.secretKey,
    },
    tempo: tempo && {
      rpcUrl: tempo.rpcUrl,
      chainId: tempo.chainId,
      currency: tempo.currency,
      privateKey: payer.privateKey,
    },
    payTo: {
      ...Object.fromEntries(evm.map(({ id }) => [id, evmPayTo])),
      ...(solana ? { [solana.id]: solanaPayTo } : {}),
      ...(tempo ? { tempo: evmPayTo } : {}),
    },
    facilitatorOptions: {
      evm: evm.map(({ id, caip2, chainId, rpcUrl, asset }) => ({
        caip2,
        ...v1NameOf(id),
        chainId,
        rpcUrl,
        asset,
        walletFactories: factoriesOf(id),
        privateKey: facilitator.privateKey,
        nativeValue: 0n,
      })),
      solana: solana
        ? [
            {
              caip2: solana.caip2,
              ...v1NameOf(solana.id),
              rpcUrl: solana.rpcUrl,
              secretKey: wallets.solana.facilitator.secretKey,
              nativeValue: 0n,
            },
          ]
        : [],
    },
    balance: async (network, address) => {
      const chain = byId[network];
      if (!chain) throw new Error(`no local chain was started for ${network}`);
      return chain.balance(address);
    },
    stop,
  };
}
