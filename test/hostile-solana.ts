/** Solana transactions that would have whoever pays their fee pay for more. */
import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstruction,
  compileTransaction,
  decompileTransactionMessage,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getProgramDerivedAddress,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransaction,
  prependTransactionMessageInstruction,
} from '@solana/kit';
import type { Rpc } from '../src/payment/chains/rpc.ts';
import { newSolanaWallet } from '../src/sandbox/chains/wallets.ts';

export const LIGHTHOUSE = address('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');
const ASSOCIATED_TOKEN = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const TOKEN = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const SYSTEM = address('11111111111111111111111111111111');

/**
 * Puts a program at Lighthouse's address. Its own code is not at hand; the Associated Token program's does what
 * MemoryWrite does: tag 0 makes an account whose rent the first of its accounts, a writable signer, pays.
 */
export async function placeLighthouse(rpc: Rpc): Promise<void> {
  const code = await rpc('getAccountInfo', [ASSOCIATED_TOKEN, { encoding: 'base64' }]);
  const { owner, data } = Object(Object(code).value);
  await rpc('surfnet_setAccount', [LIGHTHOUSE, { owner, data: Buffer.from(data[0], 'base64').toString('hex') }]);
}

/** An instruction of Lighthouse's that makes an account at the fee payer's cost. */
export async function takeRent(tag: number, feePayer: Address, mint: Address): Promise<Instruction> {
  const wallet = address(newSolanaWallet().address);
  const encode = (at: Address) => getAddressEncoder().encode(at);
  const seeds = [encode(wallet), encode(TOKEN), encode(mint)];
  const [made] = await getProgramDerivedAddress({ programAddress: LIGHTHOUSE, seeds });
  const read = [wallet, mint, SYSTEM, TOKEN].map((at) => ({ address: at, role: AccountRole.READONLY }));
  const accounts = [
    { address: feePayer, role: AccountRole.WRITABLE_SIGNER },
    { address: made, role: AccountRole.WRITABLE },
    ...read,
  ];
  return { programAddress: LIGHTHOUSE, accounts, data: Uint8Array.of(tag) };
}

function unitLimit(units: number): Instruction {
  const data = Buffer.alloc(5, 2);
  data.writeUInt32LE(units, 1);
  return { programAddress: address('ComputeBudget111111111111111111111111111111'), data };
}

function messageOf(transaction: string) {
  const { messageBytes } = getTransactionDecoder().decode(Buffer.from(transaction, 'base64'));
  return decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(messageBytes));
}

/** A payment's transaction (base64) bound to a nonce account in place of a block: what is in the place of the blockhash never ends. */
export async function withDurableNonce(transaction: string, payer: KeyPairSigner): Promise<string> {
  const accounts = [
    { address: address(newSolanaWallet().address), role: AccountRole.WRITABLE },
    { address: address('SysvarRecentB1ockHashes11111111111111111111'), role: AccountRole.READONLY },
    { address: payer.address, role: AccountRole.READONLY_SIGNER },
  ];
  const advance: Instruction = { programAddress: SYSTEM, accounts, data: Uint8Array.of(4, 0, 0, 0) };
  const durable = prependTransactionMessageInstruction(advance, messageOf(transaction));
  return getBase64EncodedWireTransaction(await partiallySignTransaction([payer.keyPair], compileTransaction(durable)));
}

/** A payment's transaction (base64) with one more instruction, signed again by its payer. */
export async function withInstruction(
  transaction: string,
  further: Instruction,
  payer: Pick<KeyPairSigner, 'keyPair'>,
): Promise<string> {
  const message = messageOf(transaction);
  // Room for what the instruction does.
  const before: readonly Instruction[] = message.instructions as readonly Instruction[];
  const instructions = before.map((each) => (each.data?.[0] === 2 ? unitLimit(100_000) : each));
  const longer = appendTransactionMessageInstruction(further, { ...message, instructions });
  return getBase64EncodedWireTransaction(await partiallySignTransaction([payer.keyPair], compileTransaction(longer)));
}
