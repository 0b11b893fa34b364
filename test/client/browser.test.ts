import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import t from 'tap';
import { comesTrue, noBrowser, openPage, stopBrowser } from '../browser.ts';
import { startGateway } from '../gateway.ts';
import { picturesWith } from '../settling-first.ts';
import { assetsOf } from './any-client.ts';

t.teardown(stopBrowser);

const program = `
  import { createClient } from './src/client/index.ts';
  globalThis.buy = async (options, paths) => {
    const shop = createClient(options);
    const answers = [];
    for (const path of paths) answers.push(await shop.call(path, { prompt: 'a lighthouse in fog' }));
    return [...answers, ...(await shop.refund())];
  };`;

t.test('a page of another host buys over x402 and MPP, and from a deposit', { skip: noBrowser }, async (t) => {
  const gateway = await startGateway({ catalogue: picturesWith(t, '{ channels: true }'), networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: '.' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  const server = createServer(({ url }, response) => {
    response.setHeader('content-type', url === '/shop.js' ? 'text/javascript' : 'text/html');
    response.end(url === '/shop.js' ? outputFiles[0]?.text : '<script type="module" src="/shop.js"></script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close().closeAllConnections());
  const { page } = await openPage(t);
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await comesTrue(page, 'globalThis.buy');

  const before = await gateway.spendable('chain-c');
  const options = {
    url: gateway.url,
    assets: assetsOf(gateway),
    pay: { evm: gateway.state.evm['chain-c']?.privateKey },
  };
  const paths = ['/image/family-e-2', '/mpp/image/family-e-2'];
  const answers = await page.evaluate(`globalThis.buy(${JSON.stringify(options)}, ${JSON.stringify(paths)})`);
  const bought = { ok: true, receipt: { transaction: /^0x/ }, paid: { price: '0.06', network: 'chain-c' } };
  t.match(answers, [bought, bought]);
  t.equal(before - (await gateway.spendable('chain-c')), 120_000n);

  const fromDeposit = { ...options, pay: { ...options.pay, deposit: '1' } };
  const drawn = await page.evaluate(
    `globalThis.buy(${JSON.stringify(fromDeposit)}, ${JSON.stringify(paths.slice(0, 1))})`,
  );
  t.match(drawn, [
    { ok: true, receipt: { charged: '0.06' } },
    { ok: true, amount: '0.54' },
  ]);
  t.equal(before - (await gateway.spendable('chain-c')), 180_000n);
});
