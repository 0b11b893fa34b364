/** x402's scheme of EIP-3009 for wallets that may not exist yet: it works as on a chain on which they do. */
import type { PaymentPayload } from '@x402/core/types';
import type { FacilitatorEvmSigner } from '@x402/evm';
import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { asJsonObject } from '../../json.ts';
import type { Attempt } from './attempt.ts';
import type { EvmDeployments, PayingWallet } from './evm-deployment.ts';
import type { EvmDriver } from './evm-driver.ts';
import { asText } from './json.ts';
import type { Scheme } from './local-network.ts';

interface Parts {
  readonly deployments: EvmDeployments;
  readonly noting: EvmDriver['noting'];
  /** What of the payment's own calls is a transfer. */
  isSettling(functionName: string): boolean;
}

interface Paid {
  readonly payment: object;
  readonly attempt: Attempt;
  readonly price: bigint;
}

/** The signer for one payment: the scheme finds the wallet's code, tries what it signed with it, and sends after it is deployed. */
function signerFor(
  { noting, isSettling }: Parts,
  signer: FacilitatorEvmSigner,
  wallet: PayingWallet,
  { attempt, price }: Paid,
): FacilitatorEvmSigner {
  const isMissing = () => noting(attempt, () => wallet.isMissing(attempt));
  const isWallet = (address: string): boolean => address.toLowerCase() === wallet.address.toLowerCase();
  return {
    ...signer,
    async getCode(call) {
      if (!isWallet(call.address)) return signer.getCode(call);
      const missing = await isMissing().catch(() => undefined);
      // Any code: what it is will be tried.
      return missing === undefined ? undefined : '0x00';
    },
    async readContract(call) {
      const isOfPayment = isSettling(call.functionName) || isWallet(call.address);
      if (!isOfPayment || !(await isMissing())) return signer.readContract(call);
      return noting(attempt, async () => {
        const { data, weigh } = await wallet.rehearse({ to: call.address, data: encodeFunctionData(call) }, price);
        if (isSettling(call.functionName)) await weigh();
        return decodeFunctionResult({ ...call, data });
      });
    },
    async writeContract(call) {
      const settling = { to: call.address, data: encodeFunctionData(call) };
      await noting(attempt, () => wallet.deployFor(settling, attempt, price));
      return signer.writeContract(call);
    },
  };
}

/**
 * The scheme for one payment. Of a wallet that may not exist it sees what that has signed, and where it does not exist a
 * chain on which it does; before it sends anything, the wallet is deployed. Throws Refusal for a signature that cannot be read.
 */
export function deployingScheme(
  parts: Parts,
  open: (signer: FacilitatorEvmSigner) => Scheme,
  signer: FacilitatorEvmSigner,
  paid: Paid,
): Scheme {
  const payload = asJsonObject(asJsonObject(paid.payment).payload);
  const payer = asText(asJsonObject(payload.authorization).from);
  const wallet = payer && parts.deployments.walletOf(payer, asText(payload.signature) ?? '');
  if (!wallet) return open(signer);
  const { signature } = wallet;
  // The schemes read both versions out of the types of version 2.
  const signed = { ...paid.payment, payload: { ...payload, signature } } as unknown as PaymentPayload;
  const scheme = open(signerFor(parts, signer, wallet, paid));
  return {
    verify: (_, requirements) => scheme.verify(signed, requirements),
    async settle(_, requirements) {
      const settled = await scheme.settle(signed, requirements);
      if (settled.success) parts.deployments.paid(wallet.address, paid.price);
      return settled;
    },
  };
}
