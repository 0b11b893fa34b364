/** SPL Token's accounts as bytes (its program's `Mint` and `Account` layouts), to be put on a ledger as they are. */
import { type Address, getAddressEncoder, getProgramDerivedAddress } from '@solana/kit';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address;

export const TOKEN_ACCOUNT_BYTES = 165;
const MINT_BYTES = 82;
const INITIALIZED = 1;

const encode = (address: Address): Buffer => Buffer.from(getAddressEncoder().encode(address));

/** A mint without an authority: its supply is fixed. */
export function mintAccount(supply: bigint, decimals: number): Buffer {
  const data = Buffer.alloc(MINT_BYTES);
  data.writeBigUInt64LE(supply, 36);
  data.writeUInt8(decimals, 44);
  data.writeUInt8(INITIALIZED, 45);
  return data;
}

export function tokenAccount(mint: Address, owner: Address, amount: bigint): Buffer {
  const data = Buffer.alloc(TOKEN_ACCOUNT_BYTES);
  encode(mint).copy(data, 0);
  encode(owner).copy(data, 32);
  data.writeBigUInt64LE(amount, 64);
  data.writeUInt8(INITIALIZED, 108);
  return data;
}

/** Reads what `tokenAccount` writes: the mint's and owner's 32 bytes and the amount in atomic units. */
export const readTokenAccount = (data: Uint8Array) => ({
  mint: data.subarray(0, 32),
  owner: data.subarray(32, 64),
  amount: Buffer.from(data).readBigUInt64LE(64),
});

/** Where a wallet's tokens of a mint are. */
export async function associatedTokenAccount(owner: Address, mint: Address): Promise<Address> {
  const seeds = [encode(owner), encode(TOKEN_PROGRAM), encode(mint)];
  const [address] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds });
  return address;
}
