import t from 'tap';
import { sendProof, signProof } from '../clients.ts';
import { startGateway } from '../gateway.ts';
import { stoppedClock } from '../stopped-clock.ts';
import { callOf } from './wire.ts';

const gateway = await startGateway({ networks: ['chain-a', 'chain-c', 'chain-d'], solanaNow: stoppedClock() });
t.teardown(gateway.stop);

/** What cannot be served is told with a code, and costs nothing although it was paid for. */
const refused = [
  [
    'a storefront product outside the US',
    'chain-a',
    '/tiktok/product',
    { url: 'https://www.tiktok.com/shop/pdp/a/1', region: 'GB' },
  ],
  ['a stock that chain-d does not offer', 'chain-d', '/chain-d/stock/signal', { ticker: 'SPY' }],
  ['another one, in research', 'chain-d', '/chain-d/stock/research', { ticker: 'QQQ' }],
  ['a stock that does not exist', 'chain-d', '/stock/research', { ticker: 'ZZZZZ' }],
  ['a token that does not exist', 'chain-c', '/chain-c-main/token/news', { token: 'nothing like it' }],
  [
    'a market that does not exist',
    'chain-c',
    '/chain-c-main/ai/prediction-market/venue-a/market-intel',
    { market_id: 'no-such-market' },
  ],
  ['an asset that does not exist', 'chain-a', '/tokens-api/asset-profile', { assetId: 'no-such-asset' }],
  ['a file that does not exist', 'chain-c', '/audio/speech-to-text', { audio_file: 'https://example.com/missing.mp3' }],
  [
    'a file that leads to a private address',
    'chain-c',
    '/audio/speech-to-text',
    { audio_file: 'https://example.com/redirect-to-private.mp3' },
  ],
  ['a file that is no sound', 'chain-c', '/audio/speech-to-text', { audio_file: 'https://example.com/photo.jpg' }],
  [
    'a sound that plays for longer than its price pays for',
    'chain-c',
    '/audio/speech-to-text',
    { audio_file: 'https://example.com/too-long.mp3' },
  ],
  [
    'a marketplace that sells nothing used',
    'chain-c',
    '/shop/search',
    { query: 'lamp', marketplaces: ['amazon'], condition: 'used' },
  ],
] as const;

for (const [what, network, path, body] of refused) {
  t.test(`${what} is a 400 that charges nothing`, async (t) => {
    const call = callOf(gateway, 'POST', path, body);
    const proof = await signProof(gateway, network, call);
    const [earned, spendable] = [await gateway.earned(network), await gateway.spendable(network)];
    const answer = await sendProof(call, proof);
    t.equal(answer.status, 400);
    t.match(await answer.json(), {
      error: { code: /^(invalid_request|not_found|unusable_reference)$/, message: /.+/ },
    });
    t.equal(await gateway.earned(network), earned);
    t.equal(await gateway.spendable(network), spendable);
  });
}

t.test('a listing that is gone is found false in a 200, and is paid for', async (t) => {
  const call = callOf(gateway, 'POST', '/tiktok/product', { url: 'https://www.tiktok.com/shop/pdp/delisted/1' });
  const proof = await signProof(gateway, 'chain-a', call);
  const earned = await gateway.earned('chain-a');
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200);
  t.match(await answer.json(), { found: false });
  t.equal((await gateway.earned('chain-a')) - earned, 15_000n);
});
