/** What a page of another port of the same machine can do to who uses the console: cookies know no ports. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { noBrowser, openPage, stopBrowser } from '../browser.ts';
import { startConsole, TOKEN } from './client.ts';

t.teardown(stopBrowser);

t.test('its cookies keep nobody out of the console', { skip: noBrowser }, async (t) => {
  const { gateway, admin } = await startConsole();
  t.teardown(gateway.stop);
  const neighbour = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Another page</title>');
  });
  t.teardown(() => neighbour.close().closeAllConnections());
  await once(neighbour.listen(0, '127.0.0.1'), 'listening');
  const { page, complaints } = await openPage(t);
  await page.goto(`http://127.0.0.1:${(neighbour.address() as AddressInfo).port}`);
  const name = `turnpike-console-${new URL(admin).port}`;
  // Of the longest path that fits, so that browsers send it before the console's own.
  await page.evaluate(`document.cookie = '${name}=theirs; path=/console/api; max-age=31536000'`);
  await page.goto(`${admin}/console#token=${TOKEN}`);
  const overview = page.getByRole('heading', { name: 'Overview', level: 1 });
  await overview.or(page.getByRole('alert')).waitFor();
  if (!t.equal(await overview.count(), 1, 'who has the token is let in')) return;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  await page.reload();
  await page.getByLabel('Token').waitFor();
  t.same(complaints, []);
});
