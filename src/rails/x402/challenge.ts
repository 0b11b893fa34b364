/** The challenges of the x402 rail: what is offered, in the words of versions 2 and 1. */
import { randomUUID } from 'node:crypto';
import type { Route } from '../../catalogue/types.ts';
import { type Money, toAtomic } from '../../money.ts';
import type { ExposureControl } from '../../payment/exposure/control.ts';
import type { PayableNetwork, PayableNetworks } from '../../payment/networks.ts';
import type { Challenge, Rail } from '../../payment/rail.ts';
import { SETTLE_MARGIN_MS, settlesUpfront } from '../../payment/settle-upfront.ts';
import { discoveryExtension } from './bazaar.ts';
import { paymentIdentifierExtension } from './payment-identifier.ts';
import { CHALLENGE_EXTENSION, encodeHeader, type Requirements, type RequirementsV1 } from './wire.ts';

/** Kept after the deadline so that a client's clock, the settlement and a second attempt fit in. */
const MARGIN_SECONDS = 60;

/** An authorization that lasts as long as asked is asked to outlive the deadline; others are good for what they are. */
function authorizationSeconds(route: Route, network: PayableNetwork): number {
  const lasts = network.authorizationLastsMs;
  return lasts === undefined ? Math.ceil(route.deadlineMs / 1000) + MARGIN_SECONDS : Math.floor(lasts / 1000);
}

/** True where what a payer signs on this network does not outlive the route's work. */
const endsBeforeTheWork = (route: Route, network: PayableNetwork): boolean =>
  settlesUpfront({
    goodForMs: authorizationSeconds(route, network) * 1000,
    deadlineMs: route.deadlineMs,
    settleMarginMs: SETTLE_MARGIN_MS.offer,
    isProven: true,
  });

/** The entry of `accepts` for one network, in version 2's words. */
function requirements(
  route: Route,
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
    maxTimeoutSeconds: authorizationSeconds(route, network),
    extra: upfront ? { ...extra, paymentFlow: 'upfront' } : { ...extra },
  };
}

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

/** Stands where the id comes: as long as one. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

const challengeExtension = (id: string): object => ({
  [CHALLENGE_EXTENSION]: {
    info: { id },
    schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
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

interface Prepared {
  readonly resource: { url: string; description: string; mimeType: string };
  readonly extensions: object;
  readonly amounts: Map<Money, { header(id: string): string; accepts: Requirements[]; acceptsV1: string }>;
  readonly version: string;
}

/** As many prices of one route as are kept ready. */
const KEPT_AMOUNTS = 64;

/** All that is in it is an id, the quote, and what is wrong: the offers follow from the quote. */
export type X402Challenge = Challenge;

export interface Challenges {
  /** Every entry of `accepts`: the exact scheme everywhere, `upto` besides where the price is an upper bound. */
  offers(route: Route, amount: Money): Requirements[];
  /** Whether everybody's payment of this on the network has to settle before the work. */
  settlesUpfront(route: Route, network: PayableNetwork, amount: Money): boolean;
  /** What the challenge says of the route itself, for the facilitator. */
  about(route: Route): { readonly resource: object; readonly extensions: object };
  challenge: Rail<never, X402Challenge>['challenge'];
  /** Version 2's header, and for version 1's body the JSON of `accepts`; `error` is for both. */
  inWords(challenge: X402Challenge): { readonly header: string; readonly error: string; readonly acceptsV1: string };
}

/** Writes challenges. What does not depend on the request is prepared once per route and price. */
export function createChallenges(
  networks: PayableNetworks,
  exposure: Pick<ExposureControl, 'settlesUpfront' | 'version'>,
  publicUrl: string,
): Challenges {
  const prepared = new Map<Route, Prepared>();
  const version = () => `${networks.version} ${exposure.version}`;

  const firstOn = (route: Route, network: PayableNetwork, amount: Money): boolean =>
    endsBeforeTheWork(route, network) || exposure.settlesUpfront(route, network.id, amount);

  const prepare = (route: Route): Prepared => {
    const known = prepared.get(route);
    if (known && known.version === version()) return known;
    const fresh: Prepared = {
      resource: {
        url: publicUrl + route.path,
        description: route.endpoint.summary,
        mimeType: 'application/json',
      },
      extensions: known?.extensions ?? discoveryExtension(route),
      amounts: new Map(),
      version: version(),
    };
    prepared.set(route, fresh);
    return fresh;
  };

  const payable = (route: Route): PayableNetwork[] =>
    route.networks.map((id) => networks.find(id)).filter((network) => network !== undefined);

  const offers = (route: Route, amount: Money): Requirements[] =>
    payable(route).flatMap((network) => {
      const upfront = firstOn(route, network, amount);
      const exact = requirements(route, network, amount, { scheme: 'exact', upfront });
      // What it has to pay is known only after the work.
      if (!route.price.actual || !network.upto || upfront) return [exact];
      return [exact, requirements(route, network, amount, { scheme: 'upto', upfront })];
    });

  const bodyOffers = (route: Route, resource: Prepared['resource'], accepts: readonly Requirements[]) => {
    const names = new Map(payable(route).map((network) => [network.caip2, network.v1Name]));
    const exact = accepts.filter((offer) => offer.scheme === 'exact');
    const forV1 = exact.filter((offer) => names.get(offer.network) !== undefined);
    // Version 1 clients refuse a challenge that names a network they do not know. Where they cannot pay anyway,
    // the body still shows readers what is asked.
    return (forV1.length > 0 ? forV1 : exact).map((offer) =>
      requirementsV1(offer, names.get(offer.network) ?? offer.network, resource),
    );
  };

  const quoted = (route: Route, amount: Money) => {
    const { amounts, resource, extensions } = prepare(route);
    const known = amounts.get(amount);
    if (known) return known;
    const accepts = offers(route, amount);
    const withId = { ...extensions, ...paymentIdentifierExtension, ...challengeExtension(NO_ID) };
    const required = { x402Version: 2, error: 'Payment required', resource, accepts, extensions: withId };
    const made = {
      header: headerWithId(required),
      accepts,
      acceptsV1: JSON.stringify(bodyOffers(route, resource, accepts)),
    };
    const oldest = amounts.size >= KEPT_AMOUNTS ? amounts.keys().next().value : undefined;
    if (oldest !== undefined) amounts.delete(oldest);
    amounts.set(amount, made);
    return made;
  };

  return {
    offers,
    settlesUpfront: firstOn,

    about(route) {
      const { resource, extensions } = prepare(route);
      return { resource, extensions };
    },

    challenge: (quote, refusal, invalidParams) => ({ id: randomUUID(), quote, refusal, invalidParams }),

    /** A refusal's reason goes into both versions' `error`. */
    inWords({ id, quote: { route, amount }, refusal }) {
      const { header, accepts, acceptsV1 } = quoted(route, amount);
      if (!refusal) return { header: header(id), error: 'Payment required', acceptsV1 };
      const { resource, extensions: fixed } = prepare(route);
      const extensions = { ...fixed, ...paymentIdentifierExtension, ...challengeExtension(id) };
      const error = refusal.message;
      return { header: encodeHeader({ x402Version: 2, error, resource, accepts, extensions }), error, acceptsV1 };
    },
  };
}
