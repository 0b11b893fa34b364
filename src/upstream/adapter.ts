import type { AdapterDeclaration, RecipeDeclaration } from '../catalogue/contracts.ts';
import type { Input, Model, NetworkId, SoldTerms } from '../catalogue/types.ts';
import type { Money } from '../money.ts';
import type { Trace } from '../request/trace.ts';
import type { Once } from './bought.ts';
import type { Cache } from './cache.ts';
import type { Downloader } from './http/download.ts';
import type { AskForToken, Authorize, UpstreamHttp, Within } from './http/upstream-http.ts';
import type { MediaStore } from './media/store.ts';

/** What every call gets, whatever serves it. */
export interface CallContext {
  /** The endpoint's id: `image/family-e-2`. */
  readonly endpoint: string;
  /** The network that pays: some answers depend on it. */
  readonly network: NetworkId;
  /** Who pays: turns and what else is scarce are shared between callers. */
  readonly caller: string;
  /** Of the request that is answered. Left out: the work is for none. */
  readonly requestId?: string;
  readonly trace?: Trace | undefined;
  /** Hears of every exchange with a provider. */
  readonly exchanged?: Within['exchanged'];
  /** Aborted at the endpoint's deadline, at shutdown, and when the work was taken over. */
  readonly signal: AbortSignal;
  /** False once nobody else may be asked, for the work may be another instance's by now. Left out: always true. */
  mayGoOn?(): boolean;
  readonly media: MediaStore;
  /** Around whatever is paid for and then stored. */
  readonly once: Once;
  readonly cache: Cache;
  /** For files that a caller names and the gateway itself must read. */
  readonly downloads: Downloader;
  /** Takes what the provider charged us for one exchange, in dollars, where its answer says so. */
  reportCost?(dollars: string): void;
  /** Takes what has come of an answer that streams. Left out: it is wanted whole. */
  readonly emit?: ((text: string) => void) | undefined;
  /** Characters, as JSON Schema counts them, that an answer which streams may have; left out: the result says nothing of it. */
  readonly longest?: number | undefined;
  /** Told how many tokens a model read and wrote for its answer, once that is whole. */
  readonly reportOutput?:
    | ((use: { readonly promptTokens: number; readonly completionTokens: number }) => void)
    | undefined;
  /** Told how many tokens a model read and wrote, where its answer says so; the model's neutral name. */
  readonly reportUse?:
    | ((model: string, use: { readonly promptTokens: number; readonly completionTokens: number }) => void)
    | undefined;
  /** PEM of the certificate that proofs of attested hardware have to lead to: the platform's to say, never the catalogue's. */
  readonly attestationRoot: string;
  /** The payment that buys this call; the same when the call is run again. */
  readonly paymentId: string;
  /** Where prepaid credits are sold. */
  readonly credits: CreditSeller;
  /** What the price sold with this call, as far as the deadline lets it be finished: adapters ask for no more and no less. */
  readonly terms?: SoldTerms | undefined;
  /** Milliseconds since the epoch; tests set it. */
  now(): number;
}

/** Sells prepaid credits. */
export interface CreditSeller {
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

type Fields = Readonly<Record<string, unknown>>;

/** An upstream as one endpoint, or one role of a recipe, uses it. */
export interface Binding<Options = Fields> {
  /** Name in `upstreams.yaml`. */
  readonly upstream: string;
  readonly adapter: string;
  /** The endpoint's `upstream:` keys, `via` and `model` left out. */
  readonly options: Options;
  /** The model that the request asks for where it may, else the endpoint's; undefined where there is none. */
  readonly model: Model | undefined;
  /** Every model of the upstream. */
  readonly models: Readonly<Record<string, Model>>;
  readonly settings: Fields;
  /** Bound to the upstream's address, secrets and limits. */
  readonly http: UpstreamHttp;
}

/** The binding of an adapter that needs a model: the catalogue's loader has seen to it that one is named. */
export interface ModelBinding<Options = Fields> extends Binding<Options> {
  readonly model: Model;
}

/** A provider's wire protocol, e.g. `openai-chat`. Posting, retries, errors and secrets are the HTTP layer's. */
export interface Adapter<Options = Fields, Name extends string = string> extends AdapterDeclaration {
  readonly name: Name;
  /** Left out: the provider needs no key. */
  readonly authorize?: Authorize;
  /** Left out: no call needs a token. */
  readonly tokenRequest?: AskForToken;
  /** Calls the provider once and answers the endpoint's result. Throws UpstreamProblem. */
  call(input: Input, binding: Binding<Options>, context: CallContext): Promise<unknown>;
}

/** An adapter whose every call is to a model. */
export interface ModelAdapter<Options = Fields, Name extends string = string> extends Adapter<Options, Name> {
  readonly model: 'named' | 'named-or-asked';
  call(input: Input, binding: ModelBinding<Options>, context: CallContext): Promise<unknown>;
}

export type RecipeRoles = Readonly<Record<string, readonly Adapter[]>>;

/** The binding of whichever adapter plays a role. The options that a plain endpoint needs may be left out. */
type RoleBinding<Able extends Adapter> = Able extends Adapter
  ? Omit<Parameters<Able['call']>[1], 'adapter' | 'options'> & {
      readonly adapter: Able['name'];
      readonly options: Partial<Parameters<Able['call']>[1]['options']>;
    }
  : never;

export type RoleBindings<Roles extends RecipeRoles> = {
  readonly [Role in keyof Roles]: RoleBinding<Roles[Role][number]>;
};

type JsonTypeOf<Value> = Value extends string
  ? 'string'
  : Value extends number
    ? 'number'
    : Value extends boolean
      ? 'boolean'
      : Value extends readonly string[]
        ? 'string[]'
        : Value extends readonly unknown[]
          ? 'array'
          : 'object';

/** How each field of a recipe's request is read: see Reading. */
type ReadingsOf<Request> = {
  readonly [Field in keyof Request]-?: undefined extends Request[Field]
    ? `${JsonTypeOf<NonNullable<Request[Field]>>}?`
    : JsonTypeOf<Request[Field]>;
};

/** An endpoint made of several calls. */
export interface Recipe<Request = Input, Result = unknown, Options = Fields, Roles extends RecipeRoles = RecipeRoles>
  extends RecipeDeclaration {
  readonly roles: Roles;
  /** Throws UpstreamProblem. `bindings` has every role of `roles`: the catalogue's loader has seen to it. */
  call(input: Request, bindings: RoleBindings<Roles>, context: CallContext, options: Options): Promise<Result>;
}

/** The recipe as it is, with its bindings typed by its roles, and every field of its request among those it reads. */
export const defineRecipe = <Request, Result, Options, const Roles extends RecipeRoles>(
  recipe: Recipe<Request, Result, Options, Roles> & { readonly reads: ReadingsOf<NoInfer<Request>> },
): Recipe<Request, Result, Options, Roles> => recipe;
