import type { AdapterDeclaration, RecipeDeclaration } from '../catalogue/contracts.ts';
import type { Input, Model, NetworkId, SoldTerms } from '../catalogue/types.ts';
import type { Money } from '../money.ts';
import type { Cache } from './cache.ts';
import type { Downloader } from './http/download.ts';
import type { Authorize, UpstreamHttp } from './http/upstream-http.ts';
import type { MediaStore } from './media/store.ts';

/** What every call gets, whatever serves it. */
export interface CallContext {
  /** The endpoint's id: `image/family-e-2`. */
  readonly endpoint: string;
  /** The network that pays: some answers depend on it. */
  readonly network: NetworkId;
  /** Aborted at the endpoint's deadline and at shutdown. */
  readonly signal: AbortSignal;
  readonly media: MediaStore;
  readonly cache: Cache;
  /** For files that a caller names and the gateway itself must read. */
  readonly downloads: Downloader;
  /** Told what the provider charged us, in dollars, where its answer says so. */
  reportCost?(dollars: string): void;
  /** The payment that buys this call; the same when the call is run again. Undefined where nothing is paid for it. */
  readonly paymentId?: string;
  /** Where prepaid credits are sold. */
  readonly credits?: CreditSales;
  /** What the price sold with this call: adapters ask for no more and no less. */
  readonly terms?: SoldTerms | undefined;
  /** Milliseconds since the epoch; tests set it. */
  now(): number;
}

/** Sells prepaid credits. */
export interface CreditSales {
  /**
   * Puts the amount on the key named, else on a new one, once for a payment and only when it has settled. Throws
   * Problem for a key that cannot be used.
   */
  buy(order: { amount: Money; apiKey: string | undefined; paymentId: string }): Promise<{
    /** In clear, where this payment made the key. */
    readonly apiKey: string | undefined;
    /** The first characters of the key. */
    readonly shown: string;
    /** With what was bought. */
    readonly balance: Money;
  }>;
}

/** An upstream as one endpoint uses it. */
export interface Binding<Options = Readonly<Record<string, unknown>>> {
  /** Name in `upstreams.yaml`. */
  readonly upstream: string;
  readonly adapter: string;
  /** The endpoint's `upstream:` keys, `via` and `model` left out. */
  readonly options: Options;
  /** The model named by the endpoint, else undefined. */
  readonly model: Model | undefined;
  /** Every model of the upstream, for endpoints whose caller names the model. */
  readonly models: Readonly<Record<string, Model>>;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Bound to the upstream's address, secrets and limits. */
  readonly http: UpstreamHttp;
}

/** The model that the endpoint names. Its absence is a fault of the catalogue, not of the provider. */
export function modelOf(binding: Pick<Binding, 'upstream' | 'model'>): Model {
  if (binding.model) return binding.model;
  throw new Error(`the endpoint names no model of the upstream ${binding.upstream}: add \`model:\` to its upstream`);
}

/** A provider's wire protocol, e.g. `openai-chat`. Posting, retries, errors and secrets are the HTTP layer's. */
export interface Adapter<Options = Readonly<Record<string, unknown>>> extends AdapterDeclaration {
  /** Left out: the provider needs no key. */
  readonly authorize?: Authorize;
  /** Calls the provider once and answers the endpoint's result. Throws UpstreamProblem. */
  call(input: Input, binding: Binding<Options>, context: CallContext): Promise<unknown>;
}

/** An endpoint made of several calls. */
export interface Recipe<Request = Input, Result = unknown, Options = Readonly<Record<string, unknown>>>
  extends RecipeDeclaration {
  /** Throws UpstreamProblem. `bindings` has every role of `roles`. */
  call(
    input: Request,
    bindings: Readonly<Record<string, Binding>>,
    context: CallContext,
    options: Options,
  ): Promise<Result>;
}
