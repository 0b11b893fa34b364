import t from 'tap';
import type { LaunchpadResult } from '../../../generated/schemas/launchpad-result.ts';
import { dollars } from '../../../src/upstream/recipes/dollars.ts';
import { problemOf } from '../providers/contract.ts';
import { failingAt, openServed } from '../served-routes.ts';

const FARTCOIN = '9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump';

t.test('lists the launchpad’s tokens alone, with their own figures', async (t) => {
  const { ask } = await openServed(t);
  const { trending_tokens: tokens, count, summary } = await ask<LaunchpadResult>('/token/launchpad-trending');
  t.same(
    tokens.map(({ ticker }) => ticker),
    ['FARTCOIN', 'PNUT', 'GOAT'],
  );
  t.equal(count, 3);
  t.ok(summary);
  t.match(tokens[0], {
    ca: FARTCOIN,
    mc: '$742M',
    social: { twitter: null, website: /^https/ },
    '5mpricechange': 1.2,
    '1hpricechange': 4.8,
    '6hpricechange': -3.1,
    '24hpricechange': 11.4,
    icon_description: /\w/,
  });
});

t.test('what Jupiter says is null it does not know: no market capitalisation of $0', async (t) => {
  const unknown = { mcap: null, icon: null, website: null, stats1h: null, stats24h: { priceChange: null } };
  const token = { id: FARTCOIN, name: 'Fartcoin', symbol: 'FARTCOIN', launchpad: 'pump.fun', ...unknown };
  const answer = (path: string) => (path.includes('toptrending') ? { status: 200, json: [token] } : undefined);
  const { ask } = await openServed(t, { standIn: { upstream: 'jupiter', answer } });
  const { trending_tokens: tokens } = await ask<LaunchpadResult>('/token/launchpad-trending');
  t.match(tokens, [{ ticker: 'FARTCOIN', mc: null, icon: null, '1hpricechange': null, '24hpricechange': null }]);
});

t.test('makes three suggestions, each after a listed token', async (t) => {
  const { ask } = await openServed(t);
  for (const path of ['/token/launchpad-trending', '/token/launchpad-movers', '/mpp/token/launchpad-trending']) {
    const { suggestions, trending_tokens } = await ask<LaunchpadResult>(path);
    const listed = trending_tokens.map(({ ca }) => ca);
    t.equal(suggestions.length, 3);
    for (const { reference_ca } of suggestions) t.ok(listed.includes(reference_ca), path);
  }
});

t.test('movers are ordered by the size of the change in an hour, up or down', async (t) => {
  const { ask } = await openServed(t);
  const { trending_tokens: tokens } = await ask<LaunchpadResult>('/token/launchpad-movers');
  t.same(
    tokens.map((token) => token['1hpricechange']),
    [4.8, -2.4, 1.4],
  );
});

t.test('leaves icons undescribed when they cannot be looked at', async (t) => {
  const standIn = {
    upstream: 'chat',
    answer: (_path: string, body: string) =>
      body.includes('image_url') ? { status: 400, json: { error: { message: 'image_url' } } } : undefined,
  };
  const { ask } = await openServed(t, { standIn });
  const { trending_tokens: tokens, suggestions } = await ask<LaunchpadResult>('/token/launchpad-trending');
  t.same(
    tokens.map(({ icon_description }) => icon_description),
    ['', '', ''],
  );
  t.equal(suggestions.length, 3);
});

t.test('one icon that cannot be read costs one description', async (t) => {
  const standIn = {
    upstream: 'chat',
    answer: (_path: string, body: string) =>
      body.includes('/pnut/icon.png') ? { status: 400, json: { error: { message: 'cannot read image' } } } : undefined,
  };
  const { ask } = await openServed(t, { standIn });
  const { trending_tokens: tokens } = await ask<LaunchpadResult>('/token/launchpad-trending');
  t.match(tokens, [{ icon_description: /\w/ }, { ticker: 'PNUT', icon_description: '' }, { icon_description: /\w/ }]);
});

t.test('says null for what is not known of a token', async (t) => {
  const bare = { id: FARTCOIN, name: 'Bare', symbol: 'BARE', launchpad: 'pump.fun', stats5m: {} };
  const standIn = { upstream: 'jupiter', answer: () => ({ status: 200, json: [bare] }) };
  const { ask } = await openServed(t, { standIn });
  t.match((await ask<LaunchpadResult>('/token/launchpad-trending')).trending_tokens, [
    { icon: null, mc: null, social: { twitter: null, website: null }, '5mpricechange': null, '24hpricechange': null },
  ]);
});

t.test('fails without tokens or words', async (t) => {
  const empty = await openServed(t, { standIn: { upstream: 'jupiter', answer: () => ({ status: 200, json: [] }) } });
  t.match(await problemOf(empty.ask('/token/launchpad-trending')), { failure: 'failed', upstream: 'jupiter' });
  const mute = await openServed(t, { standIn: failingAt('chat', /completions/) });
  t.match(await problemOf(mute.ask('/token/launchpad-trending')), { failure: 'failed', upstream: 'chat' });
});

t.test('tells market caps in the unit that fits', async (t) => {
  const told: [number, string][] = [
    [0, '$0'],
    [0.52, '$0.5'],
    [742, '$742'],
    [999.95, '$1K'],
    [1_234, '$1.2K'],
    [949_000, '$949K'],
    [999_950, '$1M'],
    [1_250_000, '$1.3M'],
    [93_400_000, '$93.4M'],
    [2_600_000_000, '$2.6B'],
    [3_480_000_000_000, '$3.5T'],
    [5_000_000_000_000_000, '$5000T'],
  ];
  for (const [amount, text] of told) t.equal(dollars(amount), text);
});
