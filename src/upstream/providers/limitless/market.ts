/** One market of Limitless Exchange in this service's words. */
import { asJsonObject, textOrNull } from '../../../json.ts';

export interface Market {
  id: number;
  slug: string;
  title: string;
  category: string | null;
  /** ISO 8601, or null where there is none. */
  deadline: string | null;
  /** From 0 to 1: what a share that pays 1 costs. */
  yes_price: number | null;
  no_price: number | null;
  /** In units of the collateral token. */
  volume: number | null;
  /** In the collateral token's smallest unit. */
  volume_raw: string | null;
  liquidity: number | null;
  collateral_token: string | null;
  trade_type: 'clob' | 'amm';
  description: string | null;
}

/** What can be bought of a market: its outcomes that are not over where it is a group, each with the group's title; else itself. */
export function tradable(market: unknown): unknown[] {
  const { markets, title, collateralToken, categories } = asJsonObject(market);
  if (!Array.isArray(markets) || markets.length === 0) return [market];
  const open = markets.filter(isOpen);
  // Of one that is over altogether the names are still told.
  return (open.length > 0 ? open : markets).map((outcome) => ({
    collateralToken,
    ...asJsonObject(outcome),
    categories: asJsonObject(outcome).categories ?? categories,
    groupTitle: title,
  }));
}

/** Undefined where the id, slug or title is missing. */
export function readMarket(market: unknown): Market | undefined {
  const { id, slug, groupTitle, categories, expirationTimestamp, volume, tradeType, description, ...rest } =
    asJsonObject(market);
  const title = textOrNull(rest.proxyTitle) ?? textOrNull(rest.title);
  if (typeof id !== 'number' || typeof slug !== 'string' || title === null) return undefined;
  const [yes, no] = pricesOf(rest.prices);
  const deadline = new Date(typeof expirationTimestamp === 'number' ? expirationTimestamp : Number.NaN);
  return {
    id,
    slug,
    title: typeof groupTitle === 'string' ? `${groupTitle}: ${title}` : title,
    category: Array.isArray(categories) ? textOrNull(categories[0]) : null,
    deadline: Number.isNaN(deadline.getTime()) ? null : deadline.toISOString(),
    yes_price: yes,
    no_price: no,
    volume: numberOf(rest.volumeFormatted),
    volume_raw: typeof volume === 'string' ? volume : null,
    liquidity: numberOf(rest.liquidityFormatted),
    collateral_token: textOrNull(asJsonObject(rest.collateralToken).symbol),
    trade_type: tradeType === 'amm' ? 'amm' : 'clob',
    description: textOrNull(description),
  };
}

/** Neither resolved nor past its end. */
export function isOpen(market: unknown): boolean {
  const { expired, status, winningOutcomeIndex } = asJsonObject(market);
  return expired !== true && status !== 'RESOLVED' && typeof winningOutcomeIndex !== 'number';
}

/** Order books quote from 0 to 1, and pools not at all. A price above 1 can only be percent. */
function pricesOf(prices: unknown): [number | null, number | null] {
  if (!Array.isArray(prices)) return [null, null];
  const given = prices.slice(0, 2).map((price) => (price === null ? Number.NaN : Number(price)));
  const [yes, no] = given;
  if (yes === undefined || !given.every((price) => price >= 0 && price <= 100)) return [null, null];
  const scale = Math.max(...given) > 1 ? 100 : 1;
  return [round(yes / scale), round(no === undefined ? 1 - yes / scale : no / scale)];
}

/** Takes the noise of binary fractions away. */
const round = (price: number): number => Math.round(price * 1e6) / 1e6;

function numberOf(formatted: unknown): number | null {
  if (formatted === undefined || formatted === null || formatted === '') return null;
  const value = Number(String(formatted).replaceAll(',', ''));
  return Number.isFinite(value) ? value : null;
}
