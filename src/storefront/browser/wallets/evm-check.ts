/**
 * That what an EVM wallet is asked to sign is the payment that was shown, and no other: the chain, the token, the amount
 * and who gets it. Sources: EIP-3009's TransferWithAuthorization and ReceiveWithAuthorization, Permit2's
 * PermitWitnessTransferFrom, and EIP-712.
 */
import { type Address, isAddressEqual } from 'viem';
import { EIP3009_COLLECTOR } from '../../../on-chain/escrow-contracts.ts';
import type { Accepted } from '../purchase/types.ts';
import { PERMIT2 } from './permit2.ts';
import { WalletProblem } from './wallet.ts';

export interface TypedData {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly types: Readonly<Record<string, unknown>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
}

const isSame = (one: unknown, other: unknown): boolean =>
  isAddressEqual(String(one) as Address, String(other) as Address);
const record = (value: unknown) => value as Readonly<Record<string, unknown>>;

function isTransfer({ domain, message }: TypedData, offer: Accepted, from: Address, to: string): boolean {
  return (
    isSame(domain.verifyingContract, offer.asset) &&
    isSame(message.from, from) &&
    isSame(message.to, to) &&
    BigInt(String(message.value)) === BigInt(offer.amount)
  );
}

function isPermit({ domain, message }: TypedData, offer: Accepted): boolean {
  const permitted = record(message.permitted);
  return (
    isSame(domain.verifyingContract, PERMIT2) &&
    isSame(permitted.token, offer.asset) &&
    BigInt(String(permitted.amount)) === BigInt(offer.amount) &&
    isSame(record(message.witness).to, offer.payTo)
  );
}

/** Throws WalletProblem where it is anything else. */
export function checkTypedData(data: TypedData, offer: Accepted, from: Address): void {
  const isChain = `eip155:${data.domain.chainId}` === offer.network;
  const isPayment =
    (data.primaryType === 'TransferWithAuthorization' && isTransfer(data, offer, from, offer.payTo)) ||
    // Who gets it is part of the nonce that the scheme's client makes of the offer.
    (data.primaryType === 'ReceiveWithAuthorization' &&
      offer.scheme === 'auth-capture' &&
      isTransfer(data, offer, from, EIP3009_COLLECTOR)) ||
    (data.primaryType === 'PermitWitnessTransferFrom' && isPermit(data, offer));
  if (!isChain || !isPayment)
    throw new WalletProblem('What was to be signed is not the payment that was shown. Nothing was signed.');
}
