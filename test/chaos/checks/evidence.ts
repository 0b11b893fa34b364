import type { Books } from '../books.ts';
import type { ChatCall } from '../chat.ts';
import type { Crash } from '../havoc.ts';
import type { Ledger } from '../ledger.ts';
import type { Purchase } from '../purchase.ts';
import type { Reconciled } from '../reconciled.ts';
import type { Call } from '../upstream.ts';

/** All that a campaign knows at its end. */
export interface Evidence {
  readonly purchases: readonly Purchase[];
  readonly chats: readonly ChatCall[];
  readonly crashes: readonly Crash[];
  /** At the very end. */
  readonly ledger: Ledger;
  readonly calls: readonly Call[];
  /** Once the reconciler had its time, and before anybody asked for an answer again. */
  readonly quiet: Books;
  /** After every payer has asked again, and what that began has ended. */
  readonly books: Books;
  /** What the operator's own comparison says of them. */
  readonly told: Reconciled;
  readonly markOf: (payment: string) => string | undefined;
}
