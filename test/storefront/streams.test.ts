/** Answers that stream, bought in a browser. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { noBrowser, openPage, stopBrowser } from '../browser.ts';
import { deadlinesOf } from '../deadlines.ts';
import { startGateway } from '../gateway.ts';
import { weatherFiles } from '../road/sold/weather-catalogue.ts';
import { KEY, startWeatherService } from '../road/sold/weather-service.ts';
import { purchaseOf } from './purchase-page.ts';

t.teardown(stopBrowser);

/** No other timer is for so long. */
const DEADLINE_MS = 44_000;
const DEADLINE = `deadline: ${DEADLINE_MS / 1000}s\nresult: { type: string, examples: ["data: 1"] }`;

async function open(t: Test, city: string, watch?: string) {
  const service = await startWeatherService(t);
  const catalogue = join(t.testdir({ catalogue: weatherFiles(service.url, watch ? { watch } : {}) }), 'catalogue');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'], environment: { WEATHER_API_KEY: KEY } });
  t.teardown(gateway.stop);
  const { page, complaints } = await openPage(t);
  await page.goto(purchaseOf(gateway, '/weather/watch', { city }));
  const pay = page.getByRole('button', { name: 'Pay 0.01 USDC on Chain C' });
  await pay.click();
  const said = page.getByRole('region', { name: 'What you bought' }).locator('.said');
  await said.getByText('{"wind": 3}').waitFor();
  return { service, gateway, page, pay, said, complaints };
}

t.test('one that its provider breaks off is owed, and had with the same payment', { skip: noBrowser }, async (t) => {
  const { service, gateway, page, pay, said, complaints } = await open(t, 'Faro');
  service.breakOff();
  const again = page.getByRole('button', { name: 'Ask again with the same payment' });
  await again.and(page.locator(':enabled')).waitFor();
  t.notOk(await pay.isVisible(), 'no second payment is offered');
  await again.click();
  while (service.goOn() === 0) await new Promise(setImmediate);
  await said.getByText('[secret]').waitFor();
  t.equal(await gateway.earned('chain-c'), 10_000n, 'charged once');
  t.same(complaints, []);
});

t.test('one that is cut at its deadline is sold as far as it came, and says so', { skip: noBrowser }, async (t) => {
  const passDeadline = deadlinesOf(t, DEADLINE_MS);
  const { page, pay, said } = await open(t, 'Endless', DEADLINE);
  passDeadline();
  await page.getByText(/The answer was cut at its deadline/).waitFor();
  t.notMatch(await said.textContent(), /answer_cut/);
  await pay.and(page.locator(':enabled')).waitFor();
});
