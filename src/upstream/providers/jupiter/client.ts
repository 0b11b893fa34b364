/**
 * Jupiter's price v3 and tokens v2, with a key or, at half a call a second, without.
 * Source: github jup-ag/docs, openapi-spec/price/v3 and tokens/v2; what prices tell of stocks as their consumers read it.
 */
import { asJsonObject, isJsonObject } from '../../../json.ts';
import type { Binding, CallContext } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';

/** Per mint. Prices are for one unit as wallets show it, after any multiplier. */
export interface JupiterPrice {
  readonly usdPrice: number;
  readonly liquidity?: number;
  /** Percent. */
  readonly priceChange24h?: number;
  /** The share that a tokenized stock stands for. */
  readonly stockData?: { readonly price?: number; readonly mcap?: number; readonly updatedAt?: string };
  /** Token-2022 scaled amounts; the new multiplier holds from its date on. */
  readonly scaledUiConfig?: {
    readonly multiplier?: number;
    readonly newMultiplier?: number;
    readonly newMultiplierEffectiveAt?: string;
  };
}

export interface JupiterTokenStats {
  readonly priceChange?: number;
  readonly [field: string]: unknown;
}

export interface JupiterToken {
  /** Mint address. */
  readonly id: string;
  readonly name: string;
  readonly symbol: string;
  readonly icon?: string;
  readonly twitter?: string;
  readonly website?: string;
  readonly launchpad?: string;
  readonly mcap?: number;
  readonly usdPrice?: number;
  readonly liquidity?: number;
  readonly holderCount?: number;
  readonly stats5m?: JupiterTokenStats;
  readonly stats1h?: JupiterTokenStats;
  readonly stats6h?: JupiterTokenStats;
  readonly stats24h?: JupiterTokenStats;
  readonly isVerified?: boolean;
  readonly tags?: readonly string[];
  readonly [field: string]: unknown;
}

export type JupiterRanking = 'toporganicscore' | 'toptraded' | 'toptrending';

export type JupiterBinding = Pick<Binding, 'upstream' | 'http'>;
type JupiterContext = Pick<CallContext, 'signal'>;

const MOST_MINTS = 50;

/** Prices by mint; what has no price is left out. Asks in chunks of 50, at the same time. */
export async function prices(
  binding: JupiterBinding,
  mints: readonly string[],
  context: JupiterContext,
): Promise<Map<string, JupiterPrice>> {
  const chunks: string[][] = [];
  for (let start = 0; start < mints.length; start += MOST_MINTS) chunks.push(mints.slice(start, start + MOST_MINTS));
  const answers = await Promise.all(
    chunks.map((chunk) => get(binding, '/price/v3', { ids: chunk.join(',') }, context)),
  );
  const found = new Map<string, JupiterPrice>();
  for (const answer of answers) {
    if (!isJsonObject(answer)) {
      throw new UpstreamProblem('malformed', binding.upstream, 'answered no map of prices');
    }
    for (const [mint, price] of Object.entries(answer)) if (isPrice(price)) found.set(mint, price);
  }
  return found;
}

const isPrice = (price: unknown): price is JupiterPrice => Number.isFinite(asJsonObject(price).usdPrice);

/** Tokens by name, symbol or mint address, best first. Throws UpstreamProblem: `invalid-input` for words it refuses. */
export const searchTokens = (
  binding: JupiterBinding,
  query: string,
  context: JupiterContext,
): Promise<JupiterToken[]> => tokens(binding, '/tokens/v2/search', { query }, context, [400]);

/** `interval` is `5m`, `1h`, `6h` or `24h`, `limit` at most 100. */
export const topTokens = (
  binding: JupiterBinding,
  ranking: JupiterRanking,
  interval: string,
  limit: number,
  context: JupiterContext,
): Promise<JupiterToken[]> =>
  tokens(binding, `/tokens/v2/${ranking}/${encodeURIComponent(interval)}`, { limit }, context);

/** All tokens with a tag: `verified` or `lst`. */
export const taggedTokens = (binding: JupiterBinding, tag: string, context: JupiterContext): Promise<JupiterToken[]> =>
  tokens(binding, '/tokens/v2/tag', { query: tag }, context);

async function tokens(
  binding: JupiterBinding,
  path: string,
  query: Record<string, string | number>,
  context: JupiterContext,
  refusals?: readonly number[],
): Promise<JupiterToken[]> {
  const answer = await get(binding, path, query, context, refusals);
  if (!Array.isArray(answer) || !answer.every(isToken)) {
    throw new UpstreamProblem('malformed', binding.upstream, `${path} answered no list of tokens`);
  }
  return answer;
}

function isToken(token: unknown): token is JupiterToken {
  const { id, name, symbol } = asJsonObject(token);
  return typeof id === 'string' && typeof name === 'string' && typeof symbol === 'string';
}

/** `refusals`: the statuses by which it finds fault with what the caller asks for. */
async function get(
  { upstream, http }: JupiterBinding,
  path: string,
  query: Record<string, string | number>,
  { signal }: JupiterContext,
  refusals: readonly number[] = [],
): Promise<unknown> {
  const response = await http.request({ method: 'GET', path, query, signal, accept: refusals });
  const { status } = response;
  if (status < 400) return known(response.json());
  throw new UpstreamProblem('invalid-input', upstream, `${path} answered ${status}`, {
    status,
    publicMessage: 'The provider does not search for these words',
    providerMessage: response.body.toString('utf8', 0, 300),
  });
}

/** Without what is null: what Jupiter does not know it leaves out, or says so. */
function known(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(known);
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(fields.map(([name, inner]) => [name, known(inner)]));
}
