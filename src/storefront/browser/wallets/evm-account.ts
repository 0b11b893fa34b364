/** What an EVM wallet is asked for, whatever it pays: its account, its network, and a signature. */
import { type Address, getTypesForEIP712Domain, type Hex, isAddressEqual, serializeTypedData } from 'viem';
import type { Accepted } from '../purchase/types.ts';
import type { TypedData } from './evm-check.ts';
import { codeOf, type EvmProvider, type EvmWallet, WalletProblem, walletProblem } from './wallet.ts';

/** EIP-3326. */
const UNKNOWN_CHAIN = 4902;

const chainOf = ({ network }: Accepted): bigint => BigInt(network.replace('eip155:', ''));

/** Throws WalletProblem where it stays on another network. */
export async function switchTo(offer: Accepted, networkName: string, { provider, name }: EvmWallet): Promise<void> {
  const chainId = `0x${chainOf(offer).toString(16)}`;
  const isThere = async () => BigInt(String(await provider.request({ method: 'eth_chainId' }))) === chainOf(offer);
  // Some switch no networks.
  if (await isThere()) return;
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  } catch (error) {
    if (codeOf(error) !== UNKNOWN_CHAIN) throw walletProblem(error, name);
    throw new WalletProblem(
      `${name} does not know ${networkName}: add the network with chain id ${chainOf(offer)} in its settings, then click again. Nothing was signed.`,
    );
  }
  if (!(await isThere()))
    throw new WalletProblem(`${name} stayed on another network: switch it to ${networkName}, then click again.`);
}

/** The account that pays. Throws what the wallet throws. */
export async function accountOf({ provider, name }: EvmWallet): Promise<Address> {
  const [account] = (await provider.request({ method: 'eth_requestAccounts' })) as Address[];
  if (account) return account;
  throw new WalletProblem(`${name} showed no account: unlock it, then click again.`);
}

/** `data` is checked by who asks. Throws what the wallet throws. */
export async function askSignature(provider: EvmProvider, address: Address, data: TypedData): Promise<Hex> {
  const types = { EIP712Domain: getTypesForEIP712Domain({ domain: data.domain }), ...data.types };
  const text = serializeTypedData({ ...data, types } as Parameters<typeof serializeTypedData>[0]);
  const [current] = (await provider.request({ method: 'eth_accounts' })) as Address[];
  if (!current || !isAddressEqual(current, address))
    throw new WalletProblem('The wallet has changed its account: look at it, then click again. Nothing was signed.');
  return (await provider.request({ method: 'eth_signTypedData_v4', params: [address, text] })) as Hex;
}
