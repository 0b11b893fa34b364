/** Why a payment settles before the work, and whether its payer was told so before signing. */
import type { Payment } from '../store/store.ts';
import type { ExposureControl } from './exposure/control.ts';
import type { Quote, VerifiedPayment } from './rail.ts';
import { Refusal } from './refusal.ts';
import { tooShort } from './settle-upfront.ts';
import { type UpfrontReason, upfrontReasons } from './upfront-reason.ts';

type Told = Pick<ExposureControl, 'policy' | 'wasTold'>;

/**
 * Why a payment settles first, before the store has looked at what else its payer has under way. Throws Refusal where
 * its payer was told otherwise.
 */
export function upfrontOf(
  exposure: Told,
  { upfront, holder, offeredAt: at, offeredUpfront, network }: VerifiedPayment,
  { route }: Quote,
  known: Payment | undefined,
): UpfrontReason | undefined {
  const isTold = () =>
    offeredUpfront ?? (upfront === 'above' || exposure.wasTold('loss', { at, route, network, isUnproven: false }));
  if ((upfront === 'loss' || upfront === 'above') && !isTold()) throw toldOtherwise(upfront);
  // Tried before, to settle after the work: it has become too short for that meanwhile.
  if (upfront === 'deadline' && known && !known.settleUpfront) throw tooShort();
  if (upfront !== undefined && upfront !== 'offered') return upfront;
  // Only the chain can check what a contract signs, and it may say otherwise when it counts.
  return exposure.policy.settleUpfront.contracts && holder.isContract ? 'contract' : upfront;
}

const toldOtherwise = (upfront: UpfrontReason): Refusal =>
  new Refusal(
    'payment-expired',
    `settling comes first by now (${upfrontReasons[upfront]}), and the challenge was given before: pay a fresh one`,
    { upfront },
  );

/** What is to be paid is known only after the work, and this payer's payments settle before it. */
const hasToPayExactly = (upfront: UpfrontReason): Refusal =>
  new Refusal(
    'verification-failed',
    `payments of this payer settle before the work (${upfrontReasons[upfront]}): pay by the scheme exact`,
    { upfront },
  );

/** Why a payment is not settled first that would have to be. */
export function refusalToSettleFirst(
  exposure: Told,
  { offeredAt: at, network, canSettleUpfront }: VerifiedPayment,
  { route }: Quote,
  { upfront, isUnproven }: { readonly upfront: UpfrontReason | undefined; readonly isUnproven: boolean },
): Refusal | undefined {
  if (upfront === undefined) return undefined;
  if (upfront === 'exposure' && !exposure.wasTold('exposure', { at, route, network, isUnproven }))
    return toldOtherwise('exposure');
  return canSettleUpfront ? undefined : hasToPayExactly(upfront);
}
