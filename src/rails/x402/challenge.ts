/** The challenges of the x402 rail: what is offered (`offers.ts`), in the words of versions 2 and 1. */
import type { Route } from '../../catalogue/types.ts';
import type { Money } from '../../money.ts';
import { REFUNDS_PATH } from '../../paths.ts';
import type { UpfrontFor } from '../../payment/exposure/control.ts';
import type { PayableNetworks } from '../../payment/networks.ts';
import type { Challenge, Rail, ToolWords } from '../../payment/rail.ts';
import type { Correction, Refusal } from '../../payment/refusal.ts';
import { discoveryExtension } from './bazaar.ts';
import { type ChallengeIds, NO_ID } from './challenge-id.ts';
import { gasSponsoringExtension } from './gas-sponsoring.ts';
import { type ResourceListing, resourceListing } from './listing.ts';
import type { Offered, Offers } from './offers.ts';
import { paymentIdentifierExtension } from './payment-identifier.ts';
import { CHALLENGE_EXTENSION, type Requirements, type RequirementsV1 } from './wire.ts';

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

export interface Challenges {
  /** What the challenge says of the route itself, for the facilitator. */
  about(route: Route): { readonly resource: object; readonly extensions: object };
  challenge: Rail['challenge'];
  /**
   * Version 2's header; members of the body, as JSON: version 1's `accepts` and `upfrontFor`, and `offers`, which are version
   * 2's and name every network. `error` is for both.
   */
  inWords(challenge: Challenge): { readonly header: string; readonly error: string; readonly members: string };
  /** Version 2's object for another transport, where the resource has another name and is described elsewhere. */
  asObject(challenge: Challenge, url: string): { readonly accepts: readonly Requirements[] } & ToolWords['meta'];
  /** False where nothing is offered at this price at the moment. */
  isPayable(challenge: Challenge): boolean;
}

/** Writes challenges. What does not depend on the request is prepared once per route and price. */
export function createChallenges(
  networks: Pick<PayableNetworks, 'find'>,
  offers: Offers,
  options: { readonly publicUrl: string; readonly refundWindowMs: number | undefined; readonly ids: ChallengeIds },
  now: () => number,
): Challenges {
  const { publicUrl, refundWindowMs, ids } = options;
  const common = {
    ...paymentIdentifierExtension,
    ...(refundWindowMs === undefined ? {} : refundExtension(publicUrl, refundWindowMs)),
  };
  const prepared = new Map<Route, Prepared>();

  const prepare = (route: Route): Prepared => {
    const known = prepared.get(route);
    if (known && known.version === offers.version()) return known;
    const fresh: Prepared = {
      resource: {
        url: publicUrl + route.path,
        description: route.endpoint.summary,
        mimeType: 'application/json',
        ...resourceListing(route, publicUrl),
      },
      extensions: known?.extensions ?? discoveryExtension(route),
      quotes: new Map(),
      version: offers.version(),
    };
    prepared.set(route, fresh);
    return fresh;
  };

  const approving = (accepts: readonly Requirements[]): object =>
    offers.takeApprovals(accepts) ? gasSponsoringExtension : {};

  const bodyOffers = (route: Route, resource: Prepared['resource'], accepts: readonly Requirements[]) => {
    const names = new Map(
      route.networks.flatMap((id) => {
        const network = networks.find(id);
        return network ? [[network.caip2, network.v1Name] as const] : [];
      }),
    );
    const exact = accepts.filter((offer) => offer.scheme === 'exact');
    const forV1 = exact.filter((offer) => names.get(offer.network) !== undefined);
    // Version 1 clients refuse a challenge that names a network they do not know: `offers` names those. Where they
    // cannot pay anyway, `accepts` still shows readers what is asked.
    return (forV1.length > 0 ? forV1 : exact).map((offer) =>
      requirementsV1(offer, names.get(offer.network) ?? offer.network, resource),
    );
  };

  /** What is said at a price, in both versions' words. */
  const said = (offered: Offered, error: string, allUpfront = false, correction?: Correction) => {
    const { route } = offered;
    const { resource, extensions } = prepare(route);
    const { accepts, upfrontFor } = offers.made(offered, allUpfront, correction);
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
    about(route) {
      const { resource, extensions } = prepare(route);
      return { resource, extensions };
    },

    challenge: (quote, refusal, invalidParams) => ({ id: ids.give(now()), quote, refusal, invalidParams }),

    isPayable: ({ quote }) => quoted(quote).isPayable,

    asObject({ id, quote, refusal }, url) {
      const { accepts, upfrontFor } = offers.made(quote, refusal?.upfront !== undefined, refusal?.correction);
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
