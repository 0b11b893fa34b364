import { Problem } from '../errors.ts';
import type { Receipt } from '../store/store.ts';

/** Paid, and no result: its payer is told of the settlement all the same. */
export class OwedResult extends Problem {
  readonly receipt: Receipt;

  constructor(receipt: Receipt, message: string, options: ConstructorParameters<typeof Problem>[2]) {
    super('result_owed', message, options);
    this.receipt = receipt;
  }
}
