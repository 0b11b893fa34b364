/** The price range that a query says in so many words: `under 100 dollars`, `between $20 and $50`. */

interface PriceRange {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

const NUMBER = String.raw`(\d{1,9}(?:,\d{3})*(?:\.\d{1,2})?)`;
const CURRENCY = String.raw`(?:[$€£]|\b(?:dollars?|usd|bucks|euros?|eur|pounds?|gbp)\b)`;
/** A number is a price only with its currency: a monitor under 27 inches is none. */
const MONEY = String.raw`(?:[$€£]\s?${NUMBER}|${NUMBER}\s?${CURRENCY})`;

const MOST = `(?:under|below|up to|at most|(?:less|cheaper|no more|not more) than|max(?:imum)?(?: of)?)`;
const LEAST = String.raw`(?:over|above|at least|from|starting at|(?<!\b(?:no|not) )more than|min(?:imum)?(?: of)?)`;

const AT_MOST = new RegExp(String.raw`\b${MOST}\s+${MONEY}`, 'i');
const AT_LEAST = new RegExp(String.raw`\b${LEAST}\s+${MONEY}`, 'i');
const BETWEEN = new RegExp(
  String.raw`\b(?:between|from)\s+[$€£]?\s?${NUMBER}\s?${CURRENCY}?\s?(?:and|to|-)\s+${MONEY}`,
  'i',
);

const amountsIn = (pattern: RegExp, query: string): number[] =>
  (pattern.exec(query)?.slice(1) ?? []).flatMap((text) => (text === undefined ? [] : Number(text.replaceAll(',', ''))));

export function priceRangeIn(query: string): PriceRange {
  const [from, to] = amountsIn(BETWEEN, query);
  if (from !== undefined && to !== undefined) return { min: from, max: to };
  const [max] = amountsIn(AT_MOST, query);
  const [min] = amountsIn(AT_LEAST, query);
  return { min, max };
}
