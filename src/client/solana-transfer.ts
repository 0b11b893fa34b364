import { getBase64Encoder, getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';

/** A transaction that transfers one asset once, and does nothing else. */
export interface SolanaTransfer {
  readonly feePayer: string | undefined;
  readonly mint: string | undefined;
  /** Who signs for the money. */
  readonly authority: string | undefined;
  /** Atomic units. */
  readonly amount: bigint;
}

const TOKEN_PROGRAMS: readonly unknown[] = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
];
/** They move nothing of the payer's: fees are the fee payer's. */
const HARMLESS_PROGRAMS: readonly unknown[] = [
  'ComputeBudget111111111111111111111111111111',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
];
const TRANSFER_CHECKED = 12;

/**
 * Reads a transaction in base64 (Solana's wire format, version 0 or legacy; TransferChecked of SPL Token: its number, the
 * amount in eight bytes, little end first, and the decimals). Undefined for one that does anything else.
 */
export function readSolanaTransfer(transaction: string): SolanaTransfer | undefined {
  const { messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(transaction));
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  if (message.version !== 0 && message.version !== 'legacy') return undefined;
  const { staticAccounts } = message;
  const instructions = message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
    program: staticAccounts[programAddressIndex],
    accounts: accountIndices.map((index) => staticAccounts[index]),
    data: data ?? new Uint8Array(),
  }));
  const others = instructions.filter(({ program }) => !HARMLESS_PROGRAMS.includes(program));
  const [transfer] = others;
  if (others.length !== 1 || !transfer || !TOKEN_PROGRAMS.includes(transfer.program)) return undefined;
  const { data, accounts } = transfer;
  if (data[0] !== TRANSFER_CHECKED || data.length !== 10) return undefined;
  const [, mint, , authority] = accounts;
  const amount = new DataView(data.buffer, data.byteOffset).getBigUint64(1, true);
  return { feePayer: staticAccounts[0], mint, authority, amount };
}
