import t from 'tap';
import type { Result } from '../../../generated/endpoints/token/news.ts';
import { imageSize } from '../../../src/upstream/media/facts.ts';
import { problemOf } from '../providers/contract.ts';
import { failingAt, openServed } from '../served-routes.ts';

const BONK = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263';

t.test('drafts news on a token that is named by address, symbol or name', async (t) => {
  const { ask, stored } = await openServed(t);
  for (const token of [BONK, 'bonk', 'Bonk']) {
    const { trending_news: news, ...named } = await ask<Result>('/token/news', { token });
    t.match(named, { success: true, mint: BONK, token: 'Bonk', ticker: 'BONK' });
    t.ok(news.title.split(' ').length <= 4);
    t.ok(news.tweet_draft.length <= 280);
    const size = imageSize(await stored(news.banner_url));
    t.ok(Math.abs(Number(size?.width) / Number(size?.height) - 16 / 9) < 0.01, JSON.stringify(size));
  }
});

t.test('names the articles that it rests on, and does without any', async (t) => {
  const { ask } = await openServed(t);
  t.match(await ask('/token/news', { token: 'BONK' }), { sources: [{ title: /^BONK/, url: /^https/ }, {}, {}] });
  const unread = await openServed(t, { standIn: failingAt('okx', /./) });
  t.match(await unread.ask('/token/news', { token: 'BONK' }), { success: true, sources: [] });
});

t.test('news is about the token of that address: that on a namesake is left out', async (t) => {
  const NAMESAKE = 'CzLSujWBLFsSjncfkh59rUFqvafWcY5tzedWJSuypump';
  const bonk = { id: BONK, name: 'Bonk', symbol: 'BONK', usdPrice: 1, liquidity: 9e6, isVerified: true };
  const namesake = { ...bonk, id: NAMESAKE, liquidity: 10, isVerified: false };
  const standIn = { upstream: 'jupiter', answer: () => ({ status: 200, json: [namesake, bonk] }) };
  const { ask, doubles } = await openServed(t, { standIn });
  t.match(await ask('/token/news', { token: BONK }), { mint: BONK, sources: [{}, {}, {}] });
  t.match(await ask('/token/news', { token: NAMESAKE }), { mint: NAMESAKE, sources: [] });
  const before = doubles.calls().okx ?? 0;
  await ask('/token/signal', { ticker: NAMESAKE });
  t.equal((doubles.calls().okx ?? 0) - before, 2, 'a price and candles, but no opinions on the other');
});

t.test('an article that names another address is about that', async (t) => {
  const article = (title: string, summary: string) => ({ title, summary, sourceUrl: `https://news.example/${title}` });
  const articles = [
    article('BONK jumps', 'On Ethereum, at 0x6982508145454ce325ddbe47a25d4ec3d2311933.'),
    article('A listing', `The token ${BONK} is listed.`),
    article('Bonk holds', 'Volume returns.'),
    article('Bonkers prices', 'Housing is dear.'),
  ];
  const { ask } = await openServed(t, {
    standIn: {
      upstream: 'okx',
      answer: (path) =>
        path.includes('/news/') ? { status: 200, json: { code: '0', data: [{ articles }] } } : undefined,
    },
  });
  t.match(await ask('/token/news', { token: 'BONK' }), { sources: [{ title: 'A listing' }, { title: 'Bonk holds' }] });
  const { sources } = await ask<Result>('/token/news', { token: 'BONK' });
  t.equal(sources.length, 2);
});

t.test('fails without words or a banner', async (t) => {
  const { ask, doubles } = await openServed(t);
  doubles.fault('chat', '500', 1);
  t.match(await problemOf(ask('/token/news', { token: 'BONK' })), { failure: 'failed', upstream: 'chat' });
  doubles.fault('predictions', '500', 1);
  t.match(await problemOf(ask('/token/news', { token: 'BONK' })), { failure: 'failed', upstream: 'predictions' });
  doubles.fault('predictions', 'refuse', 1);
  t.match(await problemOf(ask('/token/news', { token: 'BONK' })), { failure: 'content-refused' });
});

t.test('of tokens with one name the verified and most liquid one is meant', async (t) => {
  const named = (id: string, more: object) => ({ id, name: 'Bonk', symbol: 'BONK', usdPrice: 1, ...more });
  const found = [
    named('imposter', { liquidity: 9e9, isVerified: false }),
    named('small', { liquidity: 10, isVerified: true }),
    named('right', { liquidity: 20, isVerified: true }),
    { ...named('other', { liquidity: 9e9, isVerified: true }), symbol: 'BONKER', name: 'Bonker' },
  ];
  const { ask } = await openServed(t, {
    standIn: { upstream: 'jupiter', answer: () => ({ status: 200, json: found }) },
  });
  t.match(await ask('/token/news', { token: 'bonk' }), { mint: 'right' });
  t.match(await ask('/token/news', { token: 'bonker' }), { mint: 'other' });
  t.match(
    await problemOf(ask('/token/news', { token: BONK })),
    { failure: 'not-found' },
    'an address means itself alone',
  );
});
