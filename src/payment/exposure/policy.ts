/** What a payer can make the operator spend before its money is sure: `exposure` in `service.yaml`. */
import type { ExposureFile, Route } from '../../catalogue/types.ts';
import { type Money, usd } from '../../money.ts';

export interface ExposurePolicy {
  /** The most that a payer's calls under way may be worth together; beyond it, its payments settle first. */
  readonly perPayer: Money;
  /** What of that may go beyond what the payer has settled before on the network: trust grows by paying. */
  readonly unproven: Money;
  /** The same for all payers together, with what was lost within an hour: a thousand new wallets are bounded like one. */
  readonly perHour: Money;
  /** Once so much was lost within an hour on one network or at one endpoint, all of its payments settle first. */
  readonly lossLimit: Money;
  /** Where payments would settle first, their money is locked instead, on networks and with clients that can. */
  readonly hold: boolean;
  /** Calls may be drawn from deposits, on networks and with clients that can. */
  readonly channels: boolean;
  readonly settleUpfront: {
    /** Calls that cost more than this, which is no more than `perPayer`: nobody's could settle later. */
    readonly above: Money;
    /** Wallets that are contracts: only the chain can check their signatures, and they may change their mind. */
    readonly contracts: boolean;
    /** Payers of whom so many settlements failed after the work was done, within a day. */
    readonly afterFailures: number;
  };
}

/**
 * Small calls of strangers settle after the result, and all strangers together can take no more than two dollars in an
 * hour: it takes payers with a record, who have paid as much as they take, to make a network settle first for everybody.
 */
export function exposurePolicy(file: ExposureFile = {}): ExposurePolicy {
  const { perPayer = '2.00', new: unproven = '0.50', perHour = '2.00', lossLimit = '5.00' } = file;
  const { settleUpfront = {}, hold = false, channels = false } = file;
  const { above = '1.00', contracts = true, afterFailures = 2 } = settleUpfront;
  const least = usd(perPayer) < usd(above) ? perPayer : above;
  return {
    perPayer: usd(perPayer),
    unproven: usd(unproven),
    perHour: usd(perHour),
    lossLimit: usd(lossLimit),
    hold,
    channels,
    settleUpfront: { above: usd(least), contracts, afterFailures },
  };
}

/** Whether every call of the route that costs so much settles first. What is passed on cannot be withheld. */
export const isAbove = ({ settleUpfront }: ExposurePolicy, { streams = false }: Route, amount: Money): boolean =>
  streams || amount > settleUpfront.above;
