/** What there is to know of named tokens, one way for each value of `action`. */
import type { Input } from '../../../catalogue/types.ts';
import { optionally } from '../../optionally.ts';
import { UpstreamProblem } from '../../problem.ts';
import { chainIndexOf, type OkxBinding, type OkxContext, type OkxRow, okxAddress } from './client.ts';
import {
  advancedInfo,
  basicInfo,
  candles,
  clusterOverview,
  clusterTopHolders,
  holders,
  type OkxToken,
  priceInfo,
  tokenScan,
  trades,
} from './token.ts';

/** OKX's number for whales, the traders that are asked for unless the request says otherwise. */
const WHALES = '4';

/** `missing` are the addresses of an overview that OKX knows nothing of. */
interface TokenAnalysis {
  data: unknown;
  missing?: string[];
}

/** Throws UpstreamProblem, `not-found` where OKX knows none of the tokens. */
export async function analyse(
  input: Input,
  chain: string,
  binding: OkxBinding,
  context: OkxContext,
): Promise<TokenAnalysis> {
  const chainIndex = chainIndexOf(binding, chain);
  const address = String(input.tokenAddress);
  const token: OkxToken = { chainIndex, address };
  const tagFilter = input.tagFilter === undefined ? undefined : String(input.tagFilter);
  const limit = Number(input.limit ?? 50);
  /** OKX answers nothing both for a token that it does not know and for one where nothing happened. */
  const known = async <Found>(found: Found, isEmpty: boolean): Promise<Found> => {
    if (isEmpty && (await basicInfo([token], binding, context)).length === 0) throw unknownToken(binding, [address]);
    return found;
  };

  const action = String(input.action);
  switch (action) {
    case 'token_overview': {
      const named = Array.isArray(input.tokenAddresses) ? input.tokenAddresses.map(String) : [];
      const given = typeof input.tokenAddress === 'string' ? [input.tokenAddress, ...named] : named;
      return await overview([...new Set(given)], chainIndex, binding, context);
    }
    case 'holder_analysis': {
      const { rows, largest } = await holdersAndLargest(token, { tagFilter, limit }, binding, context);
      const percents = largest.map(({ holdPercent }) => Number(holdPercent ?? 0));
      const top10HoldPercent = Math.round(percents.reduce((sum, percent) => sum + percent, 0) * 1e6) / 1e6;
      const data = { tokenAddress: address, top10HoldPercent, holders: rows };
      return { data: await known(data, rows.length === 0 && largest.length === 0) };
    }
    case 'candlesticks': {
      const bar = String(input.bar ?? '1H');
      const found = await candles(token, { bar, limit }, binding, context);
      return { data: await known({ tokenAddress: address, bar, candles: found }, found.length === 0) };
    }
    case 'whale_trades': {
      const rows = await trades(token, { tagFilter: tagFilter ?? WHALES, limit }, binding, context);
      return { data: await known({ tokenAddress: address, trades: rows }, rows.length === 0) };
    }
    case 'token_risk': {
      const [scan, advanced] = await Promise.all([
        tokenScan(token, binding, context),
        optionally(context, advancedInfo(token, binding, context)),
      ]);
      const data = { tokenAddress: address, scan: scan ?? null, advanced: advanced ?? null };
      return { data: await known(data, scan === undefined && advanced === undefined) };
    }
    case 'cluster_check': {
      const [found, topHolders] = await Promise.all([
        clusterOverview(token, binding, context),
        clusterTopHolders(token, binding, context),
      ]);
      const data = { tokenAddress: address, overview: found ?? null, topHolders: topHolders ?? null };
      return { data: await known(data, found === undefined && topHolders === undefined) };
    }
    default:
      throw new UpstreamProblem('invalid-input', binding.upstream, `no action ${action}`, {
        publicMessage: `There is no action ${action}`,
      });
  }
}

/** The holders that are asked for, and the ten largest of all, which a filter leaves out. */
async function holdersAndLargest(
  token: OkxToken,
  { tagFilter, limit }: { tagFilter: string | undefined; limit: number },
  binding: OkxBinding,
  context: OkxContext,
): Promise<{ rows: OkxRow[]; largest: OkxRow[] }> {
  if (tagFilter === undefined) {
    const all = await holders(token, { limit: Math.max(limit, 10) }, binding, context);
    return { rows: all.slice(0, limit), largest: all.slice(0, 10) };
  }
  const [rows, largest] = await Promise.all([
    holders(token, { tagFilter, limit }, binding, context),
    holders(token, { limit: 10 }, binding, context),
  ]);
  return { rows, largest };
}

/** Prices and names, merged by address; the risk figures of a single token only, as OKX gives them one by one. */
async function overview(
  addresses: readonly string[],
  chainIndex: string,
  binding: OkxBinding,
  context: OkxContext,
): Promise<TokenAnalysis> {
  const tokens = addresses.map((address) => ({ chainIndex, address }));
  const [single] = tokens;
  const isSingle = single !== undefined && tokens.length === 1;
  const [prices, names, advanced] = await Promise.all([
    priceInfo(tokens, binding, context),
    basicInfo(tokens, binding, context),
    isSingle ? optionally(context, advancedInfo(single, binding, context)) : null,
  ]);
  const found = addresses.flatMap((address) => {
    const [price, name] = [rowOf(prices, address), rowOf(names, address)];
    if (price === undefined && name === undefined) return [];
    return [{ ...name, ...price, tokenContractAddress: address, ...(isSingle && { advanced: advanced ?? null }) }];
  });
  if (found.length === 0) throw unknownToken(binding, addresses);
  const missing = addresses.filter(
    (address) => !found.some(({ tokenContractAddress }) => tokenContractAddress === address),
  );
  return { data: found, ...(missing.length > 0 && { missing }) };
}

const rowOf = (rows: readonly OkxRow[], address: string): OkxRow | undefined =>
  rows.find(({ tokenContractAddress }) => tokenContractAddress === okxAddress(address));

function unknownToken({ upstream }: OkxBinding, addresses: readonly string[]): UpstreamProblem {
  const publicMessage =
    addresses.length === 1
      ? `There is no token ${addresses[0]} on this chain`
      : 'None of these tokens is on this chain';
  return new UpstreamProblem('not-found', upstream, `knows no token ${addresses.join(', ').slice(0, 200)}`, {
    publicMessage,
  });
}
