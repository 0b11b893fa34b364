/**
 * That a Solana transaction pays what was shown, and no more: one transfer of the asset, to the token account of who is
 * paid. Sources: SPL Token's TransferChecked (12, amount as u64, decimals), and the addresses of associated token accounts.
 */
import {
  type Address,
  address,
  getAddressEncoder,
  getCompiledTransactionMessageDecoder,
  getProgramDerivedAddress,
  type ReadonlyUint8Array,
} from '@solana/kit';
import type { Accepted } from '../purchase/types.ts';
import { WalletProblem } from './wallet.ts';

const TOKEN_PROGRAMS: readonly string[] = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
];
const ASSOCIATED_TOKEN_PROGRAM = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
/** Any of them could move SOL, or open accounts at the payer's cost. */
const MOVES_MONEY: readonly string[] = ['11111111111111111111111111111111', ASSOCIATED_TOKEN_PROGRAM];
const TRANSFER_CHECKED = 12;

async function tokenAccountOf(owner: string, mint: string, program: string): Promise<Address> {
  const encode = getAddressEncoder().encode;
  const seeds = [owner, program, mint].map((each) => encode(address(each)));
  const [account] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds });
  return account;
}

async function isPayment(message: ReadonlyUint8Array, offer: Accepted, payer: Address): Promise<boolean> {
  const decoded = getCompiledTransactionMessageDecoder().decode(message);
  const { staticAccounts: accounts, instructions } = decoded;
  const programOf = ({ programAddressIndex }: { programAddressIndex: number }) => String(accounts[programAddressIndex]);
  const [transfer, second] = instructions.filter((each) => TOKEN_PROGRAMS.includes(programOf(each)));
  if (!transfer?.data || second || instructions.some((each) => MOVES_MONEY.includes(programOf(each)))) return false;
  const bytes = new Uint8Array(transfer.data);
  if (bytes.length !== 10 || bytes[0] !== TRANSFER_CHECKED) return false;
  const [, mint, destination, authority] = (transfer.accountIndices ?? []).map((at) => String(accounts[at]));
  return (
    new DataView(bytes.buffer).getBigUint64(1, true) === BigInt(offer.amount) &&
    mint === offer.asset &&
    authority === payer &&
    destination === (await tokenAccountOf(offer.payTo, offer.asset, programOf(transfer))) &&
    // The fees are the facilitator's.
    accounts[0] === offer.extra?.feePayer &&
    accounts[0] !== payer
  );
}

/** Throws WalletProblem where it is anything else. */
export async function checkTransaction(message: ReadonlyUint8Array, offer: Accepted, payer: Address): Promise<void> {
  if (await isPayment(message, offer, payer).catch(() => false)) return;
  throw new WalletProblem('What is signed is not the payment that was shown. Nothing was sent.');
}
