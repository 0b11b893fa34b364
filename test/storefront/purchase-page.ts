import type { Page } from 'playwright-core';
import type { Gateway } from '../gateway.ts';

/** The page on which what is sold at a path is bought, with its form filled in. */
export const purchaseOf = (gateway: Pick<Gateway, 'url'>, path: string, fields: Record<string, string>): string =>
  `${gateway.url}/endpoints${path}?${new URLSearchParams(fields)}`;

/** Ends once a payment that the page sends to `url` is answered, the first of them, which the browser never hears of. */
export function unheard(page: Page, url: string): Promise<void> {
  let isLost = true;
  return new Promise((resolve) => {
    void page.route(url, async (route) => {
      if (!isLost || !route.request().headers()['payment-signature']) return route.continue();
      isLost = false;
      await route.fetch();
      resolve();
    });
  });
}
