/**
 * Keys that pay, and the published x402 clients that sign with them. Keys leave this file in signatures only; the one of Solana
 * is in `solana.ts`.
 */
import type { KeyPairSigner, TransactionSigner } from '@solana/kit';
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { JsonObject } from '../json.ts';
import { EIP3009_COLLECTOR } from '../on-chain/escrow-contracts.ts';
import { type Asset, isSameAddress } from './asset.ts';
import { demand } from './demand.ts';
import { type Offer, readOffer } from './offers.ts';

/** What an x402 gateway of version 2 asks for. */
export interface Challenge {
  readonly accepts: readonly JsonObject[];
  readonly resource: unknown;
  readonly extensions: unknown;
}

/** An x402 payment of version 2. */
export interface Payment {
  readonly x402Version: 2;
  readonly payload: Record<string, unknown>;
  readonly accepted: unknown;
  readonly resource: unknown;
  readonly extensions: unknown;
}

export interface Wallet {
  /** Where its money comes from, by network id. */
  readonly addresses: ReadonlyMap<string, string>;
  /** What it could pay of what is asked for, in the gateway's order. */
  offers(required: Challenge): Offer[];
  /** Throws where what would be signed is not what is offered. */
  sign(offer: Offer, required: Challenge): Promise<Payment>;
}

/** Signs typed data for one address: an account of viem's, or what stands for a wallet elsewhere. */
export type EvmSigner = Pick<PrivateKeyAccount, 'address' | 'signTypedData'>;

/** Signs transactions for one address: a key pair or another signer of @solana/kit's. */
export type SolanaSigner = TransactionSigner;

export interface Signers {
  /** By network id. */
  readonly evm: ReadonlyMap<string, EvmSigner>;
  readonly solana: SolanaSigner | undefined;
}

/** EVM: 0x and 64 hex digits. Undefined for anything else. */
export function readEvmKey(key: string): PrivateKeyAccount | undefined {
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) return undefined;
  try {
    return privateKeyToAccount(key as `0x${string}`);
  } catch {
    // Zero and what is beyond the curve's order.
    return undefined;
  }
}

/** What signs on Solana takes longer to load than all the rest: only who has a key for it waits for that. */
const loadSolana = () => import('./solana.ts');

/** Solana: the 64 bytes of a key pair in base58. Undefined for anything else. */
export const readSolanaKey = async (key: string): Promise<KeyPairSigner | undefined> =>
  (await loadSolana()).readKeyPair(key);

/**
 * Signs the transfer of the offer, and nothing else, whatever it is handed. What is locked goes to the escrow; who may have it
 * from there is part of the authorization's nonce.
 */
export const guarded = (account: EvmSigner, { asset, amount, payTo, seconds, hold }: Offer) => ({
  address: account.address,
  async signTypedData(typed: { domain: object; types: object; primaryType: string; message: object }) {
    const { name, version, chainId, verifyingContract } = typed.domain as Record<string, unknown>;
    const { from, to, value, validBefore } = typed.message as Record<string, unknown>;
    demand(typed.primaryType === (hold ? 'ReceiveWithAuthorization' : 'TransferWithAuthorization'), 'the kind');
    demand(name === asset.domain?.name && version === asset.domain?.version, 'the token');
    demand(`eip155:${chainId}` === asset.network, 'the network');
    demand(isSameAddress(verifyingContract, asset.address), 'the asset');
    const recipient = hold ? EIP3009_COLLECTOR : payTo;
    demand(isSameAddress(from, account.address) && isSameAddress(to, recipient), 'a party');
    demand(value === amount, 'the amount');
    demand(Number(validBefore) <= Math.floor(Date.now() / 1000) + seconds, 'the end');
    return account.signTypedData(typed as Parameters<PrivateKeyAccount['signTypedData']>[0]);
  },
});

/** What the clients may see of an offer: nothing in it is the gateway's own but the recipient, the amount, the fee payer and the terms of a hold. */
const requirementsOf = ({ asset, amount, payTo, seconds, feePayer, hold }: Offer) => ({
  scheme: hold ? 'auth-capture' : 'exact',
  network: asset.network as `${string}:${string}`,
  asset: asset.address,
  amount: amount.toString(),
  payTo,
  maxTimeoutSeconds: seconds,
  extra: { ...asset.domain, ...hold, ...(feePayer !== undefined && { feePayer }) },
});

async function payloadOf(offer: Offer, { evm, solana }: Signers): Promise<Record<string, unknown>> {
  const { asset } = offer;
  const account = evm.get(asset.id);
  if (asset.family === 'evm' && account) {
    const signer = guarded(account, offer);
    const scheme = offer.hold ? new AuthCaptureEvmScheme(signer) : new ExactEvmScheme(signer);
    return (await scheme.createPaymentPayload(2, requirementsOf(offer))).payload;
  }
  if (asset.family === 'evm' || !solana) throw new Error(`there is no key for ${asset.id}`);
  return await (await loadSolana()).transferPayload(offer, requirementsOf(offer), solana);
}

/** A wallet for these assets. */
export function openWallet(assets: readonly Asset[], signers: Signers): Wallet {
  const addressOn = ({ family, id }: Asset): string | undefined =>
    family === 'evm' ? signers.evm.get(id)?.address : signers.solana?.address;
  const payable = assets.filter((asset) => addressOn(asset) !== undefined);
  return {
    addresses: new Map(payable.map((asset) => [asset.id, addressOn(asset) ?? ''])),
    offers: ({ accepts }) =>
      accepts
        .map((given) => readOffer(given, payable))
        // Whoever pays for the transaction has to be somebody else.
        .filter((offer) => offer !== undefined)
        .filter(({ feePayer }) => feePayer === undefined || feePayer !== signers.solana?.address),
    sign: async (offer, { resource, extensions }) => ({
      x402Version: 2,
      payload: await payloadOf(offer, signers),
      accepted: offer.given,
      resource,
      extensions,
    }),
  };
}
