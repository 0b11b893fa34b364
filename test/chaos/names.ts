/** Payments as the store names them: by what their chain remembers of them. Chains by their CAIP-2 ids. */
import { asJsonObject } from '../../src/json.ts';
import { eip3009Identity } from '../../src/payment/authorizations/eip3009.ts';
import { memoEnd } from '../../src/payment/authorizations/tempo.ts';
import { messageHash } from '../../src/payment/chains/solana-transaction.ts';

export const eip3009Name = eip3009Identity;

/** `nonce` in decimals. */
export const permit2Name = (chain: string, payer: string, nonce: string): string =>
  `permit2:${chain}:${payer.toLowerCase()}:${nonce}`;

/** `hash`: SHA-256 of the transaction's message, in hex. */
export const solanaName = (chain: string, hash: string): string => `solana:${chain}:${hash}`;

/** `memo`: of the transfer, in hex, or the end of it that stands for a challenge. */
export const tempoName = (chain: string, memo: string): string => `mpp:${chain}:${memo.slice(-14)}`;

export const tempoNameOfChallenge = (chain: string, id: string): string => tempoName(chain, memoEnd(id));

/** `payload` as x402 has it: of the kind EIP-3009, Permit2 or Solana. */
export function x402Name(chain: string, asset: string, payload: unknown): string {
  const { authorization, permit2Authorization, transaction } = asJsonObject(payload);
  if (transaction !== undefined) return solanaName(chain, messageHash(Buffer.from(String(transaction), 'base64')));
  const { from, nonce } = asJsonObject(authorization ?? permit2Authorization);
  return authorization
    ? eip3009Name(chain, asset, String(from), String(nonce))
    : permit2Name(chain, String(from), String(nonce));
}
