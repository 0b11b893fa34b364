import t from 'tap';
import type { Product } from '../../../../src/upstream/recipes/shop/product.ts';
import { problemOf } from '../../providers/contract.ts';
import { failingAt, openServed } from '../../served-routes.ts';

interface Answer {
  results: Product[];
  exact_match: boolean;
  identified: string;
  is_product_image: boolean;
  marketplace_comparison?: { marketplace: string; count: number; lowest_price: number | null; error?: string }[];
  related_queries: string[];
}

const photo = { image_url: 'https://photos.example/brass-lantern.jpg' };

t.test('names what a photo shows and where it was found', async (t) => {
  const { ask, doubles } = await openServed(t);
  const answer = await ask<Answer>('/shop/lens', photo);
  t.match(answer.identified, /Brass Lantern/);
  t.ok(answer.results.length > 0 && answer.results.every(({ url }) => url !== null));
  t.same(answer.related_queries, ['brass lantern', 'antique brass lantern'], 'each once');
  t.notOk('marketplace_comparison' in answer);
  t.equal(doubles.calls().shopping, 1, 'no marketplace is searched');
});

t.test('a photo of no product is told so, whatever is sold that looks like it', async (t) => {
  for (const is_product of [true, false]) {
    const content = JSON.stringify({ product: 'lighthouse', is_product });
    const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }];
    const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 };
    const json = { id: 'x', object: 'chat.completion', created: 1, model: 'x', choices, usage };
    const { ask } = await openServed(t, { standIn: { upstream: 'chat', answer: () => ({ status: 200, json }) } });
    t.match(await ask<Answer>('/shop/lens', photo), { identified: 'lighthouse', is_product_image: is_product });
  }
});

t.test('in shop mode compares what the marketplaces ask', async (t) => {
  const { ask, doubles } = await openServed(t);
  const answer = await ask<Answer>('/shop/lens', { ...photo, mode: 'shop', limit: 50 });
  t.equal(doubles.calls().shopping, 4);
  t.same(
    answer.marketplace_comparison?.map(({ marketplace }) => marketplace),
    ['google_shopping', 'amazon', 'ebay'],
  );
  for (const { marketplace, count, lowest_price } of answer.marketplace_comparison ?? []) {
    const prices = answer.results
      .filter((offer) => offer.marketplace === marketplace)
      .flatMap(({ price }) => price ?? []);
    t.equal(lowest_price, Math.min(...prices), marketplace);
    t.ok(count >= prices.length);
  }
});

t.test('in shop mode searches only the marketplaces that are named', async (t) => {
  const { ask } = await openServed(t);
  const answer = await ask<Answer>('/shop/lens', { ...photo, mode: 'shop', marketplaces: ['ebay'] });
  t.same(
    answer.marketplace_comparison?.map(({ marketplace }) => marketplace),
    ['ebay'],
  );
  t.ok(answer.results.length > 0 && answer.results.every(({ marketplace }) => marketplace === 'ebay'));
});

t.test('tells a marketplace that fails, and fails when all do or the image search does', async (t) => {
  const partly = await openServed(t, { standIn: failingAt('shopping', /engine=ebay/) });
  const answer = await partly.ask<Answer>('/shop/lens', { ...photo, mode: 'shop' });
  t.match(answer.marketplace_comparison?.[2], { marketplace: 'ebay', count: 0, lowest_price: null, error: 'failed' });
  const shops = await openServed(t, { standIn: failingAt('shopping', /engine=(?!google_lens)/) });
  t.match(await problemOf(shops.ask('/shop/lens', { ...photo, mode: 'shop' })), { failure: 'failed' });
  await t.resolves(shops.ask('/shop/lens', photo));
  const lens = await openServed(t, { standIn: failingAt('shopping', /engine=google_lens/) });
  t.match(await problemOf(lens.ask('/shop/lens', photo)), { failure: 'failed' });
});

t.test('the first title names the thing when the model fails', async (t) => {
  const { ask, doubles } = await openServed(t);
  doubles.fault('chat', '500', 1);
  const answer = await ask<Answer>('/shop/lens', photo);
  t.equal(answer.identified, answer.results[0]?.title);
});

t.test('keeps to bounds and order', async (t) => {
  const { ask } = await openServed(t);
  const { results } = await ask<Answer>('/shop/lens', { ...photo, price_max: 120, sort: 'price_desc' });
  const prices = results.map(({ price }) => price ?? Number.NaN);
  t.ok(prices.length > 1 && prices.every((price) => price <= 120));
  t.same(
    prices,
    [...prices].sort((one, other) => other - one),
  );
});

t.test('a photo of nothing is answered with nothing, in both modes', async (t) => {
  const { ask } = await openServed(t);
  const nothing = { image_url: 'https://photos.example/nothing.jpg' };
  const empty = {
    results: [],
    identified: '',
    exact_match: false,
    is_product_image: false,
    price_summary: { min: null },
  };
  t.match(await ask('/shop/lens', nothing), empty);
  t.match(await ask('/shop/lens', { ...nothing, mode: 'shop' }), empty);
});

t.test('a page without anything on it is asked for once more, past what is kept of it', async (t) => {
  const lens: string[] = [];
  const { ask } = await openServed(t, {
    standIn: {
      upstream: 'shopping',
      answer: (path) => {
        lens.push(path);
        const found = { visual_matches: [{ title: 'Brass Lantern', link: 'https://lamp-and-rope.example/1' }] };
        // As of a page on which Google asks whether a person is there.
        const empty = { error: "Google Lens hasn't returned any results for this query." };
        const json = { search_metadata: { status: 'Success' }, ...(path.includes('no_cache=true') ? found : empty) };
        return { status: 200, json };
      },
    },
  });
  t.equal((await ask<Answer>('/shop/lens', photo)).results[0]?.title, 'Brass Lantern');
  t.equal(lens.length, 2);
});
