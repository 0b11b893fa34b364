/** Where a Solana wallet has its tokens (the Associated Token Account program). */
import { address, getAddressEncoder, getProgramDerivedAddress } from '@solana/kit';

const ASSOCIATED_TOKEN_PROGRAM = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');

/** The associated token account of a wallet for a mint of that token program. */
export async function tokenAccountOf(owner: string, mint: string, tokenProgram: string): Promise<string> {
  const seeds = [owner, tokenProgram, mint].map((part) => getAddressEncoder().encode(address(part)));
  const [account] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds });
  return account;
}
