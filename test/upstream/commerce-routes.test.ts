import t from 'tap';
import { toDecimal } from '../../src/money.ts';
import { problemOf } from './providers/contract.ts';
import { openServed } from './served-routes.ts';

const groups = ['shop', 'tiktok', 'prediction-market'];
const accounts = ['/ai/x-news', '/ai/x-persona'];

t.test(
  'every route of commerce, prediction markets and accounts answers its example as its schema promises',
  async (t) => {
    const { catalogue, ask } = await openServed(t);
    const routes = catalogue.routes.filter(({ endpoint, path }) => {
      return groups.includes(endpoint.group) || accounts.some((account) => path.endsWith(account));
    });
    t.equal(routes.length, 2 + 2 + 3 * 3 + 2 * 2);
    for (const { path, example } of routes) t.equal(typeof (await ask(path, example)), 'object', path);
  },
);

t.test('is payable where it is providerMessage to be', async (t) => {
  const { routeAt } = await openServed(t);
  for (const path of ['/shop/search', '/shop/lens']) t.equal(routeAt(path).networks.length, 5, path);
  for (const path of ['/tiktok/search', '/tiktok/product']) t.equal(routeAt(path).networks.length, 3, path);
  for (const name of ['market-list', 'market-intel', 'alpha-feed']) {
    const path = `/ai/prediction-market/venue-a/${name}`;
    t.same(routeAt(`/chain-c-main${path}`).networks, ['chain-c']);
    t.same(routeAt(`/chain-e${path}`).networks, ['chain-e']);
  }
  for (const path of accounts) t.same(routeAt(`/chain-c-main${path}`).networks, ['chain-c']);
});

t.test('a search costs what the marketplaces that it searches cost', async (t) => {
  const { routeAt } = await openServed(t);
  const { price } = routeAt('/shop/search');
  const quote = (fields: object) => toDecimal(price.quote({ query: 'lantern', country: 'us', limit: 20, ...fields }));
  t.equal(quote({}), '0.02');
  t.equal(quote({ marketplaces: ['ebay'] }), '0.0067');
  t.equal(quote({ marketplaces: ['ebay', 'amazon'] }), '0.0134');
  t.equal(quote({ condition: 'used' }), '0.0134', 'amazon is skipped');
  t.equal(quote({ condition: 'refurbished', marketplaces: ['ebay', 'amazon'] }), '0.0067');
  t.equal(quote({ condition: 'open_box' }), '0.02');
  const lens = routeAt('/shop/lens').price;
  t.equal(toDecimal(lens.listed), '0.02');
  t.equal(toDecimal(lens.quote({ mode: 'shop' })), '0.04');
});

t.test('refuses before it is paid for what can only fail', async (t) => {
  const { ask } = await openServed(t);
  const product = 'https://www.tiktok.com/shop/pdp/lantern/1729587769570529799';
  const refused: [string, object][] = [
    ['/tiktok/product', { url: product, region: 'GB' }],
    ['/tiktok/product', { url: 'https://tiktok.com.evil.example/shop/pdp/x/1' }],
    ['/tiktok/product', { url: 'https://tiktok.com@evil.example/x' }],
    ['/tiktok/product', { url: 'http://www.tiktok.com/shop/pdp/x/1' }],
    ['/tiktok/product', { url: 'https://evil.example/www.tiktok.com/' }],
    ['/tiktok/search', { query: 'lantern', region: 'KR' }],
    ['/tiktok/search', { query: '' }],
    ['/tiktok/search', { query: 'lantern', page: 0 }],
    ['/shop/search', { query: 'lantern', marketplaces: [] }],
    ['/shop/search', { query: 'lantern', marketplaces: ['etsy'] }],
    ['/shop/search', { query: 'lantern', limit: 51 }],
    ['/shop/search', { query: 'lantern', country: 'usa' }],
    ['/shop/search', { query: 'lantern', price_min: -1 }],
    ['/shop/lens', { image_url: 'http://photos.example/x.jpg' }],
    ['/shop/lens', { image_url: 'https://photos.example/x.jpg', sort: 'newest' }],
    [
      '/shop/lens',
      { image_url: 'https://photos.example/x.jpg', mode: 'shop', marketplaces: ['amazon'], condition: 'used' },
    ],
    ['/ai/x-persona', { x_username: '@a_name_that_is_too_long' }],
    ['/ai/x-persona', { x_username: 'two words' }],
    ['/ai/x-news', { x_username: 'keeper', x_persona: '../admin' }],
    ['/ai/prediction-market/venue-a/market-intel', { market_id: '../markets/active' }],
    ['/ai/prediction-market/venue-a/market-list', { limit: 26 }],
    ['/ai/prediction-market/venue-a/alpha-feed', { limit: 21 }],
    ['/ai/prediction-market/venue-a/alpha-feed', { min_confidence: 1.5 }],
  ];
  for (const [path, input] of refused) {
    await t.rejects(ask(path, input), { code: 'invalid_request' }, { at: undefined, name: JSON.stringify(input) });
  }
});

t.test('takes every address that products of the storefront have', async (t) => {
  const { ask } = await openServed(t);
  const addresses = [
    'https://www.tiktok.com/shop/pdp/lantern/1729587769570529799',
    'https://shop.tiktok.com/view/product/1729587769570529799?region=US',
    'https://tiktok.com/view/product/1729587769570529799',
    'https://vt.tiktok.com/ZSabc123/',
    'https://vm.tiktok.com/ZSabc123/',
  ];
  for (const url of addresses) t.match(await ask('/tiktok/product', { url }), { found: true, product: { url } });
});

t.test('a listing that is gone is answered, and an account or market that is not there is not charged', async (t) => {
  const { ask } = await openServed(t);
  t.match(await ask('/tiktok/product', { url: 'https://www.tiktok.com/shop/pdp/gone/1729587769570529799' }), {
    found: false,
    product: null,
  });
  const missing: [string, object][] = [
    ['/ai/x-persona', { x_username: '@nobody_here' }],
    ['/ai/x-news', { x_username: 'private_keeper' }],
    ['/ai/x-news', { x_username: 'keeper', x_persona: 'nobody_here' }],
    ['/ai/prediction-market/venue-a/market-intel', { market_id: 'no-such-market' }],
  ];
  for (const [path, input] of missing)
    t.match(await problemOf(ask(path, input)), { failure: 'not-found', publicMessage: /\w/ });
});
