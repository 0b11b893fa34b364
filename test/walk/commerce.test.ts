import { payV2, request } from '../clients.ts';
import { commerceRows, predictionRows } from './rows/commerce.ts';
import { openWalk, walk } from './walk.ts';

const gateway = await openWalk();
const answer = await payV2(
  gateway,
  'chain-a',
  request(gateway, '/ai/prediction-market/venue-a/market-list', { limit: 1 }),
);
const { markets } = (await answer.json()) as { markets: { slug: string }[] };

await walk(gateway, [...commerceRows, ...predictionRows(markets[0]?.slug ?? '')]);
