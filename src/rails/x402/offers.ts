/** What is offered for a request, and on which terms: the entries of `accepts`, in version 2's words. */
import type { NetworkId } from '../../catalogue/types.ts';
import { type Money, toAtomic } from '../../money.ts';
import { WITHDRAW_DELAY } from '../../payment/channels/channel.ts';
import { captureDeadlineAt, LONGEST_HELD_WORK_MS, stepOf } from '../../payment/escrow/deadline.ts';
import { NOBODY } from '../../payment/escrow/payment-info.ts';
import type { ExposureControl, UpfrontFor } from '../../payment/exposure/control.ts';
import type { PayableNetwork, PayableNetworks } from '../../payment/networks.ts';
import type { Quote } from '../../payment/rail.ts';
import type { Correction } from '../../payment/refusal.ts';
import { afterResultFirst, authorizationSeconds, endsTooSoonOn } from '../../payment/settle-upfront.ts';
import { leastDeposit } from './channel.ts';
import type { Requirements } from './wire.ts';

/** The entry for one network. */
function requirements(
  work: Pick<Quote, 'deadlineMs'>,
  network: PayableNetwork,
  amount: Money,
  { scheme, upfront }: { scheme: 'exact' | 'upto'; upfront: boolean },
): Requirements {
  const extra = scheme === 'upto' ? network.upto : network.extra;
  return {
    scheme,
    network: network.caip2,
    amount: toAtomic(amount, network.asset.decimals).toString(),
    asset: network.asset.address,
    payTo: network.payTo,
    maxTimeoutSeconds: authorizationSeconds(work, network),
    extra: upfront ? { ...extra, paymentFlow: 'upfront' } : { ...extra },
  };
}

/** A payment through Permit2 takes as much gas as so many halves of a settlement with the permit that approves it. */
export const HALF_SETTLEMENTS_WITH_APPROVAL = 3n;

/** What is locked takes as much gas as so many settlements: to lock it, to take a part and to give back the rest. */
export const SETTLEMENTS_OF_A_HOLD = 3n;

/** What locks a payment is signed and sent at once. */
const LOCK_SECONDS = 300;

/**
 * The entry by which the payment is locked before the work and taken after it. It leaves `paymentFlow` out, which means the
 * same: published clients drop offers that say `escrow` where another says nothing.
 */
const holdRequirements = (
  exact: Requirements,
  { extra }: NonNullable<PayableNetwork['hold']>,
  captureDeadline: number,
): Requirements => ({
  ...exact,
  scheme: 'auth-capture',
  maxTimeoutSeconds: LOCK_SECONDS,
  extra: {
    ...extra,
    operatorType: 'delegated',
    captureMode: 'deferred',
    captureDeadline,
    refundDeadline: captureDeadline,
    feeRecipient: NOBODY,
    minFeeBps: 0,
    maxFeeBps: 0,
  },
});

/** The entry by which a call of so many atomic units is drawn from a deposit; undefined where there are no channels. */
export const channelRequirements = (
  { caip2, asset, payTo, channels }: PayableNetwork,
  amount: bigint,
  leastPrice: bigint,
): Requirements | undefined =>
  channels && {
    scheme: 'batch-settlement',
    network: caip2,
    amount: amount.toString(),
    asset: asset.address,
    payTo,
    maxTimeoutSeconds: LOCK_SECONDS,
    extra: {
      ...channels.extra,
      withdrawDelay: WITHDRAW_DELAY,
      minDeposit: leastDeposit(amount, leastPrice).toString(),
    },
  };

/** What the payer has to sign next, in the offer that it will sign. */
export const corrected = (offer: Requirements, { network, extra }: Correction): Requirements =>
  offer.scheme === 'batch-settlement' && offer.network === network
    ? { ...offer, extra: { ...offer.extra, ...extra } }
    : offer;

/** What is asked for a request, and on which of the route's networks. */
export type Offered = Pick<Quote, 'route' | 'amount' | 'networks' | 'deadlineMs' | 'isSecret'>;

export interface Offers {
  /**
   * What a payment may answer: the exact scheme everywhere, `upto` besides where the price is an upper bound, `auth-capture`
   * before it where it would settle first, and `batch-settlement` last. Many clients pay the first that they can, so those
   * that settle after the result come first. Challenges leave out some of them: see `made`.
   * `allUpfront`: to a payer who has to settle first, whatever others may.
   */
  answerable(quote: Offered, allUpfront?: boolean): Requirements[];
  /**
   * What a challenge offers, without what is not worth settling now, and which payers settle first although it says
   * otherwise. `correction`: what its payer has to sign next.
   */
  made(
    quote: Offered,
    allUpfront: boolean,
    correction?: Correction,
  ): { readonly accepts: Requirements[]; readonly upfrontFor: UpfrontFor | undefined };
  /** Whether one of them can be paid by who has not approved Permit2. */
  takeApprovals(accepts: readonly Requirements[]): boolean;
  /** Why everybody's payment of this on the network has to settle before the work. */
  upfront(quote: Offered, network: PayableNetwork): 'deadline' | 'above' | 'loss' | undefined;
  /** Another one whenever what is offered may have changed. */
  version(): string;
}

export function openOffers(
  networks: PayableNetworks,
  exposure: Pick<ExposureControl, 'upfront' | 'upfrontFor' | 'version' | 'policy'>,
  now: () => number,
): Offers {
  const upfrontOn: Offers['upfront'] = (quote, network) =>
    endsTooSoonOn(network, quote) ? 'deadline' : exposure.upfront(quote.route, network.id, quote.amount);

  const payable = (ids: readonly NetworkId[]): PayableNetwork[] =>
    ids.map((id) => networks.find(id)).filter((network) => network !== undefined);

  const isWorthHolding = ({ id, asset }: PayableNetwork, { amount, deadlineMs }: Offered): boolean =>
    deadlineMs <= LONGEST_HELD_WORK_MS &&
    toAtomic(amount, asset.decimals) >= SETTLEMENTS_OF_A_HOLD * networks.leastPrice(id);

  /** `allUpfront` for a payer who has to settle first, whatever others may. */
  const offersOn = (open: readonly PayableNetwork[], quote: Offered, allUpfront = false): Requirements[] => {
    const { route, amount } = quote;
    const isFirstOn = new Map(open.map((network) => [network, allUpfront || upfrontOn(quote, network) !== undefined]));
    return afterResultFirst([...isFirstOn], ([, upfront]) => upfront).flatMap(([network, upfront]) => {
      const exact = requirements(quote, network, amount, { scheme: 'exact', upfront });
      if (upfront && network.hold && exposure.policy.hold && isWorthHolding(network, quote)) {
        return [holdRequirements(exact, network.hold, captureDeadlineAt(now())), exact];
      }
      // What it has to pay is known only after the work.
      if (!route.price.actual || !network.upto || upfront) return [exact];
      return [exact, requirements(quote, network, amount, { scheme: 'upto', upfront })];
    });
  };

  /** One that only has to be signed is worth it at any price. Who sees a voucher has all that its payer could show. */
  const drawnOn = (open: readonly PayableNetwork[], { amount, isSecret }: Offered): Requirements[] => {
    if (!exposure.policy.channels || isSecret) return [];
    return open.flatMap((network) => {
      const drawn = toAtomic(amount, network.asset.decimals);
      const offer = drawn > 0n && channelRequirements(network, drawn, networks.leastPrice(network.id));
      return offer ? [offer] : [];
    });
  };

  const isWorthSettling = ({ id, asset }: PayableNetwork, amount: Money): boolean =>
    toAtomic(amount, asset.decimals) >= networks.leastPrice(id);

  return {
    answerable(quote, allUpfront) {
      const all = payable(quote.networks);
      return [...offersOn(all, quote, allUpfront), ...drawnOn(all, quote)];
    },

    made(offered, allUpfront, correction) {
      const all = payable(offered.networks);
      const worthwhile = all.filter((network) => isWorthSettling(network, offered.amount));
      const settled = offersOn(worthwhile, offered, allUpfront);
      const drawn = drawnOn(all, offered);
      const accepts = [...settled, ...(correction ? drawn.map((offer) => corrected(offer, correction)) : drawn)];
      const upfrontFor = settled.every(({ extra }) => extra.paymentFlow === 'upfront')
        ? undefined
        : exposure.upfrontFor;
      return { accepts, upfrontFor };
    },

    takeApprovals(accepts) {
      return accepts.some(({ scheme, network: caip2, amount }) => {
        const network = networks.all().find((each) => each.caip2 === caip2);
        if (scheme !== 'upto' || !network?.takesApprovals) return false;
        return BigInt(amount) * 2n >= HALF_SETTLEMENTS_WITH_APPROVAL * networks.leastPrice(network.id);
      });
    },

    upfront: upfrontOn,
    version: () => `${networks.version} ${exposure.version} ${exposure.policy.hold ? stepOf(now()) : ''}`,
  };
}
