/** What a list of offers costs. */

export interface Offer {
  readonly price: number | null;
  /** ISO 4217. */
  readonly currency: string | null;
}

export type PriceSummary = {
  min: number | null;
  max: number | null;
  median: number | null;
  /** What the three are in: the currency that most offers have. */
  currency: string | null;
  /** Offers left out because they have no price, or another currency. */
  left_out: number;
};

/** The currency that most priced offers have; the one that comes first where two have as many. */
export function mainCurrency(offers: readonly Offer[]): string | null {
  const counts = new Map<string | null, number>();
  for (const { price, currency } of offers) {
    if (price !== null) counts.set(currency, (counts.get(currency) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  return [...counts].find(([, count]) => count === most)?.[0] ?? null;
}

/** Over the offers in the main currency; all null where none has a price. The median of an even number is the mean of the middle two. */
export function summarizePrices(offers: readonly Offer[]): PriceSummary {
  const currency = mainCurrency(offers);
  const prices = offers.flatMap((offer) => (offer.price !== null && offer.currency === currency ? [offer.price] : []));
  prices.sort((one, other) => one - other);
  const middle = Math.floor(prices.length / 2);
  const [lower, upper] = [prices[prices.length % 2 === 0 ? middle - 1 : middle], prices[middle]];
  return {
    min: prices[0] ?? null,
    max: prices.at(-1) ?? null,
    median: lower === undefined || upper === undefined ? null : Math.round(((lower + upper) / 2) * 10_000) / 10_000,
    currency,
    left_out: offers.length - prices.length,
  };
}

/** Whole percent below the former price; null where there is none or nothing is taken off. */
export function discountPercent(price: number | null, formerPrice: number | null): number | null {
  if (price === null || formerPrice === null || formerPrice <= 0 || price >= formerPrice) return null;
  return Math.round(((formerPrice - price) / formerPrice) * 100);
}
