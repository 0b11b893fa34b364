import { loadCatalogue } from '../../catalogue/load.ts';
import { isOnSale } from '../../catalogue/on-sale.ts';
import { priceInWords } from '../../discovery/payment-info.ts';
import { answerSchema, requestSchema } from '../../discovery/schemas.ts';
import { shipped } from '../../gateway/shipped.ts';
import { assetsOf } from './assets.ts';
import type { Sold, SoldPath } from './sold.ts';

/** What the catalogue in `directory` sells. Throws CatalogueErrors. */
export function readCatalogue(directory: string, url: string): Sold {
  const { routes, networks } = loadCatalogue(directory, shipped);
  const sold = routes.filter((route) => isOnSale(route, Date.now()));
  const paths = sold.map(
    (route): SoldPath => ({
      path: route.path,
      method: route.methods.includes('POST') ? 'POST' : 'GET',
      summary: route.endpoint.summary,
      price: priceInWords(route),
      request: requestSchema(route),
      result: answerSchema(route),
      streams: route.streams === true,
    }),
  );
  return { url, paths, assets: assetsOf(networks.values()) };
}
