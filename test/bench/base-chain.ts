/** A chain on this machine under the id of the one that is paid on, for gateways that settle themselves. */
import { type Address, encodeFunctionData, erc20Abi } from 'viem';
import { loadCatalogue } from '../../src/catalogue/load.ts';
import { shipped } from '../../src/gateway/shipped.ts';
import { createRpc } from '../../src/payment/chains/rpc.ts';
import { actAs } from '../../src/sandbox/chains/contract.ts';
import { placeEscrow } from '../../src/sandbox/chains/escrow.ts';
import { startChains } from '../../src/sandbox/chains/index.ts';
import { newEvmWallet } from '../../src/sandbox/chains/wallets.ts';
import type { Bench } from './bench.ts';
import { CALLERS } from './row.ts';
import { offer } from './subject.ts';

export interface BaseChain {
  /** Keys of payers with money, one for each caller. */
  readonly wallets: readonly string[];
  /** Whose gas settles. */
  readonly signer: { readonly privateKey: string; readonly rpcUrl: string };
}

/** Atomic units. */
const EACH = 1_000_000_000_000n / BigInt(CALLERS);

/** With the contracts of channels. */
export async function startBase(bench: Bench): Promise<BaseChain> {
  const [network] = [...loadCatalogue(bench.catalogue, shipped).networks.values()].filter(
    ({ live }) => live.caip2 === offer.network,
  );
  if (!network) throw new Error(`${offer.network} is not in the catalogue`);
  const chains = bench.keep(await startChains({ networks: [{ ...network, sandbox: network.live }] }));
  const rpcUrl = chains.evm[network.id]?.rpcUrl ?? '';
  const rpc = createRpc(rpcUrl);
  await placeEscrow(rpc);
  const wallets = Array.from({ length: CALLERS }, newEvmWallet);
  const { payer, facilitator } = chains.wallets.evm;
  await actAs(
    rpc,
    payer.address as Address,
    wallets.map(({ address }) => ({
      to: offer.asset,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address as Address, EACH] }),
    })),
  );
  const signer = { privateKey: facilitator.privateKey, rpcUrl };
  return { wallets: wallets.map(({ privateKey }) => privateKey), signer };
}
