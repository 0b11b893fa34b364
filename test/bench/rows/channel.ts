/** The same call, drawn from a deposit: nothing is asked of a facilitator or a chain. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Address, encodeFunctionData, erc20Abi } from 'viem';
import { loadCatalogue } from '../../../src/catalogue/load.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { placeEscrow } from '../../../src/sandbox/chains/escrow.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { newEvmWallet } from '../../../src/sandbox/chains/wallets.ts';
import { shipped } from '../../../src/shipped.ts';
import type { Bench } from '../bench.ts';
import { copyOf } from '../catalogue.ts';
import { CALLERS, loadRow } from '../row.ts';
import { offer, subject } from '../subject.ts';

/** Atomic units. */
const EACH = 1_000_000_000_000n / BigInt(CALLERS);

/** Base as it is, on this machine, with the contracts of channels and a payer for each caller. */
async function startBase(bench: Bench) {
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
  return { wallets: wallets.map(({ privateKey }) => privateKey), privateKey: facilitator.privateKey, rpcUrl };
}

/** Writes a catalogue that lets calls be drawn from deposits to a new folder. */
function sellFromChannels(bench: Bench): string {
  const folder = bench.folder();
  copyOf(bench.catalogue, folder);
  const file = join(folder, 'service.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\nexposure: { channels: true }\n`);
  return folder;
}

export const channel = loadRow(
  'channel',
  { path: subject.path, body: subject.body, payment: 'channel', expects: 200 },
  async (bench) => {
    const { wallets, ...signer } = await startBase(bench);
    const server = await bench.gateway({ catalogue: sellFromChannels(bench), signer });
    const exact = { server: await bench.gateway(), payment: 'x402' as const };
    return {
      ours: { server, wallets },
      beside: [{ who: 'turnpike, exact by an instant facilitator', target: exact, goal: { times: 3 } }],
    };
  },
);
