/**
 * The public registry of xStocks: which tokenized stocks there are, and where. Needs no key.
 * Source: `GET /assets?page=` of api.xstocks.fi/api/v2/public as its consumers read it; pages count from 0.
 */
import { asJsonObject } from '../../../json.ts';
import type { Binding, CallContext } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';

export interface TokenizedStock {
  /** With its `x`: `TSLAx`. */
  readonly symbol: string;
  readonly name: string;
  readonly mint: string;
}

const NETWORK = 'Solana';
/** Far beyond the eleven there are: keeps a registry that never ends from being read for ever. */
const MOST_PAGES = 50;

export type XstocksBinding = Pick<Binding, 'upstream' | 'http'>;

/** Every tokenized stock with an address on Solana, in the registry's order. Throws UpstreamProblem. */
export async function tokenizedStocks(
  { upstream, http }: XstocksBinding,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<TokenizedStock[]> {
  const found: TokenizedStock[] = [];
  let next: number | undefined = 0;
  for (let pages = 0; next !== undefined && pages < MOST_PAGES; pages += 1) {
    const query: Record<string, string | number> = { network: NETWORK, page: next };
    const answer = (await http.request({ method: 'GET', path: '/assets', query, signal })).json();
    const { nodes, page } = asJsonObject(answer);
    if (!Array.isArray(nodes)) throw new UpstreamProblem('malformed', upstream, 'answered no list of assets');
    found.push(...nodes.flatMap(stockOf));
    const { hasNextPage, currentPage } = asJsonObject(page);
    next = hasNextPage === true ? (typeof currentPage === 'number' ? currentPage : next) + 1 : undefined;
  }
  return found;
}

function stockOf(node: unknown): TokenizedStock[] {
  const { symbol, name, deployments } = asJsonObject(node);
  if (typeof symbol !== 'string' || !Array.isArray(deployments)) return [];
  const deployment = deployments.find((place) => place?.network === NETWORK && typeof place.address === 'string');
  if (deployment === undefined) return [];
  return [{ symbol, name: typeof name === 'string' ? name : symbol, mint: deployment.address }];
}
