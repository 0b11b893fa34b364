/** A stock as a token: on the chain of the xStocks, or as another chain's stock token. */
import type { JsonSchema, NetworkId } from '../../catalogue/types.ts';
import type { CallContext } from '../adapter.ts';
import type { OptionalParts } from '../optionally.ts';
import { type StockPremiums, stockPremiums } from './stock-premiums.ts';

/** A chain with stock tokens of its own, whose payers get its variant of the answer. It has no public source of prices. */
export interface StockChain {
  readonly network: NetworkId;
  /** CAIP-2, as answers name the chain. */
  readonly id: string;
  readonly tradingHours: string;
  /** Tickers that are offered there. */
  readonly symbols: readonly string[];
}

export const stockChainSchema: JsonSchema = {
  description: 'A chain with stock tokens of its own; who pays on it gets its variant of the answer',
  type: 'object',
  required: ['network', 'id', 'tradingHours', 'symbols'],
  additionalProperties: false,
  properties: {
    network: { type: 'string', description: 'Its name in networks.yaml' },
    id: { type: 'string', description: 'Its CAIP-2 id' },
    tradingHours: { type: 'string', description: 'When it trades there, in words for the caller' },
    symbols: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'Tickers that are offered there',
    },
  },
};

/** Prices in dollars, null where the token has none at the moment. */
type XstockReference = {
  xstock_symbol: string;
  solana_mint: string;
  onchain_price: number | null;
  premium_discount_pct: number | null;
  liquidity: number | null;
};

export type TokenizedBlock =
  | (XstockReference & { robinhood_available: boolean })
  | { robinhood_symbol: string | null; chain: string; trading_hours: string; xstock_reference: XstockReference | null };

export interface Venue {
  /** The share's ticker, in capitals. */
  ticker: string;
  /** `xstock`, or the network of the stock chain. */
  variant: string;
  /** Null where the stock is no token there, or the source of tokens fails. */
  tokenized: TokenizedBlock | null;
}

/** What the paying chain offers of a stock. Where the source of tokens fails, `parts` learns that `tokenized` is missing. */
export async function stockVenue(
  asked: string,
  bindings: Parameters<typeof stockPremiums>[0],
  stockChain: StockChain | undefined,
  context: CallContext,
  parts: OptionalParts,
): Promise<Venue> {
  const premiums = await parts.take('tokenized', stockPremiums(bindings, context));
  const ticker = shareOf(asked, premiums);
  const reference = premiums && referenceOf(ticker, premiums);
  const isOffered = stockChain?.symbols.includes(ticker) === true;
  if (stockChain === undefined || stockChain.network !== context.network) {
    const tokenized = reference ? { ...reference, robinhood_available: isOffered } : null;
    return { ticker, variant: 'xstock', tokenized };
  }
  const { network, id, tradingHours } = stockChain;
  const tokenized = {
    robinhood_symbol: isOffered ? ticker : null,
    chain: id,
    trading_hours: tradingHours,
    xstock_reference: reference ?? null,
  };
  return { ticker, variant: network, tokenized: isOffered || reference ? tokenized : null };
}

/** `AAPLx` and `aaplx` are AAPL where the registry lists AAPLx; when it cannot be read, a small x after capitals is one. */
function shareOf(asked: string, premiums: StockPremiums | undefined): string {
  const name = asked.trim();
  const listed = premiums && [...premiums.priced, ...premiums.unpriced];
  const isToken = listed
    ? listed.some(({ xstock_symbol: symbol }) => symbol.toLowerCase() === name.toLowerCase())
    : /^[A-Z.]+x$/.test(name);
  return (isToken ? name.slice(0, -1) : name).toUpperCase();
}

function referenceOf(ticker: string, { priced, unpriced }: StockPremiums): XstockReference | undefined {
  const row = priced.find((stock) => stock.ticker === ticker);
  if (row) {
    const { xstock_symbol, solana_mint, onchain_price, premium_discount_pct, onchain_liquidity_usd: liquidity } = row;
    return { xstock_symbol, solana_mint, onchain_price, premium_discount_pct, liquidity };
  }
  const names = unpriced.find((stock) => stock.ticker === ticker);
  if (names === undefined) return undefined;
  const { xstock_symbol, solana_mint } = names;
  return { xstock_symbol, solana_mint, onchain_price: null, premium_discount_pct: null, liquidity: null };
}
