/**
 * What can be spent elsewhere waits until its payment lies deep enough in its chain. A payment that the chain took back
 * by then becomes `unknown`, and goes the way of all such: it is found again, or ends unsettled and bought nothing.
 */
import type { Log } from '../log.ts';
import type { Payment, Store } from '../store/store.ts';
import { byNetwork } from './by-network.ts';
import type { Intervals } from './intervals.ts';
import type { Rail } from './rail.ts';

export interface ConfirmParts {
  readonly store: Pick<Store, 'find' | 'reopen'> & {
    readonly credits: Pick<Store['credits'], 'unconfirmed' | 'confirm'>;
  };
  readonly rails: ReadonlyMap<string, Pick<Rail, 'confirmations'>>;
  /** How many a payment on this network needs: its neutral id, or CAIP-2. */
  wanted(network: string): number;
  readonly intervals: Pick<Intervals, 'seenByAllMs'>;
  readonly log: Pick<Log, 'warn' | 'error'>;
  now(): number;
}

/** Of each network. */
const BATCH = 100;

/** One round over the purchases that wait. Answers how many were confirmed. */
export async function confirmPurchases(parts: ConfirmParts): Promise<number> {
  const { store, log, now } = parts;
  const ids = await store.credits.unconfirmed(BATCH);
  const found = (await Promise.all(ids.map((id) => store.find(id)))).filter((payment) => payment !== undefined);
  return byNetwork(found, now, async (payment) => {
    try {
      return await confirmPaid(parts, payment);
    } catch (err) {
      log.error({ payment: payment.id, err }, 'the confirmations of a payment could not be counted');
      return false;
    }
  });
}

/** One purchase, by its payment. Answers whether it counts from now on. Throws where the chain cannot be asked. */
export async function confirmPurchase(parts: ConfirmParts, id: string): Promise<boolean> {
  const payment = await parts.store.find(id);
  return payment !== undefined && confirmPaid(parts, payment);
}

async function confirmPaid(
  { store, rails, wanted, intervals, log, now }: ConfirmParts,
  payment: Payment,
): Promise<boolean> {
  const { id } = payment;
  const rail = rails.get(payment.rail);
  if (!rail || !payment.receipt) return false;
  const { transaction, settledAt } = payment.receipt;
  // A node tells how its chain stood when it was asked, however long that is ago once its answer is read.
  const askedAt = now();
  const count = await rail.confirmations(payment.recoveryQuery, transaction);
  if (count >= wanted(payment.network)) return store.credits.confirm(id);
  if (count === 0 && askedAt - settledAt > intervals.seenByAllMs) {
    log.warn({ payment: id, transaction }, 'the chain took a payment back: what it bought is withheld');
    await store.reopen(id, 'the chain took the settling transaction back', now());
  }
  return false;
}
