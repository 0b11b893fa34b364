/** What a payer's transaction may make our fee payer do: sign, pay a bounded fee, and nothing else. */
import {
  COMPUTE_BUDGET_PROGRAM,
  type Instruction,
  type SolanaPayment,
  TOKEN_PROGRAMS,
  TRANSFER_CHECKED,
} from '../chains/solana-transaction.ts';

/** A transfer with a memo takes some 20,000; wallets add up to three assertions. */
export const MOST_UNITS = 200_000;
/** Microlamports for a compute unit. */
export const MOST_UNIT_PRICE = 1_000_000;
/** The payer's and ours. */
export const MOST_SIGNATURES = 2;
/** A payer chooses the priority fee, we pay it: about a cent is plenty for a transfer. */
const MOST_LAMPORTS = 50_000n;

/** Two signatures, and the lamport of priority that the published client offers. */
export const USUAL_LAMPORTS = 10_001n;

/** Wallets add its assertions. Tags 0 and 1, MemoryWrite and MemoryClose, move rent (Lighthouse's instruction.rs). */
const LIGHTHOUSE_PROGRAM = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';
const FIRST_ASSERTION = 2;
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

function instructionProblem({ program, accounts, data }: Instruction, ours: string): string | undefined {
  const isLighthouse = program === LIGHTHOUSE_PROGRAM;
  if (isLighthouse && (data[0] ?? 0) < FIRST_ASSERTION) return 'a Lighthouse instruction is not an assertion';
  if (!isLighthouse && accounts.includes(ours)) return 'an instruction names the fee payer among its accounts';
  if (isLighthouse || program === COMPUTE_BUDGET_PROGRAM || program === MEMO_PROGRAM) return undefined;
  if (TOKEN_PROGRAMS.includes(program ?? '') && data[0] === TRANSFER_CHECKED) return undefined;
  return 'the transaction is not a plain transfer';
}

/** Why `ours` does not sign a transaction as its fee payer; undefined where it may. */
export function feePayerProblem(payment: SolanaPayment, ours: string): string | undefined {
  const { feePayer, signatures, units, unitPrice, fee, instructions } = payment;
  if (feePayer !== ours) return 'the transaction names the wrong fee payer';
  if (signatures > MOST_SIGNATURES) return `the transaction needs ${signatures} signatures, at most ${MOST_SIGNATURES}`;
  if (units > MOST_UNITS) return `the transaction may use ${units} compute units, at most ${MOST_UNITS}`;
  if (fee > MOST_LAMPORTS) return `the fee may be ${fee} lamports, at most ${MOST_LAMPORTS} are paid here`;
  if (unitPrice > MOST_UNIT_PRICE) return `a compute unit may cost at most ${MOST_UNIT_PRICE} microlamports`;
  for (const instruction of instructions) {
    const problem = instructionProblem(instruction, ours);
    if (problem) return problem;
  }
  return undefined;
}
