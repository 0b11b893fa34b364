/** The key that pays on Solana, and the published x402 client that signs with it. The key leaves this file in signatures only. */
import {
  createKeyPairSignerFromBytes,
  getBase58Encoder,
  type KeyPairSigner,
  type TransactionSigner,
} from '@solana/kit';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { demand } from './demand.ts';
import type { Offer } from './offers.ts';
import { readSolanaTransfer } from './solana-transfer.ts';

/** The 64 bytes of a key pair in base58. Undefined for anything else. */
export async function readKeyPair(key: string): Promise<KeyPairSigner | undefined> {
  try {
    return await createKeyPairSignerFromBytes(getBase58Encoder().encode(key));
  } catch {
    return undefined;
  }
}

/** Signs the transfer of the offer, which the client sees as these requirements. Throws where it would be another. */
export async function transferPayload(
  { asset, amount, feePayer }: Offer,
  requirements: Parameters<ExactSvmScheme['createPaymentPayload']>[1],
  signer: TransactionSigner,
): Promise<Record<string, unknown>> {
  const scheme = new ExactSvmScheme(signer as ConstructorParameters<typeof ExactSvmScheme>[0], {
    ...(asset.rpcUrl !== undefined && { rpcUrl: asset.rpcUrl }),
  });
  const { payload } = await scheme.createPaymentPayload(2, requirements);
  // It could be used from now on, but nobody else has it yet.
  const signed = readSolanaTransfer(String(payload.transaction));
  demand(signed?.authority === signer.address && signed.feePayer === feePayer, 'a party');
  demand(signed?.mint === asset.address, 'the asset');
  demand(signed?.amount === amount, 'the amount');
  return payload;
}
