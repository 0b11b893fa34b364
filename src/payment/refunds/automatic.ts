/** `refunds: automatic` in `service.yaml`: what is owed and cannot be delivered any more is given back by itself. */
import { finalCodes } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { PAGE, pages } from '../../store/pages.ts';
import { MAX_OWED_ATTEMPTS } from '../../store/payments/claimable.ts';
import type { Payment, Store } from '../../store/store.ts';
import type { Rail } from '../rail.ts';
import { senderFor } from './sender.ts';

interface AutomaticParts {
  readonly store: Pick<Store, 'list' | 'refunds'>;
  readonly rails: ReadonlyMap<string, Rail>;
  readonly log: Pick<Log, 'info'>;
  now(): number;
}

/** Whoever has not come back for a result by then is not waited for. */
const WAITED_FOR_MS = 86_400_000;

/** Why it is given back now, or undefined while its payer may still get its result. */
function reasonFor({ reason = '', attempt, updatedAt }: Payment, now: number): string | undefined {
  if (finalCodes.has(reason)) return `the provider refused for good (${reason})`;
  if (attempt >= MAX_OWED_ATTEMPTS) return `it failed ${attempt} times (${reason})`;
  return now - updatedAt >= WAITED_FOR_MS ? `nobody came back for it in a day (${reason})` : undefined;
}

/** One round over all that is owed: what stays owed keeps nothing else waiting. Answers how many are given back now. */
export async function wantRefunds({ store, rails, log, now }: AutomaticParts): Promise<number> {
  let wanted = 0;
  const owed = { states: ['owed'], limit: PAGE, withoutAnswers: true } as const;
  for await (const payment of pages<Payment>((before) => store.list({ ...owed, ...(before && { before }) }))) {
    const reason = reasonFor(payment, now());
    // What nobody can send stays owed: its payer can still get the result.
    if (reason === undefined || !senderFor(rails, payment.network)) continue;
    const outcome = await store.refunds.want({ paymentId: payment.id, reason, isAutomatic: true, now: now() });
    if (!('refund' in outcome)) continue;
    wanted += 1;
    log.info({ payment: payment.id, reason }, 'a payment is given back');
  }
  return wanted;
}
