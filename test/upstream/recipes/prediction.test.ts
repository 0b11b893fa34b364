import t from 'tap';
import type { Market } from '../../../src/upstream/providers/limitless/market.ts';
import { type Estimate, opportunities } from '../../../src/upstream/recipes/alpha-feed.ts';
import { recommend } from '../../../src/upstream/recipes/market-intel.ts';
import { bestEdge } from '../../../src/upstream/recipes/prediction/edge.ts';

const market = (slug: string, yes: number | null, no: number | null): Market => ({
  id: 1,
  slug,
  title: `${slug}?`,
  category: null,
  deadline: null,
  yes_price: yes,
  no_price: no,
  volume: null,
  volume_raw: null,
  liquidity: null,
  collateral_token: null,
  trade_type: 'clob',
  description: null,
});

t.test('the edge is what a side is worth more than it costs', async (t) => {
  t.same(bestEdge(0.7, market('a', 0.62, 0.38)), { side: 'YES', bps: 800 });
  t.same(bestEdge(0.5, market('a', 0.62, 0.38)), { side: 'NO', bps: 1200 });
  t.same(bestEdge(0.7, market('a', 0.72, 0.31)), { side: 'NO', bps: -100 }, 'the spread can eat both');
  t.same(bestEdge(0.3333, market('a', 0.33, 0.67)), { side: 'YES', bps: 33 });
  t.equal(bestEdge(0.7, market('a', null, null)), undefined);
});

t.test('recommends what the prices bear out, and passes on everything else', async (t) => {
  const open = market('a', 0.62, 0.38);
  const says = (recommendation: 'YES' | 'NO' | 'PASS', probability: number) =>
    recommend({ recommendation, probability }, open, 200);
  t.equal(says('YES', 0.7), 'YES');
  t.equal(says('YES', 0.64), 'YES', 'exactly at the threshold');
  t.equal(says('YES', 0.639), 'PASS', 'just below it');
  t.equal(says('YES', 0.5), 'PASS', 'the model says one thing and its number another');
  t.equal(says('NO', 0.5), 'NO');
  t.equal(says('PASS', 0.9), 'PASS');
  t.equal(recommend({ recommendation: 'YES', probability: 0.9 }, market('a', null, null), 200), 'PASS');
});

const estimate = (market_id: string, probability: number, confidence = 0.8): Estimate => ({
  market_id,
  probability,
  confidence,
  thesis_short: 'Because.',
});
const markets = [market('a', 0.5, 0.5), market('b', 0.2, 0.8), market('c', 0.9, 0.1), market('d', 0.4, 0.6)];
const anything = { leastEdgeBps: 1, minConfidence: 0 };

t.test('ranks the largest edge first and says which side it is on', async (t) => {
  const found = opportunities([estimate('a', 0.55), estimate('b', 0.4), estimate('c', 0.6)], markets, anything);
  t.same(
    found.map(({ market_id, recommendation, edge_bps }) => [market_id, recommendation, edge_bps]),
    [
      ['c', 'NO', 3000],
      ['b', 'YES', 2000],
      ['a', 'YES', 500],
    ],
  );
});

t.test('leaves out small edges, little confidence, and markets that it was not asked about', async (t) => {
  const estimates = [estimate('a', 0.51), estimate('b', 0.4, 0.3), estimate('x', 0.99), estimate('c', 0.6, 0.5)];
  const wanted = { leastEdgeBps: 200, minConfidence: 0.5 };
  t.same(
    opportunities(estimates, markets, wanted).map(({ market_id }) => market_id),
    ['c'],
  );
  t.same(opportunities([], markets, wanted), []);
});

t.test('tells a market once, by the first estimate, with a short thesis', async (t) => {
  const long = { ...estimate('a', 0.7), thesis_short: 'word '.repeat(60) };
  const found = opportunities([long, estimate('a', 0.9)], markets, anything);
  t.equal(found.length, 1);
  t.equal(found[0]?.edge_bps, 2000);
  t.ok((found[0]?.thesis_short.length ?? 999) <= 140);
});
