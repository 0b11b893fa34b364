/** Shops write prices with a sign that several countries share. */

const currencies: Readonly<Record<string, string>> = {
  us: 'USD',
  ca: 'CAD',
  au: 'AUD',
  nz: 'NZD',
  sg: 'SGD',
  hk: 'HKD',
  mx: 'MXN',
  br: 'BRL',
  gb: 'GBP',
  uk: 'GBP',
  in: 'INR',
  jp: 'JPY',
  cn: 'CNY',
  kr: 'KRW',
  ch: 'CHF',
  se: 'SEK',
  no: 'NOK',
  dk: 'DKK',
  pl: 'PLN',
  cz: 'CZK',
  tr: 'TRY',
  ae: 'AED',
  sa: 'SAR',
  eg: 'EGP',
  my: 'MYR',
  ph: 'PHP',
  th: 'THB',
  id: 'IDR',
  vn: 'VND',
  tw: 'TWD',
  za: 'ZAR',
  at: 'EUR',
  be: 'EUR',
  de: 'EUR',
  es: 'EUR',
  fi: 'EUR',
  fr: 'EUR',
  gr: 'EUR',
  ie: 'EUR',
  it: 'EUR',
  nl: 'EUR',
  pt: 'EUR',
};

/** Signs that one currency has; the longer ones first. */
const signs: readonly (readonly [string, string])[] = [
  ['R$', 'BRL'],
  ['HK$', 'HKD'],
  ['NT$', 'TWD'],
  ['MX$', 'MXN'],
  ['US$', 'USD'],
  ['AU$', 'AUD'],
  ['CA$', 'CAD'],
  ['C$', 'CAD'],
  ['A$', 'AUD'],
  ['S$', 'SGD'],
  ['€', 'EUR'],
  ['£', 'GBP'],
  ['₹', 'INR'],
  ['₩', 'KRW'],
  ['₺', 'TRY'],
  ['₫', 'VND'],
  ['฿', 'THB'],
  ['₱', 'PHP'],
  ['zł', 'PLN'],
];

const codes: ReadonlySet<string> = new Set(Object.values(currencies));
const dollars: ReadonlySet<string> = new Set(['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'MXN', 'TWD']);

/** The currency of a price as a shop in a country (two lower-case letters) writes it; null where nothing tells. */
export function currencyOf(written: unknown, country: string): string | null {
  const local = currencies[country] ?? null;
  if (typeof written !== 'string') return local;
  const compact = written.replaceAll(/\s+/g, '');
  const code = /[A-Z]{3}/.exec(compact)?.[0];
  if (code !== undefined && codes.has(code)) return code;
  const sign = signs.find(([mark]) => compact.includes(mark));
  if (sign) return sign[1];
  if (compact.includes('$')) return local !== null && dollars.has(local) ? local : 'USD';
  if (compact.includes('¥')) return local === 'CNY' ? 'CNY' : 'JPY';
  return local;
}
