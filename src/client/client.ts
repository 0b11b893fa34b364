/** Calls what a gateway sells, and pays for it within limits. */
import { AmountProblem, type Money, toDecimal, usd } from '../money.ts';
import { CHANNELS_PATH } from '../paths.ts';
import { queryOf } from '../query-of.ts';
import type { Again, Answer, Failure } from './answer.ts';
import { type Asset, assetsOn } from './asset.ts';
import { type Deposit, type Deposits, openDeposits } from './deposits.ts';
import { type Drawable, draw, noRoom } from './draw.ts';
import { type DepositStore, inMemory } from './kept-channels.ts';
import { type LimitReached, openSpending } from './limits.ts';
import { mppOffers, mppTransaction } from './mpp.ts';
import type { Offer } from './offers.ts';
import { readProblem } from './problem.ts';
import { isElsewhere, notDone, notSigned, openPurchase, reasonOf, redirected, resultOf } from './purchase.ts';
import { askAllBack, type GivenBack } from './refund.ts';
import { openRefused } from './refused.ts';
import {
  type Challenge,
  type EvmSigner,
  openWallet,
  readEvmKey,
  readSolanaKey,
  type SolanaSigner,
  type Wallet,
} from './wallet.ts';
import { x402Challenge, x402Offers, x402Transaction } from './x402.ts';

/** What is sold, by path: what `turnpike client` writes. */
export type AnyPaths<Paths> = { [Path in keyof Paths]: { readonly request: object; readonly result: unknown } };

/** What the client has to know of a gateway besides its types: what `turnpike client` writes. */
export interface Gateway {
  /** Origin of the gateway. */
  readonly url: string;
  /** What may be signed for, and nothing else. */
  readonly assets: readonly Asset[];
  /** Paths that take GET with a query; all others take POST. */
  readonly get?: readonly string[];
}

export interface Pay {
  /** Pays on EVM networks: a private key (0x and 64 hex digits), or what signs typed data for an address. */
  readonly evm?: string | EvmSigner;
  /** Pays on Solana: a key pair of 64 bytes in base58, or a signer of @solana/kit's. */
  readonly solana?: string | SolanaSigner;
  /** Where Solana payments are prepared; default: the network's public address. */
  readonly solanaRpcUrl?: string;
  /** The only network that is paid on: its neutral or CAIP-2 id. Default: whichever is offered first and can be signed. */
  readonly network?: string;
  /**
   * The most dollars that may lie in deposits, as a decimal string: x402 calls are drawn from a deposit where that is offered.
   * Left out: nothing is ever deposited.
   */
  readonly deposit?: string;
  /** Where the deposits' channels are kept for the next run of the program. Default: in memory, where they end with it. */
  readonly depositStore?: DepositStore;
  /** The only protocol that is paid by. Default: the one that a path is sold by. */
  readonly protocol?: 'x402' | 'mpp';
}

export interface ClientOptions extends Gateway {
  readonly pay?: Pay;
  /** Dollars, as decimal strings. Default: 1 for a call, and 10 for all calls of this client together. */
  readonly limit?: { readonly perCall?: string; readonly total?: string };
  /** How often a payment whose answer was lost is sent again. Default: 6. */
  readonly retries?: number;
  /** In place of the global one. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** The most that this call may cost, in dollars, in place of the client's `perCall`. */
  readonly limit?: string;
  /** Ends the waiting. What was signed by then is `owed`, and can be had with its `again()`. */
  readonly signal?: AbortSignal;
}

export interface Quote {
  readonly ok: true;
  /** Dollars, as a decimal string. */
  readonly price: string;
  /** Neutral id of the network where this client would pay. */
  readonly network: string;
}

export interface Client<Paths extends AnyPaths<Paths>> {
  /**
   * Asks for the price, pays it where the limits allow, and answers the result. Whatever goes wrong between here and there is
   * in the answer. Throws TypeError for a limit that is no amount.
   */
  call<Path extends keyof Paths & string>(
    path: Path,
    request: Paths[Path]['request'],
    options?: CallOptions,
  ): Promise<Answer<Paths[Path]['result']>>;
  /** What the call would cost. Nothing is signed. `signal` ends the waiting. */
  quote<Path extends keyof Paths & string>(
    path: Path,
    request: Paths[Path]['request'],
    options?: { readonly signal?: AbortSignal },
  ): Promise<Quote | Failure<Paths[Path]['result']>>;
  /** Dollars signed for so far, and left of the total. */
  readonly spending: { readonly spent: string; readonly left: string };
  /** What lies in deposits of this client, by its own count. Throws where what is kept of them cannot be read. */
  deposits(): Promise<Deposit[]>;
  /**
   * Asks the gateway for what is left of every deposit, after the calls that are under way. Throws where what is kept of them
   * cannot be read.
   */
  refund(options?: { readonly signal?: AbortSignal }): Promise<GivenBack[]>;
}

const PER_CALL = '1';
const TOTAL = '10';
const RETRIES = 6;

/** Throws TypeError that names the option. */
function dollars(option: string, text: string): Money {
  try {
    return usd(text);
  } catch (error) {
    if (error instanceof AmountProblem) throw new TypeError(`${option}: ${error.message}; it takes ${error.expected}`);
    throw error;
  }
}

/** Throws TypeError; no key is in a message. */
function originOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^https?:$/.test(parsed.protocol)) return parsed.origin;
  throw new TypeError(`url is the gateway's origin, such as https://shop.example: got ${url}`);
}

/** Throws TypeError; the key is in no message. */
function evmSigner(given: string | EvmSigner): EvmSigner {
  const signer = typeof given === 'string' ? readEvmKey(given) : given;
  if (signer) return signer;
  throw new TypeError('pay.evm is not a private key: give 0x and 64 hex digits, or an account');
}

/** The same for the other key. */
async function solanaSigner(given: string | SolanaSigner): Promise<SolanaSigner> {
  const signer = typeof given === 'string' ? await readSolanaKey(given) : given;
  if (signer) return signer;
  throw new TypeError('pay.solana is not a key pair: give its 64 bytes in base58, or a signer');
}

/** Those that are paid in. Throws TypeError. */
function payableOf({ network }: Pay, assets: readonly Asset[]): readonly Asset[] {
  const found = assetsOn(network, assets);
  if (network === undefined || found.length > 0) return found;
  throw new TypeError(
    `pay.network is one of ${[...new Set(assets.map(({ id }) => id))].sort().join(', ')}: got ${network}`,
  );
}

/** Throws TypeError. */
function depositsOf(
  { deposit, depositStore }: Pay,
  accounts: ReadonlyMap<string, EvmSigner>,
  assets: readonly Asset[],
  payable: readonly Asset[],
): Deposits | undefined {
  if (deposit === undefined) return undefined;
  if (accounts.size === 0) throw new TypeError('pay.deposit needs pay.evm, and an asset on an EVM network');
  const most = dollars('pay.deposit', deposit);
  return openDeposits({ most, assets, payable, accounts, store: depositStore ?? inMemory() });
}

/** One way to pay a call. */
interface Payable {
  readonly offer: Offer;
  sign(): Promise<Record<string, string>>;
  transactionOf(answer: Response): string | undefined;
}

interface Buying {
  /** The most that the call may cost. */
  readonly most: Money;
  /** Sends the call's request with the headers of a payment. */
  post(payment: Record<string, string>, signal: AbortSignal | undefined): Promise<Response>;
  readonly signal: AbortSignal | undefined;
}

/** The requests of one call: always the same bytes, for a payment is bound to them. */
function requestTo({ url, get = [] }: Gateway, path: string, input: object) {
  const target = originOf(url) + path;
  if (!get.includes(path)) {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    return { target, init: { method: 'POST', headers, body: JSON.stringify(input) } };
  }
  const query = queryOf(input);
  const headers: Record<string, string> = {};
  return { target: `${target}${query === '' ? '' : `?${query}`}`, init: { method: 'GET', headers } };
}

/**
 * A client of one gateway; `Paths` are the types that `turnpike client` writes. Throws TypeError for an option that is not
 * what it should be.
 */
export function createClient<Paths extends AnyPaths<Paths>>(options: ClientOptions): Client<Paths> {
  const { assets, pay = {}, limit = {}, retries = RETRIES } = options;
  const fetching = options.fetch ?? ((...given: Parameters<typeof fetch>) => globalThis.fetch(...given));
  originOf(options.url);
  const limits = {
    perCall: dollars('limit.perCall', limit.perCall ?? PER_CALL),
    total: dollars('limit.total', limit.total ?? TOTAL),
  };
  const spending = openSpending(limits);
  const refused = openRefused();
  const account = pay.evm === undefined ? undefined : evmSigner(pay.evm);
  const evm = new Map(
    account && assets.filter(({ family }) => family === 'evm').map(({ id }) => [id, account] as const),
  );
  const payable = payableOf(pay, assets).map((asset) => ({
    ...asset,
    rpcUrl: (asset.family === 'solana' && pay.solanaRpcUrl) || asset.rpcUrl,
  }));
  const deposits = depositsOf(pay, evm, assets, payable);
  // A key pair is only ready after a while.
  const opening = (async () => {
    const solana = pay.solana === undefined ? undefined : await solanaSigner(pay.solana);
    const signers = { evm, solana };
    return { signers, wallet: openWallet(payable, signers) };
  })();
  opening.catch(() => {});

  function send(target: string, init: RequestInit, signal: AbortSignal | undefined): Promise<Response> {
    return fetching(target, { ...init, redirect: 'manual', ...(signal && { signal }) });
  }

  function waysToPay(unpaid: Response, challenge: Challenge, { signers, wallet }: Awaited<typeof opening>): Payable[] {
    const overX402 = x402Offers(challenge, wallet).map((each) => ({ ...each, transactionOf: x402Transaction }));
    const overMpp = mppOffers(unpaid, payable, signers).map((each) => ({ ...each, transactionOf: mppTransaction }));
    const ways = [...(pay.protocol === 'mpp' ? [] : overX402), ...(pay.protocol === 'x402' ? [] : overMpp)];
    return ways.sort((one, other) => refused.compare(one.offer, other.offer));
  }

  type Asked =
    | { readonly kind: 'free'; readonly answer: Response }
    /** There is one of either at least. */
    | { readonly kind: 'price'; readonly ways: readonly Payable[]; readonly drawable: Drawable }
    | { readonly kind: 'failure'; readonly failure: Failure<never> };

  /** The call without a payment. */
  async function ask(request: ReturnType<typeof requestTo>, signal: AbortSignal | undefined): Promise<Asked> {
    const opened = await opening;
    const unsigned = { paid: undefined, isCounted: false };
    const failure = (answer: Answer<never>): Asked => ({ kind: 'failure', failure: answer as Failure<never> });
    let answer: Response;
    try {
      answer = await send(request.target, request.init, signal);
    } catch (error) {
      const message = `${originOf(options.url)} cannot be reached (${reasonOf(error)}): nothing was signed`;
      const said = { status: 0, code: 'no_answer', message, details: [], requestId: undefined };
      return failure({ ok: false, reason: 'failed', ...said, ...unsigned });
    }
    if (isElsewhere(answer)) return failure(redirected(answer, unsigned));
    if (answer.ok) return { kind: 'free', answer };
    const challenge = x402Challenge(answer);
    const ways = waysToPay(answer, challenge, opened);
    const drawable = { challenge, offers: pay.protocol === 'mpp' ? [] : (deposits?.offers(challenge) ?? []) };
    const { isInvalid, retryAfter: _, ...said } = await readProblem(answer);
    const { status } = said;
    if (isInvalid || [400, 404, 405, 413, 415].includes(status)) {
      const message = isInvalid ? 'The request does not fit the endpoint: details name each field' : said.message;
      return failure({ ok: false, reason: 'invalid', ...said, message, code: said.code ?? 'invalid_request' });
    }
    if (status !== 402) return failure(notDone({ ...said, isInvalid, retryAfter: undefined }, unsigned));
    if (ways.length > 0 || drawable.offers.length > 0) return { kind: 'price', ways, drawable };
    const message = `${said.message} ${payableInWords(opened.wallet)}`;
    return failure({ ok: false, reason: 'unpaid', ...said, code: 'payment_required', message });
  }

  /** Why nothing that is asked for can be paid. */
  function payableInWords({ addresses }: Wallet): string {
    if (addresses.size === 0) return 'This client has no wallet: give it one as `pay`.';
    const protocol = pay.protocol === undefined ? '' : ` over ${pay.protocol}`;
    return `It is offered in no way that this client pays${protocol}: known dollar stablecoins on ${[...addresses.keys()].join(', ')}. Nothing was signed.`;
  }

  /** `own`: the limit that the call took in place of the client's. */
  const overLimit = (reached: LimitReached, own: string | undefined): Failure<never> => {
    const { kind, price, limit: most, spent } = reached;
    const [whose, higher] = own === undefined ? ['one', `{ perCall: "${price}" }`] : ['this', `"${price}"`];
    const message =
      kind === 'perCall'
        ? `This call costs ${price} USD, and the limit for ${whose} call is ${most} USD: raise it with limit: ${higher}. Nothing was signed.`
        : `This call costs ${price} USD, and ${spent} of the total of ${most} USD is spent: raise it with limit: { total: "..." }. Nothing was signed.`;
    const said = { status: 402, code: 'limit_reached', message, details: [], requestId: undefined };
    return { ok: false, reason: 'limit', limit: reached, ...said };
  };

  async function call<Result>(
    path: string,
    input: object,
    { limit: own, signal }: CallOptions,
  ): Promise<Answer<Result>> {
    const most = own === undefined ? limits.perCall : dollars('limit', own);
    const request = requestTo(options, path, input);
    const asked = await ask(request, signal);
    if (asked.kind === 'failure') return asked.failure;
    if (asked.kind === 'free')
      return await given<Result>(asked.answer, (more) => call(path, input, { ...more, limit: '0' }));
    const { ways, drawable } = asked;
    const post = (payment: Record<string, string>, waiting: AbortSignal | undefined) => {
      const { target, init } = request;
      return send(target, { ...init, headers: { ...init.headers, ...payment } }, waiting);
    };
    const drawing = { ...drawable, hasOther: ways.length > 0, spending, most, post, retries, signal };
    const drawn = deposits && (await draw<Result>({ ...drawing, deposits }));
    if (drawn) return drawn;
    const bought = await buy<Result>(ways, { most, post, signal });
    if (bought) return bought;
    const offer = ways[0]?.offer ?? drawable.offers[0];
    const reached = offer && spending.reached(offer.price, most);
    return reached ? overLimit(reached, own) : noRoom(drawable, pay.deposit);
  }

  /** Pays by the first way that the limits allow, or with another key where it cannot be signed. Undefined: they allow none. */
  async function buy<Result>(ways: readonly Payable[], buying: Buying): Promise<Answer<Result> | undefined> {
    const { most, post, signal } = buying;
    const chosen = ways.find(({ offer }) => !spending.reached(offer.price, most));
    if (!chosen) return undefined;
    const { price, asset } = chosen.offer;
    spending.count(price);
    let payment: Record<string, string>;
    try {
      signal?.throwIfAborted();
      payment = await chosen.sign();
    } catch (error) {
      spending.unsigned(price);
      const others = ways.filter(({ offer }) => offer.asset.family !== asset.family);
      return (!signal?.aborted && (await buy<Result>(others, buying))) || notSigned(error);
    }
    const giveBack = () => spending.uncharged(price);
    const parts = { ...chosen, send: (waiting: AbortSignal | undefined) => post(payment, waiting), giveBack, retries };
    const answer = await openPurchase<Result>(parts).complete(signal);
    if (answer.ok) refused.remove(chosen.offer);
    if (answer.ok || answer.reason !== 'refused' || answer.status !== 402 || answer.isCounted) return answer;
    refused.add(chosen.offer);
    const next = ways.find(({ offer }) => !refused.has(offer) && !spending.reached(offer.price, most));
    if (!next) return answer;
    return { ...answer, message: `${answer.message}. Call again: the next call is paid on ${next.offer.asset.id}` };
  }

  /** A result that costs nothing. */
  async function given<Result>(answer: Response, again: Again<Result>): Promise<Answer<Result>> {
    const { status } = answer;
    try {
      const result = await resultOf(answer, again);
      return { ok: true, status, result, receipt: undefined, paid: undefined };
    } catch (error) {
      const message = `what was answered cannot be read as JSON (${reasonOf(error)})`;
      const said = { status, code: 'unreadable_answer', message, details: [], requestId: undefined };
      return { ok: false, reason: 'failed', ...said, paid: undefined, isCounted: false };
    }
  }

  return {
    call: (path, request, callOptions = {}) => call(path, request, callOptions),
    async quote(path, request, { signal } = {}) {
      const asked = await ask(requestTo(options, path, request), signal);
      if (asked.kind === 'failure') return asked.failure;
      if (asked.kind === 'free') {
        // Nobody reads it, and a stream may have no end.
        await asked.answer.body?.cancel().catch(() => {});
        return { ok: true, price: '0', network: '' };
      }
      const offer = asked.drawable.offers[0] ?? asked.ways[0]?.offer;
      return { ok: true, price: toDecimal(offer?.price ?? 0n), network: offer?.asset.id ?? '' };
    },
    get spending() {
      const { spent } = spending;
      return { spent: toDecimal(spent), left: toDecimal(spent > limits.total ? 0n : limits.total - spent) };
    },
    deposits: async () => (await deposits?.list()) ?? [],
    async refund({ signal } = {}) {
      if (!deposits) return [];
      const target = originOf(options.url) + CHANNELS_PATH;
      return await askAllBack(deposits, (headers) => send(target, { headers }, signal), signal);
    },
  };
}
