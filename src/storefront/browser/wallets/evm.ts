/** Signs an x402 payment with an EVM wallet. Loaded when it is first paid with. */
import { x402Client, x402HTTPClient } from '@x402/core/client';
import type { PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import type { Address, Hex } from 'viem';
import type { Accepted } from '../purchase/types.ts';
import { accountOf, askSignature, switchTo } from './evm-account.ts';
import { checkTypedData, type TypedData } from './evm-check.ts';
import { demandAllowance } from './permit2.ts';
import type { SignedPayment } from './signed-payment.ts';
import { type EvmProvider, type EvmWallet, walletProblem } from './wallet.ts';

/** The one thing that is signed is checked before the wallet sees it. */
const signerOf = (provider: EvmProvider, address: Address, offer: Accepted) => ({
  address,
  async signTypedData(data: TypedData): Promise<Hex> {
    checkTypedData(data, offer, address);
    return askSignature(provider, address, data);
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
