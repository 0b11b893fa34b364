import { type Address, encodeFunctionData, erc20Abi } from 'viem';
import type { AssetFile, NetworkId } from '../../catalogue/types.ts';
import { startAnvil } from './anvil.ts';
import { actAs } from './contract.ts';
import { ESCROW_CHAIN, placeEscrow } from './escrow.ts';
import { placePermit2, type SharedContracts } from './permit2.ts';
import { placeToken } from './tokens.ts';

interface EvmChainOptions {
  readonly id: NetworkId;
  /** `eip155:<chain id>`. */
  readonly caip2: string;
  readonly asset: AssetFile;
  /** Addresses that get gas; the payer also gets tokens. */
  readonly payer: string;
  /** Gets tokens and nothing else: what is given back comes from it. */
  readonly refunder?: string;
  readonly facilitator: string;
  /** With them, the payer can pay by `upto`. */
  readonly shared?: Promise<SharedContracts>;
}

/** A local chain that looks like the network to unmodified clients: its chain id, its stablecoin at its address. */
export interface EvmChain {
  readonly id: NetworkId;
  readonly caip2: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly asset: AssetFile;
  /** Atomic units of the asset. */
  balance(address: string): Promise<bigint>;
  stop(): Promise<void>;
}

const GAS_MONEY = `0x${(10_000n * 10n ** 18n).toString(16)}`;
const DOLLARS = 1_000_000n;
const REFUND_DOLLARS = 10_000n;
const BALANCE_OF = '0x70a08231';

/**
 * A block for every transaction at once, and one every ten seconds besides, so that time passes for expired
 * authorizations. Old states are dropped: a sandbox may run for days.
 */
const ARGUMENTS = ['--accounts', '0', '--mixed-mining', '--block-time', '10', '--prune-history', '64'];

/** Starts the chain and puts the stablecoin in place, with 1,000,000 of it for the payer. */
export async function startEvmChain(options: EvmChainOptions): Promise<EvmChain> {
  const { id, caip2, asset } = options;
  const chainId = Number(/^eip155:(\d+)$/.exec(caip2)?.[1]);
  if (!Number.isSafeInteger(chainId))
    throw new Error(`networks.yaml: ${id} has ${caip2}, an EVM network is eip155:<id>`);
  const { rpcUrl, rpc, stop } = await startAnvil(chainId, ARGUMENTS);
  try {
    for (const address of [options.payer, options.facilitator]) await rpc('anvil_setBalance', [address, GAS_MONEY]);
    const unit = 10n ** BigInt(asset.decimals);
    const { payer, refunder } = options;
    await placeToken(rpc, asset, payer, (refunder ? DOLLARS + REFUND_DOLLARS : DOLLARS) * unit);
    if (refunder) {
      const args = [refunder as Address, REFUND_DOLLARS * unit] as const;
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
      await actAs(rpc, payer as Address, [{ to: asset.address, data }]);
    }
    const shared = await options.shared;
    if (shared) await placePermit2(rpc, shared, asset.address, options.payer);
    if (caip2 === ESCROW_CHAIN) await placeEscrow(rpc);
  } catch (error) {
    await stop();
    throw error;
  }
  const balance = async (address: string) => {
    const data = `${BALANCE_OF}${address.slice(2).padStart(64, '0')}`;
    return BigInt(String(await rpc('eth_call', [{ to: asset.address, data }, 'latest'])));
  };
  return { id, caip2, chainId, rpcUrl, asset, balance, stop };
}
