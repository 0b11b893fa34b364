/** SPL Token's accounts as bytes (its program's `Mint` and `Account` layouts), to be put on a ledger as they are. */
import { type Address, address, getAddressEncoder } from '@solana/kit';
import { tokenAccountOf } from '../../payment/chains/solana-token-account.ts';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;

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
export const associatedTokenAccount = async (owner: Address, mint: Address): Promise<Address> =>
  address(await tokenAccountOf(owner, mint, TOKEN_PROGRAM));
