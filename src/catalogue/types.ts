/** The catalogue as files say it (`…File`) and as the gateway uses it once loaded. */
import type { Money } from '../money.ts';
import type { AlertType } from './files/alerts.ts';

/** JSON Schema 2020-12. In files `$ref` names a fragment in `catalogue/schemas/`; once loaded there is no `$ref` left. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A validated request body or query, defaults filled in. */
export type Input = { readonly [field: string]: unknown };

/** Neutral id of a settlement network, a key of `networks.yaml`: `chain-a`. */
export type NetworkId = string;

export interface PriceOptions {
  readonly rule: string;
  readonly [option: string]: unknown;
}

/** How an endpoint is served: one upstream (`via`) or a recipe with named roles. Other keys belong to the adapter or recipe. */
export interface UpstreamOptions {
  /** A name in `upstreams.yaml`. */
  readonly via?: string;
  /** A model that `upstreams.yaml` lists under that upstream. */
  readonly model?: string;
  /** A name in `src/upstream/recipes/`. */
  readonly recipe?: string;
  /** The recipe's roles: role -> upstream options with `via`. */
  readonly uses?: { readonly [role: string]: UpstreamOptions };
  readonly [option: string]: unknown;
}

/** `values` has a duration for each value of the field. */
export interface DeadlineByField {
  readonly by: string;
  readonly values: { readonly [value: string]: string };
}

/** How an endpoint is sold on a rail that sells by operation; other keys are the rail's own. */
export interface OperationOptions {
  /** Default: the rail's path prefix + the endpoint's path. */
  readonly path?: string;
  readonly price?: PriceOptions;
  /** Shorter than the endpoint's own where the rail's payments, good for less time, shall be settled after the result. */
  readonly deadline?: string | DeadlineByField;
  readonly request?: JsonSchema;
  /** Needed where the operation's own request schema refuses the endpoint's example. */
  readonly example?: Input;
  readonly [option: string]: unknown;
}

/** How a result is wrapped: `data` is `{success: true, data: result}`, `flag` adds `success: true` to the result. */
export type Envelope = 'data' | 'flag';

export interface MirrorFile {
  readonly network: NetworkId;
  /** Default: `/<the network's prefix>` + the endpoint's path. */
  readonly path?: string;
  readonly price?: PriceOptions;
  readonly request?: JsonSchema;
  readonly result?: JsonSchema;
  readonly example?: Input;
  readonly envelope?: Envelope;
  readonly upstream?: UpstreamOptions | readonly UpstreamOptions[];
}

/** `catalogue/endpoints/<group>/<name>.yaml`, without the OperationOptions that it has under a rail's own key. */
export interface EndpointFile {
  readonly summary: string;
  readonly description?: string;
  /** Default: POST. */
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  /** Default: the service's default network. */
  readonly networks?: readonly NetworkId[];
  /** Network -> what a request must fit besides to be offered there. */
  readonly requestOn?: { readonly [network: NetworkId]: JsonSchema };
  readonly price: PriceOptions;
  /** What resource listings say of a dynamic price, where it is not the price of an empty request and the lowest price. */
  readonly listing?: { readonly price: string; readonly minPrice: string };
  /** How long the upstream may take: `30s`, `10m`, or so much by the value of a field. Default: `45s`. */
  readonly deadline?: string | DeadlineByField;
  readonly request: JsonSchema;
  readonly result: JsonSchema;
  readonly envelope?: Envelope;
  /**
   * True where the answer holds a secret: it is given again only to who shows more than what the chain tells. A map where
   * requests that have the field get no secret.
   */
  readonly secret?: boolean | { readonly unless: string };
  /** True where a request may cost nothing; it is then answered without a payment. */
  readonly free?: boolean;
  /** False: it is not sold, and what was bought of it can still be had. */
  readonly enabled?: boolean;
  /** A day, `2027-01-31`: from its beginning (UTC) on it is not sold any more. */
  readonly retire?: string;
  /** A request that its schema accepts. */
  readonly example: Input;
  /** One upstream, or several in order: the next is asked when one fails. */
  readonly upstream: UpstreamOptions | readonly UpstreamOptions[];
  readonly mirrors?: readonly MirrorFile[];
}

export interface AssetFile {
  readonly symbol: string;
  readonly address: string;
  readonly decimals: number;
  /** EIP-712 domain of an EVM asset. */
  readonly name?: string;
  readonly version?: string;
}

/** One network as it is in one mode. */
export interface NetworkBinding {
  readonly caip2: string;
  /** The name that clients of protocol version 1 know it by; a network without one is offered to version 2 clients only. */
  readonly v1Name?: string;
  readonly asset: AssetFile;
  /** Where outcomes are asked for; in the sandbox, the local chain's address takes its place. */
  readonly rpcUrl?: string;
  readonly walletFactories?: readonly string[];
}

/** One entry of `catalogue/networks.yaml`. */
export interface NetworkFile {
  readonly family: 'evm' | 'solana';
  /** `pricing.network` in resource listings: `chain-a-mainnet`. */
  readonly listedAs: string;
  /** Path prefix of mirrors: `chain-c-main`. */
  readonly prefix?: string;
  /** How long a signed authorization stays good, e.g. `60s`; left out: as long as the challenge asks. */
  readonly authorizationLasts?: string;
  /**
   * How deep in the chain a payment has to lie before credits bought with it can be spent: 1, the default, is the
   * settling transaction's own block.
   */
  readonly confirmations?: number;
  readonly live: NetworkBinding;
  readonly sandbox: NetworkBinding;
}

/** Of a million tokens, in dollars. */
interface TokenCosts {
  readonly input: string;
  readonly output: string;
}

/** A provider's model under a neutral name, with what the adapter must know of it. */
export interface ModelFile {
  /** The provider's own id of the model. */
  readonly id: string;
  /** What a million tokens cost us, in dollars; prices of usage-priced endpoints come from here. */
  readonly cost?: TokenCosts & {
    /** Of every token of a call whose prompt has more than `above`. */
    readonly long?: TokenCosts & { readonly above: number };
  };
  readonly contextWindow?: number;
  /** Most output tokens the model gives. */
  readonly maxOutput?: number;
  /** Output tokens when the caller names no bound. */
  readonly defaultOutput?: number;
  /** How many digits its vocabulary joins. Default 3. */
  readonly digitsPerToken?: number;
  /** The adapter's own settings for the model (its `modelOptions` schema). */
  readonly [setting: string]: unknown;
}

/** One entry of `catalogue/upstreams.yaml`. */
export interface UpstreamFile {
  readonly adapter: string;
  readonly baseUrl: string;
  /** Secret -> environment variable, e.g. `{key: REPLICATE_API_TOKEN}`. Left out: needs none. */
  readonly keys?: { readonly [secret: string]: string };
  /** Calls at the same time. Default 64. */
  readonly concurrency?: number;
  /** Least time between the starts of two calls, e.g. `300ms`. */
  readonly spacing?: string;
  /** Longest wait for one HTTP answer, e.g. `30s`. Default: the endpoint's deadline. */
  readonly timeout?: string;
  /** `real`: in the sandbox too, the provider itself is asked, with its key from the environment. */
  readonly sandbox?: 'real';
  readonly models?: { readonly [model: string]: ModelFile };
  /** The adapter's settings for the whole upstream (its `upstreamOptions` schema). */
  readonly settings?: { readonly [setting: string]: unknown };
}

/** What may be at risk before payers' money is sure; amounts in dollars. See `src/payment/exposure/policy.ts`. */
export interface ExposureFile {
  readonly perPayer?: string;
  readonly new?: string;
  readonly perHour?: string;
  readonly lossLimit?: string;
  readonly hold?: boolean;
  readonly channels?: boolean;
  readonly settleUpfront?: {
    readonly above?: string;
    readonly contracts?: boolean;
    readonly afterFailures?: number;
  };
}

/** What one caller may ask for; see `src/limits/`. */
export interface LimitsFile {
  readonly address?: {
    readonly unpaidPerMinute?: number;
    readonly refusedPerMinute?: number;
    readonly underWay?: number;
  };
  /** Or API key. */
  readonly payer?: {
    readonly failedPerMinute?: number;
    readonly wastedPerHour?: number;
    readonly wastedPerDay?: number;
    readonly underWay?: number;
  };
}

/** Who is told of what; amounts in dollars. A threshold that is left out is not watched. See `src/alerts/`. */
export interface AlertsFile {
  readonly webhooks: readonly WebhookFile[];
  readonly spendAbove?: string;
  readonly revenueBelow?: string;
  /** Sales. */
  readonly marginOver?: number;
  /** Settlements. */
  readonly gasBelow?: number;
  readonly creditBelow?: string;
}

export interface WebhookFile {
  readonly url: string;
  /** Left out: everything but `payment.settled`. */
  readonly events?: readonly AlertType[];
}

/** Whom to tell of a weakness: addresses such as `mailto:` or `https:`, the preferred one first. */
export interface SecurityFile {
  readonly contact: readonly string[];
  readonly policy?: string;
}

/** Colours of the pages, as `#2b5bd7`. */
export interface BrandFile {
  /** Of links and buttons, on white and under white. */
  readonly accent: string;
  /** The same on a dark page; default: `accent`. */
  readonly accentOnDark?: string;
}

/** `catalogue/service.yaml`. */
export interface RefundsFile {
  /** What is owed and cannot be delivered is given back by itself. */
  readonly automatic?: boolean;
  /** Payers may ask for what is owed at `/v1/refunds`. */
  readonly endpoint?: boolean;
}

/** How long things are kept: days (`30d`), or `forever`. See `settings/keep.ts` for what is meant where one is left out. */
export interface KeepFile {
  readonly answers?: string;
  readonly payments?: string;
  readonly media?: string;
}

export interface ServiceFile {
  readonly name: string;
  readonly description: string;
  /** In indexes of x402 endpoints; see `endpoints/listing.ts` for what is meant where one of the three is left out. */
  readonly shortName?: string;
  /** URL of a picture. */
  readonly icon?: string;
  readonly keywords?: readonly string[];
  readonly license?: { readonly name: string; readonly url: string };
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string };
  readonly security?: SecurityFile;
  readonly brand?: BrandFile;
  readonly tags: readonly string[];
  /** Text for agents, used in `/llms.txt` and other discovery documents. */
  readonly instructions: string;
  /** Of npm, with the client of these sources. */
  readonly clientPackage?: string;
  readonly ownershipProofs?: readonly string[];
  /** Where an endpoint can be paid that names no networks. */
  readonly defaultNetwork: NetworkId;
  /** Rail -> its options, as its `serviceOptions` have them. */
  readonly rails?: { readonly [rail: string]: { readonly [option: string]: unknown } };
  /** Dollars: what one call may cost at most. */
  readonly highestPrice?: string;
  readonly exposure?: ExposureFile;
  readonly limits?: LimitsFile;
  readonly alerts?: AlertsFile;
  /** Default: `manual`. */
  readonly refunds?: 'manual' | 'automatic' | RefundsFile;
  readonly keep?: KeepFile;
  /** Default: `plain`. */
  readonly receipts?: 'plain' | 'signed';
  readonly mcp?: {
    /** Host names of pages, besides the gateway's own, that may speak to `/mcp` in a browser; `*`: all. */
    readonly origins?: readonly string[];
  };
  /** Rails whose operations are listed in `/openapi.json` as well, beside their own document. */
  readonly openapi?: { readonly [rail: string]: boolean };
}

/** A model together with its neutral name. */
export interface Model extends ModelFile {
  readonly name: string;
}

export interface Upstream extends UpstreamFile {
  readonly name: string;
}

export interface Network extends NetworkFile {
  readonly id: NetworkId;
  /** Milliseconds, or undefined: as long as the challenge asks. */
  readonly authorizationLastsMs: number | undefined;
}

/** What is sold with a call: its upstream is asked for exactly this. */
export interface SoldTerms {
  /** The most output tokens of a language model. */
  readonly maxOutputTokens: number;
  /** The tier that the caller chose, where the price has tiers of output. */
  readonly tier?: string;
}

/** One compiled price. */
export interface Price {
  readonly min: Money;
  readonly max: Money;
  /** What an empty request is quoted at. */
  readonly listed: Money;
  /** True where every valid request costs the same. */
  readonly fixed: boolean;
  /** Pure and deterministic: same input, same price. Input must be valid. */
  quote(input: Input): Money;
  /** What the quote of the same input pays for; left out where a price says nothing of output tokens. */
  terms?(input: Input): SoldTerms;
  /** Usage-priced calls: the actual cost, never above the quote of the same input. */
  actual?(input: Input, result: unknown): Money;
}

/** Something sold: an endpoint at one path on one rail. */
export interface Route {
  /** `endpoint.id` for the base route, the path without its leading slash for all others. */
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly kind: 'base' | 'mirror' | 'operation';
  /** The name of the rail. */
  readonly rail: string;
  /** The first is the one that listings name. */
  readonly methods: readonly ('GET' | 'POST')[];
  readonly path: string;
  /** Where it can be paid; empty for an operation, whose rail is paid in ways of its own. */
  readonly networks: readonly NetworkId[];
  /** Networks that take less than `request` does: a request that does not fit is not offered there. */
  readonly requestOn: ReadonlyMap<NetworkId, JsonSchema>;
  readonly price: Price;
  /** What `price` was made from; checked. */
  readonly priceOptions: PriceOptions;
  /** What listings say: the price of an empty request, and the lowest one where the price is dynamic. */
  readonly listing: { readonly price: Money; readonly minPrice: Money | undefined };
  /** What a call may take where its request says nothing else. */
  readonly deadlineMs: number;
  /** What it may take by the value of a field: see `deadlineOf`. */
  readonly deadlineBy?: { readonly field: string; readonly ms: ReadonlyMap<string, number> } | undefined;
  readonly bodyLimitBytes: number;
  /** Closed (`additionalProperties: false`), without `$ref`. */
  readonly request: JsonSchema;
  /** What the adapter must answer, without the envelope. */
  readonly result: JsonSchema;
  readonly envelope: Envelope | undefined;
  readonly example: Input;
  /** An answer as the caller sees it, envelope included. */
  readonly resultExample: unknown;
  /** In order: the next is asked when one fails. */
  readonly upstreams: readonly UpstreamOptions[];
  /** True where the answer is passed on while it comes: such payments settle first. */
  readonly streams?: boolean;
  readonly operation: OperationOptions | undefined;
}

/** What indexes of x402 endpoints are told besides. */
export interface EndpointListing {
  readonly serviceName: string | undefined;
  /** At most five. */
  readonly tags: readonly string[];
  /** URL of a picture; undefined: the gateway's own. */
  readonly icon: string | undefined;
}

export interface Endpoint {
  /** The file's place below `catalogue/endpoints/`, without `.yaml`: `image/family-e-2`. */
  readonly id: string;
  readonly group: string;
  readonly file: string;
  readonly summary: string;
  readonly description: string;
  readonly listing: EndpointListing;
  /** See EndpointFile.secret, and `holdsSecret`. */
  readonly secret: NonNullable<EndpointFile['secret']>;
  /** See EndpointFile.free. */
  readonly free: boolean;
  /** Milliseconds since the epoch; infinite where no end is set. */
  readonly soldUntil: number;
  readonly routes: readonly Route[];
}

export interface Catalogue {
  /** The same for the same files. */
  readonly version: string;
  readonly service: ServiceFile;
  readonly networks: ReadonlyMap<NetworkId, Network>;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly endpoints: readonly Endpoint[];
  readonly routes: readonly Route[];
}
