import { Problem, type ProblemCode } from '../errors.ts';
import type { Receipt } from '../store/store.ts';

/** No result, and money has moved: its payer is told of that all the same. */
export class ReceiptedProblem extends Problem {
  readonly receipt: Receipt;

  constructor(
    code: ProblemCode,
    receipt: Receipt,
    message: string,
    { details, headers, cause }: Pick<Problem, 'headers' | 'cause'> & Partial<Pick<Problem, 'details'>>,
  ) {
    super(code, message, { headers, cause, ...(details && { details }) });
    this.receipt = receipt;
  }
}
