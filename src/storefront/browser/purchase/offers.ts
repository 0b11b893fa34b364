/** The ways in which a quote can be paid here: those on networks and in assets that the gateway itself names. */
import type { ShownNetwork } from '../../wallets/shown-network.ts';
import { amountOf } from './format.ts';
import type { Accepted, Quote } from './types.ts';

export interface Offer {
  readonly accepted: Accepted;
  readonly network: ShownNetwork;
  /** Stays the same from quote to quote. */
  readonly key: string;
  /** `0.06 USDC on Chain A`, or `up to 0.06 USDC on Chain C`. */
  readonly price: string;
}

/** Whether what is drawn from a deposit is offered by terms that are signed here. */
export type IsSound = (accepted: Accepted, network: ShownNetwork) => boolean;

export const DEPOSIT = 'batch-settlement';

/** Those that a wallet in a browser can sign. What is locked until the answer is there comes first: nothing can be lost by it. */
const SCHEMES = ['auth-capture', 'exact', 'upto', DEPOSIT];

export const isFromDeposit = ({ accepted }: Pick<Offer, 'accepted'>): boolean => accepted.scheme === DEPOSIT;

function offerOf(accepted: Accepted, network: ShownNetwork, isByUse: boolean): Offer {
  const { symbol, decimals } = network.asset;
  const upTo = accepted.scheme === 'upto' || (isByUse && accepted.scheme === DEPOSIT) ? 'up to ' : '';
  return {
    accepted,
    network,
    key: `${accepted.network} ${accepted.scheme}`,
    price: `${upTo}${amountOf(accepted.amount, decimals)} ${symbol} on ${network.name}`,
  };
}

/** `isSound` undefined: nothing is drawn from a deposit. */
export function offersIn(
  { paymentRequired }: Pick<Quote, 'paymentRequired'>,
  networks: readonly ShownNetwork[],
  isSound: IsSound | undefined,
): Offer[] {
  const isByUse = paymentRequired.accepts.some(({ scheme }) => scheme === 'upto');
  const offers = new Map<string, Offer>();
  for (const accepted of paymentRequired.accepts) {
    const network = networks.find(({ caip2 }) => caip2 === accepted.network);
    if (!network || network.asset.address !== accepted.asset || !SCHEMES.includes(accepted.scheme)) continue;
    if (accepted.scheme === DEPOSIT && !isSound?.(accepted, network)) continue;
    const offer = offerOf(accepted, network, isByUse);
    if (!offers.has(offer.key)) offers.set(offer.key, offer);
  }
  // A fixed price needs nothing to be set up first.
  const place = ({ accepted }: Offer): number => SCHEMES.indexOf(accepted.scheme);
  return [...offers.values()].sort((one, other) => place(one) - place(other));
}

/** What of a deposit's terms says how much it is, and who has a say in it for how long. */
const TERMS = ['receiverAuthorizer', 'withdrawDelay', 'minDeposit'];

const isSameTerms = ({ extra: one = {} }: Accepted, { extra: other = {} }: Accepted): boolean =>
  TERMS.every((name) => one[name] === other[name]);

/** True where both ask for the same money for the same payee. */
export const isSamePrice = ({ accepted: one }: Offer, { accepted: other }: Offer): boolean =>
  one.amount === other.amount &&
  one.asset === other.asset &&
  one.payTo === other.payTo &&
  (one.scheme !== DEPOSIT || isSameTerms(one, other));
