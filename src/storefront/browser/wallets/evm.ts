/** Signs an x402 payment with an EVM wallet. Loaded when it is first paid with. */
import { x402Client, x402HTTPClient } from '@x402/core/client';
import type { PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { type Address, getTypesForEIP712Domain, type Hex, isAddressEqual, serializeTypedData } from 'viem';
import type { Accepted } from '../purchase/types.ts';
import { checkTypedData, type TypedData } from './evm-check.ts';
import { demandAllowance } from './permit2.ts';
import type { SignedPayment } from './signed-payment.ts';
import { codeOf, type EvmProvider, type EvmWallet, WalletProblem, walletProblem } from './wallet.ts';

/** EIP-3326. */
const UNKNOWN_CHAIN = 4902;

const chainOf = ({ network }: Accepted): bigint => BigInt(network.replace('eip155:', ''));

async function switchTo(offer: Accepted, networkName: string, { provider, name }: EvmWallet): Promise<void> {
  const chainId = `0x${chainOf(offer).toString(16)}`;
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  } catch (error) {
    if (codeOf(error) !== UNKNOWN_CHAIN) throw walletProblem(error, name);
    throw new WalletProblem(
      `${name} does not know ${networkName}: add the network with chain id ${chainOf(offer)} in its settings, then click again. Nothing was signed.`,
    );
  }
  const now = await provider.request({ method: 'eth_chainId' });
  if (BigInt(String(now)) !== chainOf(offer))
    throw new WalletProblem(`${name} stayed on another network: switch it to ${networkName}, then click again.`);
}

async function accountOf({ provider, name }: EvmWallet): Promise<Address> {
  const [account] = (await provider.request({ method: 'eth_requestAccounts' })) as Address[];
  if (account) return account;
  throw new WalletProblem(`${name} showed no account: unlock it, then click again.`);
}

/** The one thing that is signed is checked before the wallet sees it. */
const signerOf = (provider: EvmProvider, address: Address, offer: Accepted) => ({
  address,
  async signTypedData(data: TypedData): Promise<Hex> {
    checkTypedData(data, offer, address);
    const types = { EIP712Domain: getTypesForEIP712Domain({ domain: data.domain }), ...data.types };
    const text = serializeTypedData({ ...data, types } as Parameters<typeof serializeTypedData>[0]);
    const [current] = (await provider.request({ method: 'eth_accounts' })) as Address[];
    if (!current || !isAddressEqual(current, address))
      throw new WalletProblem('The wallet has changed its account: look at it, then click again. Nothing was signed.');
    return (await provider.request({ method: 'eth_signTypedData_v4', params: [address, text] })) as Hex;
  },
});

/** Most payments need the first of them alone. */
async function schemeOf({ scheme }: Accepted, signer: ReturnType<typeof signerOf>) {
  if (scheme === 'upto') return new (await import('@x402/evm/upto/client')).UptoEvmScheme(signer);
  if (scheme === 'auth-capture')
    return new (await import('@x402/evm/auth-capture/client')).AuthCaptureEvmScheme(signer);
  return new ExactEvmScheme(signer);
}

/** Throws WalletProblem. */
export async function signWithEvmWallet(
  wallet: EvmWallet,
  offer: Accepted,
  required: PaymentRequired,
  networkName: string,
): Promise<SignedPayment> {
  try {
    const address = await accountOf(wallet);
    await switchTo(offer, networkName, wallet);
    const signer = signerOf(wallet.provider, address, offer);
    if (offer.scheme === 'upto') await demandAllowance(wallet, offer, address);
    const scheme = await schemeOf(offer, signer);
    const client = new x402Client(() => offer).register(offer.network, scheme);
    // What it may cost was looked at by the person who clicked.
    client.setSpendControls(false);
    const payload = await client.createPaymentPayload({ ...required, accepts: [offer] });
    return { from: address, headers: new x402HTTPClient(client).encodePaymentSignatureHeader(payload) };
  } catch (error) {
    throw walletProblem(error, wallet.name);
  }
}
