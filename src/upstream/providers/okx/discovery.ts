/** Ways of finding tokens and traders, one for each value of `action`. */
import type { Input } from '../../../catalogue/types.ts';
import { UpstreamProblem } from '../../problem.ts';
import { askOkx, chainIndexOf, type OkxBinding, type OkxContext, type OkxRow, okxAddress, rowsOf } from './client.ts';

const market = '/api/v6/dex/market';
/** OKX's ranking by trend, and its field numbers for ordering. */
const TRENDING = '4';
const BY_PRICE_CHANGE = '2';
const BY_PROFIT = '1';

/** The rows of one action, at most `limit`. Throws UpstreamProblem. */
export async function discover(
  input: Input,
  chain: string,
  binding: OkxBinding,
  context: OkxContext,
): Promise<OkxRow[]> {
  const chainIndex = chainIndexOf(binding, chain);
  const limit = Number(input.limit ?? 20);
  const timeFrame = String(input.timeFrame ?? '4');
  const sortBy = input.sortBy === undefined ? undefined : String(input.sortBy);
  const hotTokens = (rankBy?: string) => ({
    path: `${market}/token/hot-token`,
    query: { rankingType: TRENDING, chainIndex, rankBy, rankingTimeFrame: timeFrame, limit },
  });
  const ask = async (request: Parameters<typeof askOkx>[1]): Promise<OkxRow[]> =>
    rowsOf(await askOkx(binding, request, context), binding).slice(0, limit);

  const action = String(input.action);
  switch (action) {
    case 'hot_tokens':
      return await ask(hotTokens(sortBy));
    case 'top_movers':
      return await ask(hotTokens(sortBy ?? BY_PRICE_CHANGE));
    case 'search':
      return await ask({
        path: `${market}/token/search`,
        query: { chains: chainIndex, search: okxAddress(String(input.keyword)), limit },
      });
    case 'smart_money': {
      const { walletType = '1' } = input;
      const tokenAddress = typeof input.tokenAddress === 'string' ? okxAddress(input.tokenAddress) : undefined;
      // In bodies OKX wants numbers as strings, too.
      const json = { chainIndex, walletType, tokenAddress, limit: String(limit) };
      return await ask({ path: `${market}/signal/list`, json });
    }
    case 'top_traders': {
      const query = { chainIndex, timeFrame, sortBy: sortBy ?? BY_PROFIT };
      return await ask({ path: `${market}/leaderboard/list`, query });
    }
    default:
      throw new UpstreamProblem('invalid-input', binding.upstream, `no action ${action}`, {
        publicMessage: `There is no action ${action}`,
      });
  }
}
