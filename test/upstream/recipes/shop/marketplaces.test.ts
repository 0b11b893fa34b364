import t from 'tap';
import { currencyOf } from '../../../../src/upstream/recipes/shop/currency.ts';
import { combine } from '../../../../src/upstream/recipes/shop/intent.ts';
import { marketplaces, type ShopQuery } from '../../../../src/upstream/recipes/shop/marketplaces.ts';

const query: ShopQuery = {
  keywords: 'lantern',
  priceMin: 10,
  priceMax: 50,
  condition: undefined,
  sort: 'relevance',
  country: 'us',
};

t.test('asks each marketplace in its own words', async (t) => {
  const used = { ...query, condition: 'used', sort: 'price_asc', country: 'de' } as const;
  t.match(marketplaces.google_shopping.query(used), {
    q: 'lantern used',
    gl: 'de',
    min_price: 10,
    max_price: 50,
    sort_by: '1',
  });
  t.match(marketplaces.ebay.query(used), {
    _nkw: 'lantern',
    ebay_domain: 'ebay.de',
    _udlo: 10,
    _udhi: 50,
    _sop: '2',
    LH_ItemCondition: '3000',
  });
  t.match(marketplaces.amazon.query({ ...query, sort: 'newest' }), {
    k: 'lantern',
    amazon_domain: 'amazon.com',
    s: 'date-desc-rank',
  });
});

t.test('a country without its own site is shipped to from the American one, in dollars', async (t) => {
  t.match(marketplaces.amazon.query({ ...query, country: 'no' }), {
    amazon_domain: 'amazon.com',
    shipping_location: 'NO',
  });
  const answer = { organic_results: [{ title: 'Lantern', extracted_price: 5, price: '$5.00' }] };
  t.equal(marketplaces.amazon.products(answer, 'no')[0]?.currency, 'USD');
  t.equal(marketplaces.amazon.products(answer, 'ca')[0]?.currency, 'CAD');
});

t.test('reads what Google Shopping lists', async (t) => {
  const row = {
    title: 'Lantern',
    product_link: 'https://google.example/1',
    source: 'Pier Supply',
    price: '$30.00',
    extracted_price: 30,
    old_price: '$40.00',
    extracted_old_price: 40,
    second_hand_condition: 'used',
    rating: 4.5,
    reviews: 12,
    thumbnail: 'https://img.example/1',
    delivery: 'Free delivery',
  };
  t.same(marketplaces.google_shopping.products({ shopping_results: [row, { price: '$1' }] }, 'us'), [
    {
      marketplace: 'google_shopping',
      title: 'Lantern',
      url: 'https://google.example/1',
      image: 'https://img.example/1',
      price: 30,
      currency: 'USD',
      discount: 25,
      rating: 4.5,
      reviews_count: 12,
      seller: 'Pier Supply',
      condition: 'used',
      shipping: 'Free delivery',
      also_available_at: [],
    },
  ]);
});

t.test('reads what eBay lists, a range by its lower end', async (t) => {
  const [single, range] = marketplaces.ebay.products(
    {
      organic_results: [
        {
          title: 'Lantern',
          link: 'https://ebay.example/1',
          price: { raw: '£12.50', extracted: 12.5 },
          condition: 'Pre-Owned',
          shipping: { raw: '+£3.00 delivery', extracted: 3 },
          seller: { username: 'keeper77' },
        },
        {
          title: 'Lantern',
          price: { from: { raw: '£8.00', extracted: 8 }, to: { raw: '£20.00', extracted: 20 } },
          shipping: 'Free delivery',
        },
      ],
    },
    'gb',
  );
  t.match(single, { price: 12.5, currency: 'GBP', condition: 'used', shipping: '+£3.00 delivery', seller: 'keeper77' });
  t.match(range, { price: 8, currency: 'GBP', condition: null, shipping: 'Free delivery', seller: null });
});

t.test('reads what Amazon lists, also without a price', async (t) => {
  const row = { title: 'Lantern', link: 'https://amazon.example/1', delivery: ['FREE delivery', 'Tomorrow'] };
  t.match(marketplaces.amazon.products({ organic_results: [row] }, 'us'), [
    { price: null, currency: null, discount: null, seller: null, shipping: 'FREE delivery, Tomorrow' },
  ]);
});

t.test('knows the currency that a price is written in', async (t) => {
  const cases: [string | undefined, string, string | null][] = [
    ['$5.00', 'us', 'USD'],
    ['$5.00', 'au', 'AUD'],
    ['$5.00', 'de', 'USD'],
    ['C $5.00', 'us', 'CAD'],
    ['AU $5.00', 'us', 'AUD'],
    ['5,00 €', 'us', 'EUR'],
    ['£5.00', 'us', 'GBP'],
    ['R$ 5,00', 'us', 'BRL'],
    ['EUR 5,00', 'us', 'EUR'],
    ['¥500', 'us', 'JPY'],
    ['¥500', 'cn', 'CNY'],
    ['500 kr', 'se', 'SEK'],
    [undefined, 'gb', 'GBP'],
    ['5', 'zz', null],
  ];
  for (const [written, country, currency] of cases)
    t.equal(currencyOf(written, country), currency, `${written} ${country}`);
});

t.test('fields of the request count before what was read out of the query', async (t) => {
  const inferred = {
    keywords: 'lantern',
    price_min: 10,
    price_max: 100,
    condition: 'used',
    sort: 'price_asc',
  } as const;
  t.same(combine({ query: 'a used lantern' }, inferred), inferred);
  const explicit = {
    query: 'a used lantern',
    price_max: 50,
    condition: 'new',
    sort: 'rating',
  } as const;
  t.same(combine(explicit, inferred), {
    keywords: 'lantern',
    price_min: 10,
    price_max: 50,
    condition: 'new',
    sort: 'rating',
  });
});

t.test('without a reading, or with an impossible one, the words of the query are searched', async (t) => {
  const everything = { sort: 'relevance', condition: null };
  t.match(combine({ query: 'lantern' }), { keywords: 'lantern', price_min: null, price_max: null, ...everything });
  t.match(combine({ query: 'lantern' }, { price_min: 90, price_max: 10 }), { price_min: null, price_max: null });
  t.match(combine({ query: 'lantern', price_max: 10 }, { price_min: 90 }), { price_min: null, price_max: 10 });
  t.match(combine({ query: 'lantern' }, { keywords: '  ' }), { keywords: 'lantern', ...everything });
});
