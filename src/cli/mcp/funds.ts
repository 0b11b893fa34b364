/** Whose money pays: a sandbox's play money, the keys of the environment, or nobody's. */

import { isLoopback } from '../../catalogue/settings/loopback.ts';
import { type Asset, assetsOn } from '../../client/asset.ts';
import { type EvmSigner, openWallet, readEvmKey, readSolanaKey, type Wallet } from '../../client/wallet.ts';
import type { SandboxState } from '../../rails/paying-client.ts';
import { boundedFetch } from '../bounded-fetch.ts';
import { UsageProblem } from '../command-line.ts';
import { sandboxAssets, shippedAssets } from './assets.ts';

export interface Funds {
  readonly money: 'dollars' | 'play';
  readonly wallet: Wallet;
  /** What a deposit may lie in, and who signs for it, by network id. */
  readonly assets: readonly Asset[];
  readonly accounts: ReadonlyMap<string, EvmSigner>;
  /** What is paid in. */
  readonly payable: readonly Asset[];
}

/** Throws UsageProblem; the key is in no message. */
function evmKey(key: string) {
  const account = readEvmKey(key);
  if (account) return account;
  throw new UsageProblem('TURNPIKE_WALLET_EVM is not a private key: give 0x and 64 hex digits');
}

/** The same for the other key. */
async function solanaKey(key: string) {
  const signer = await readSolanaKey(key);
  if (signer) return signer;
  throw new UsageProblem('TURNPIKE_WALLET_SOLANA is not a key pair: give its 64 bytes in base58');
}

/** Its wallets, where the gateway is a sandbox on this machine. */
async function readSandbox(origin: string): Promise<SandboxState | undefined> {
  if (!isLoopback(origin)) return undefined;
  const answer = await boundedFetch(`${origin}/sandbox`);
  return answer.status === 200 ? ((await answer.json()) as SandboxState) : undefined;
}

function payableOf(network: string | undefined, assets: readonly Asset[]): readonly Asset[] {
  const found = assetsOn(network, assets);
  if (network === undefined || found.length > 0) return found;
  // A gateway may call them otherwise: by its CAIP-2 id whoever runs this knows which one is meant.
  const known = assets.map((asset) => `${asset.id} (${asset.network})`).sort();
  throw new UsageProblem(`--network ${network} is not known: take ${known.join(', ')}`);
}

async function playFunds(sandbox: SandboxState, network: string | undefined): Promise<Funds> {
  const assets = sandboxAssets(sandbox);
  const evm = Object.entries(sandbox.evm).map(([id, { privateKey }]) => [id, evmKey(privateKey)] as const);
  const accounts = new Map(evm);
  const payable = payableOf(network, assets);
  const onSolana = payable.some(({ family }) => family === 'solana') ? sandbox.solana : undefined;
  const solana = onSolana && (await solanaKey(onSolana.secretKey));
  return { money: 'play', wallet: openWallet(payable, { evm: accounts, solana }), assets, accounts, payable };
}

/** As it is by then: one that was started anew has other keys, and its chains are elsewhere. */
const signingNow =
  (origin: string, network: string | undefined): Wallet['sign'] =>
  async (offer, required) => {
    const sandbox = await readSandbox(origin);
    if (!sandbox) throw new Error(`${origin} is no sandbox any more`);
    const { wallet, payable } = await playFunds(sandbox, network);
    const asset = payable.find(({ id }) => id === offer.asset.id) ?? offer.asset;
    return wallet.sign({ ...offer, asset }, required);
  };

/**
 * Keys of the environment never pay a sandbox, which names its assets itself. Undefined without a wallet. Throws
 * UsageProblem.
 */
export async function openFunds(
  origin: string,
  network: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<Funds | undefined> {
  const sandbox = await readSandbox(origin);
  if (sandbox) {
    const funds = await playFunds(sandbox, network);
    return { ...funds, wallet: { ...funds.wallet, sign: signingNow(origin, network) } };
  }
  const assets = shippedAssets(environment);
  const payable = payableOf(network, assets);
  const { TURNPIKE_WALLET_EVM, TURNPIKE_WALLET_SOLANA } = environment;
  if (!TURNPIKE_WALLET_EVM && !TURNPIKE_WALLET_SOLANA) return undefined;
  const account = TURNPIKE_WALLET_EVM ? evmKey(TURNPIKE_WALLET_EVM) : undefined;
  const evm: ReadonlyMap<string, EvmSigner> = new Map(
    account && assets.filter(({ family }) => family === 'evm').map(({ id }) => [id, account] as const),
  );
  const solana = TURNPIKE_WALLET_SOLANA ? await solanaKey(TURNPIKE_WALLET_SOLANA) : undefined;
  const wallet = openWallet(payable, { evm, solana });
  if (wallet.addresses.size > 0) return { money: 'dollars', wallet, assets, accounts: evm, payable };
  throw new UsageProblem(`no key pays on --network ${network}: set TURNPIKE_WALLET_EVM or TURNPIKE_WALLET_SOLANA`);
}
