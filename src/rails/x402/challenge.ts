/** The challenges of the x402 rail: what is offered, in the words of versions 2 and 1. */
import type { NetworkId, Route } from '../../catalogue/types.ts';
import { type Money, toAtomic } from '../../money.ts';
import { REFUNDS_PATH } from '../../paths.ts';
import { WITHDRAW_DELAY } from '../../payment/channels/channel.ts';
import { captureDeadlineAt, LONGEST_HELD_WORK_MS, stepOf } from '../../payment/escrow/deadline.ts';
import { NOBODY } from '../../payment/escrow/payment-info.ts';
import type { ExposureControl, UpfrontFor } from '../../payment/exposure/control.ts';
import type { PayableNetwork, PayableNetworks } from '../../payment/networks.ts';
import type { Challenge, Quote, Rail, ToolWords } from '../../payment/rail.ts';
import type { Correction, Refusal } from '../../payment/refusal.ts';
import { afterResultFirst, authorizationSeconds, endsTooSoonOn } from '../../payment/settle-upfront.ts';
import { discoveryExtension } from './bazaar.ts';
import { type ChallengeIds, NO_ID } from './challenge-id.ts';
import { leastDeposit } from './channel.ts';
import { gasSponsoringExtension } from './gas-sponsoring.ts';
import { type ResourceListing, resourceListing } from './listing.ts';
import { paymentIdentifierExtension } from './payment-identifier.ts';
import { CHALLENGE_EXTENSION, type Requirements, type RequirementsV1 } from './wire.ts';

/** The entry of `accepts` for one network, in version 2's words. */
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

/** The same in version 1's words. `amount` is carried too, for readers of the body. */
export function requirementsV1(
  offer: Requirements,
  network: string,
  resource: { url: string; description: string },
): RequirementsV1 & { amount: string } {
  return {
    scheme: offer.scheme,
    network,
    maxAmountRequired: offer.amount,
    amount: offer.amount,
    resource: resource.url,
    description: resource.description,
    mimeType: 'application/json',
    payTo: offer.payTo,
    maxTimeoutSeconds: offer.maxTimeoutSeconds,
    asset: offer.asset,
    extra: offer.extra,
  };
}

/** `upfrontFor` says which payers settle first although offers say otherwise. */
const challengeExtension = (id: string, upfrontFor: UpfrontFor | undefined): object => ({
  [CHALLENGE_EXTENSION]: {
    info: upfrontFor ? { id, upfrontFor } : { id },
    schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  },
});

/** Source: the draft x402 extension `refund`. */
const refundExtension = (publicUrl: string, windowMs: number): object => ({
  refund: {
    info: { refundEndpoint: publicUrl + REFUNDS_PATH, windowSeconds: windowMs / 1000, partialRefunds: false },
    schema: { type: 'object', required: ['refundEndpoint'] },
  },
});

/**
 * A header that is encoded once, with a place for the id: base64 takes bytes by threes, so what comes before the id is
 * padded to a multiple of three, and an id is 36 bytes.
 */
function headerWithId(required: object): (id: string) => string {
  const json = JSON.stringify(required);
  const at = json.lastIndexOf(NO_ID);
  const before = json.slice(0, at);
  const padding = ' '.repeat((3 - (Buffer.byteLength(before) % 3)) % 3);
  const head = Buffer.from(padding + before).toString('base64');
  const tail = Buffer.from(json.slice(at + NO_ID.length)).toString('base64');
  return (id) => head + Buffer.from(id).toString('base64') + tail;
}

/** Clients of some schemes read a code. */
const errorOf = ({ message, correction }: Refusal): string => correction?.code ?? message;

/** What is asked for a request, and on which of the route's networks. */
type Offered = Pick<Quote, 'route' | 'amount' | 'networks' | 'deadlineMs' | 'isSecret'>;

interface PreparedQuote {
  header(id: string): string;
  /** Members of the body, as JSON. */
  readonly members: string;
  readonly isPayable: boolean;
}

interface Prepared {
  readonly resource: { url: string; description: string; mimeType: string } & ResourceListing;
  readonly extensions: object;
  /** By amount, and by deadline, secrecy and networks as well where a request has not the usual ones. */
  readonly quotes: Map<Money | string, PreparedQuote>;
  readonly version: string;
}

/** As many prices of one route as are kept ready. */
const KEPT_QUOTES = 64;

/** All that is in it is an id, the quote, and what is wrong: the offers follow from the quote. */
export type X402Challenge = Challenge;

export interface Challenges {
  /**
   * What a payment may answer: the exact scheme everywhere, `upto` besides where the price is an upper bound, `auth-capture`
   * before it where it would settle first, and `batch-settlement` last. Many clients pay the first that they can, so those
   * that settle after the result come first. A challenge leaves out those that are not worth settling now.
   * `allUpfront`: to a payer who has to settle first, whatever others may.
   */
  offers(quote: Offered, allUpfront?: boolean): Requirements[];
  /** Why everybody's payment of this on the network has to settle before the work. */
  upfront(quote: Offered, network: PayableNetwork): 'deadline' | 'above' | 'loss' | undefined;
  /** How long what is signed for it on the network is asked to last, in milliseconds. */
  lastsMs(quote: Offered, network: PayableNetwork): number;
  /** What the challenge says of the route itself, for the facilitator. */
  about(route: Route): { readonly resource: object; readonly extensions: object };
  challenge: Rail<never, X402Challenge>['challenge'];
  /**
   * Version 2's header; members of the body, as JSON: version 1's `accepts` and `upfrontFor`, and `offers`, which are version
   * 2's and name every network. `error` is for both.
   */
  inWords(challenge: X402Challenge): { readonly header: string; readonly error: string; readonly members: string };
  /** Version 2's object for another transport, where the resource has another name and is described elsewhere. */
  asObject(challenge: X402Challenge, url: string): { readonly accepts: readonly Requirements[] } & ToolWords['meta'];
  /** False where nothing is offered at this price at the moment. */
  isPayable(challenge: X402Challenge): boolean;
}

/** Writes challenges. What does not depend on the request is prepared once per route and price. */
export function createChallenges(
  networks: PayableNetworks,
  exposure: Pick<ExposureControl, 'upfront' | 'upfrontFor' | 'version' | 'policy'>,
  options: { readonly publicUrl: string; readonly refundWindowMs: number | undefined; readonly ids: ChallengeIds },
  now: () => number,
): Challenges {
  const { publicUrl, refundWindowMs, ids } = options;
  const common = {
    ...paymentIdentifierExtension,
    ...(refundWindowMs === undefined ? {} : refundExtension(publicUrl, refundWindowMs)),
  };
  const prepared = new Map<Route, Prepared>();
  const version = () => `${networks.version} ${exposure.version} ${exposure.policy.hold ? stepOf(now()) : ''}`;

  const upfrontOn: Challenges['upfront'] = (quote, network) =>
    endsTooSoonOn(network, quote) ? 'deadline' : exposure.upfront(quote.route, network.id, quote.amount);

  const prepare = (route: Route): Prepared => {
    const known = prepared.get(route);
    if (known && known.version === version()) return known;
    const fresh: Prepared = {
      resource: {
        url: publicUrl + route.path,
        description: route.endpoint.summary,
        mimeType: 'application/json',
        ...resourceListing(route, publicUrl),
      },
      extensions: known?.extensions ?? discoveryExtension(route),
      quotes: new Map(),
      version: version(),
    };
    prepared.set(route, fresh);
    return fresh;
  };

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

  /** What is said of approving Permit2, where one of the offers can be paid without having done so. */
  const approving = (accepts: readonly Requirements[]): object => {
    const canBePaid = accepts.some(({ scheme, network: caip2, amount }) => {
      const network = networks.all().find((each) => each.caip2 === caip2);
      if (scheme !== 'upto' || !network?.takesApprovals) return false;
      return BigInt(amount) * 2n >= HALF_SETTLEMENTS_WITH_APPROVAL * networks.leastPrice(network.id);
    });
    return canBePaid ? gasSponsoringExtension : {};
  };

  const bodyOffers = (route: Route, resource: Prepared['resource'], accepts: readonly Requirements[]) => {
    const names = new Map(payable(route.networks).map((network) => [network.caip2, network.v1Name]));
    const exact = accepts.filter((offer) => offer.scheme === 'exact');
    const forV1 = exact.filter((offer) => names.get(offer.network) !== undefined);
    // Version 1 clients refuse a challenge that names a network they do not know: `offers` names those. Where they
    // cannot pay anyway, `accepts` still shows readers what is asked.
    return (forV1.length > 0 ? forV1 : exact).map((offer) =>
      requirementsV1(offer, names.get(offer.network) ?? offer.network, resource),
    );
  };

  /** What is offered at a price, and which payers settle first although it says otherwise. */
  const open = (offered: Offered, allUpfront: boolean, correction?: Correction) => {
    const all = payable(offered.networks);
    const worthwhile = all.filter((network) => isWorthSettling(network, offered.amount));
    const settled = offersOn(worthwhile, offered, allUpfront);
    const drawn = drawnOn(all, offered);
    const accepts = [...settled, ...(correction ? drawn.map((offer) => corrected(offer, correction)) : drawn)];
    const upfrontFor = settled.every(({ extra }) => extra.paymentFlow === 'upfront') ? undefined : exposure.upfrontFor;
    return { accepts, upfrontFor };
  };

  /** What is said at a price, in both versions' words. */
  const said = (offered: Offered, error: string, allUpfront = false, correction?: Correction) => {
    const { route } = offered;
    const { resource, extensions } = prepare(route);
    const { accepts, upfrontFor } = open(offered, allUpfront, correction);
    const withId = { ...extensions, ...common, ...approving(accepts), ...challengeExtension(NO_ID, upfrontFor) };
    const members = {
      accepts: bodyOffers(route, resource, accepts),
      ...(upfrontFor && { upfrontFor }),
      offers: accepts,
    };
    return {
      required: { x402Version: 2, error, resource, accepts, extensions: withId },
      members: JSON.stringify(members).slice(1, -1),
    };
  };

  const quoted = (offered: Offered): PreparedQuote => {
    const { route, amount, networks: ids, deadlineMs, isSecret } = offered;
    const { quotes } = prepare(route);
    const isUsual = ids === route.networks && deadlineMs === route.deadlineMs && !isSecret;
    const key = isUsual ? amount : `${amount} ${deadlineMs} ${isSecret} ${ids.join(' ')}`;
    const known = quotes.get(key);
    if (known) return known;
    const { required, members } = said(offered, 'Payment required');
    const made = { header: headerWithId(required), members, isPayable: required.accepts.length > 0 };
    const oldest = quotes.size >= KEPT_QUOTES ? quotes.keys().next().value : undefined;
    if (oldest !== undefined) quotes.delete(oldest);
    quotes.set(key, made);
    return made;
  };

  return {
    offers(quote, allUpfront) {
      const all = payable(quote.networks);
      return [...offersOn(all, quote, allUpfront), ...drawnOn(all, quote)];
    },
    upfront: upfrontOn,
    lastsMs: (quote, network) => authorizationSeconds(quote, network) * 1000,

    about(route) {
      const { resource, extensions } = prepare(route);
      return { resource, extensions };
    },

    challenge: (quote, refusal, invalidParams) => ({ id: ids.give(now()), quote, refusal, invalidParams }),

    isPayable: ({ quote }) => quoted(quote).isPayable,

    asObject({ id, quote, refusal }, url) {
      const { accepts, upfrontFor } = open(quote, refusal?.upfront !== undefined, refusal?.correction);
      return {
        x402Version: 2,
        error: refusal ? errorOf(refusal) : 'Payment required',
        resource: { ...prepare(quote.route).resource, url },
        accepts,
        extensions: { ...common, ...approving(accepts), ...challengeExtension(id, upfrontFor) },
      };
    },

    /** A refusal's reason goes into both versions' `error`. */
    inWords({ id, quote, refusal }) {
      if (!refusal) {
        const { header, members } = quoted(quote);
        return { header: header(id), error: 'Payment required', members };
      }
      const error = errorOf(refusal);
      const { required, members } = said(quote, error, refusal.upfront !== undefined, refusal.correction);
      return { header: headerWithId(required)(id), error, members };
    },
  };
}
