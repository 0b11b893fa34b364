/** Single reads of OKX's market API, for the adapter and for recipes. Each throws UpstreamProblem. */
import { UpstreamProblem } from '../../problem.ts';
import { askOkx, type OkxBinding, type OkxContext, type OkxRow, okxAddress, recordOf, rowsOf } from './client.ts';

export interface OkxToken {
  /** OKX's number of the chain. */
  chainIndex: string;
  address: string;
}

const market = '/api/v6/dex/market';
const inQuery = ({ chainIndex, address }: OkxToken) => ({ chainIndex, tokenContractAddress: okxAddress(address) });

/** Prices, market caps, and changes in percent over 5 minutes, 1, 4 and 24 hours; unknown tokens are left out. */
export const priceInfo = async (
  tokens: readonly OkxToken[],
  binding: OkxBinding,
  context: OkxContext,
): Promise<OkxRow[]> =>
  rowsOf(await askOkx(binding, { path: `${market}/price-info`, json: tokens.map(inQuery) }, context), binding);

/** Names, symbols, decimals and logos; unknown tokens are left out. */
export const basicInfo = async (
  tokens: readonly OkxToken[],
  binding: OkxBinding,
  context: OkxContext,
): Promise<OkxRow[]> =>
  rowsOf(await askOkx(binding, { path: `${market}/token/basic-info`, json: tokens.map(inQuery) }, context), binding);

/** Risk level (0 to 5), tags, and what is known of the token's creator. */
export const advancedInfo = async (
  token: OkxToken,
  binding: OkxBinding,
  context: OkxContext,
): Promise<OkxRow | undefined> =>
  recordOf(await askOkx(binding, { path: `${market}/token/advanced-info`, query: inQuery(token) }, context));

/** Of a list of what wallets hold or do, no more than asked, nor than OKX tells. */
const byWallets =
  (path: string, most: number) =>
  async (
    token: OkxToken,
    { tagFilter, limit }: { tagFilter?: string | undefined; limit: number },
    binding: OkxBinding,
    context: OkxContext,
  ): Promise<OkxRow[]> => {
    const query = { ...inQuery(token), tagFilter, limit: Math.min(limit, most) };
    return rowsOf(await askOkx(binding, { path: market + path, query }, context), binding).slice(0, query.limit);
  };

/** The largest holders, the largest first. `tagFilter` is OKX's number of a sort of wallet, 1 to 9. */
export const holders = byWallets('/token/holder', 100);

/** The latest trades on exchanges on chain, the latest first. */
export const trades = byWallets('/trades', 500);

interface Candle {
  /** Start, in milliseconds since the epoch. */
  time: number;
  open: number;
  high: number;
  low: number;
  close: number;
  /** In tokens, and in dollars. */
  volume: number;
  volumeUsd: number;
  /** False while the candle is still being drawn. */
  confirmed: boolean;
}

const MOST_CANDLES = 299;

/** Candles, the latest first. `bar` is `1s` to `1W`. */
export async function candles(
  token: OkxToken,
  { bar, limit }: { bar: string; limit: number },
  binding: OkxBinding,
  context: OkxContext,
): Promise<Candle[]> {
  const query = { ...inQuery(token), bar, limit: Math.min(limit, MOST_CANDLES) };
  const rows: unknown[] = rowsOf(await askOkx(binding, { path: `${market}/candles`, query }, context), binding);
  return rows.map((row) => {
    const values = Array.isArray(row) ? row.map(Number) : [];
    const [time, open, high, low, close, volume, volumeUsd, confirm] = values;
    if (values.length < 7 || values.slice(0, 7).some((value) => !Number.isFinite(value))) {
      throw new UpstreamProblem(
        'malformed',
        binding.upstream,
        `answered a candle that is none: ${JSON.stringify(row)?.slice(0, 100)}`,
      );
    }
    return { time, open, high, low, close, volume, volumeUsd, confirmed: confirm === 1 } as Candle;
  });
}

/** What OKX's security scan says; undefined where it knows nothing of the token. */
export async function tokenScan(
  token: OkxToken,
  binding: OkxBinding,
  context: OkxContext,
): Promise<OkxRow | undefined> {
  const tokenList = [{ chainId: token.chainIndex, contractAddress: okxAddress(token.address) }];
  return recordOf(
    await askOkx(binding, { path: '/api/v6/security/token-scan', json: { source: 'api', tokenList } }, context),
  );
}

/** How far the token is held by wallets that belong together. */
export const clusterOverview = async (
  token: OkxToken,
  binding: OkxBinding,
  context: OkxContext,
): Promise<OkxRow | undefined> =>
  recordOf(await askOkx(binding, { path: `${market}/token/cluster/overview`, query: inQuery(token) }, context));

/** OKX's number for the largest hundred holders. */
const TOP_100 = '3';

export const clusterTopHolders = async (
  token: OkxToken,
  binding: OkxBinding,
  context: OkxContext,
): Promise<OkxRow | undefined> =>
  recordOf(
    await askOkx(
      binding,
      { path: `${market}/token/cluster/top-holders`, query: { ...inQuery(token), rangeFilter: TOP_100 } },
      context,
    ),
  );

export interface TokenArticle {
  title: string;
  summary: string;
  url: string | null;
  /** Milliseconds since the epoch. */
  time: number | null;
}

/** The latest news on a symbol, the latest first; none is no failure. */
export async function newsOf(
  symbol: string,
  limit: number,
  binding: OkxBinding,
  context: OkxContext,
): Promise<TokenArticle[]> {
  const query = { tokenSymbols: symbol, sortBy: '1', limit };
  const data = await askOkx(binding, { path: `${market}/social/news/by-symbol`, query }, context);
  return rowsOf(data, binding, 'articles').flatMap(({ title, summary, sourceUrl, timestamp }) => {
    if (typeof title !== 'string' || title === '') return [];
    return [
      {
        title,
        summary: typeof summary === 'string' ? summary : '',
        url: typeof sourceUrl === 'string' ? sourceUrl : null,
        time: typeof timestamp === 'number' ? timestamp : null,
      },
    ];
  });
}

/** What people say of a symbol in the last day: counts of mentions and ratios of opinions. Undefined: nothing. */
export async function sentimentOf(
  symbol: string,
  binding: OkxBinding,
  context: OkxContext,
): Promise<OkxRow | undefined> {
  const query = { tokenSymbols: symbol, timeFrame: '3' };
  const data = await askOkx(binding, { path: `${market}/social/sentiment/symbol`, query }, context);
  return rowsOf(data, binding, 'details')[0];
}
