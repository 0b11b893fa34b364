/** The pages in a real browser: what is sold is found, and its price and its faults follow what is filled in. */
import t from 'tap';
import { comesTrue, lookedAt, looks, noBrowser, openPage, stopBrowser } from '../browser.ts';
import { startGateway } from '../gateway.ts';

const gateway = await startGateway();
t.teardown(stopBrowser);
t.teardown(gateway.stop);

t.test('an endpoint is found by words, group, network, protocol and price', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  await page.goto(gateway.url);
  const shown = () => page.locator('.card:visible').count();
  const all = await shown();
  t.ok(all > 70);

  await page.getByLabel('Search').fill('video seconds');
  t.ok((await shown()) < all);
  await page.getByRole('link', { name: /A video of 4 to 30 seconds/ }).waitFor();
  t.equal(await page.locator('#count').textContent(), `${await shown()} of ${all} endpoints`);
  t.match(page.url(), /\?q=video\+seconds$/, 'the address can be shared');

  await page.getByLabel('Search').fill('');
  await page.getByLabel('Group').selectOption('image');
  await page.getByLabel('Paid on').selectOption('chain-c');
  await page.getByLabel('Price').selectOption('0.05');
  const paths = await page.locator('.card:visible code').allTextContents();
  t.not(paths.length, 0);
  for (const path of paths) t.match(path, /^\/image\//);

  await page.reload();
  t.same(await page.locator('.card:visible code').allTextContents(), paths, 'and brings the same again');

  await page.getByLabel('Search').fill('nothing like this is sold');
  t.equal(await shown(), 0);
  await page.getByRole('link', { name: 'Show everything' }).click();
  await page.waitForURL(`${gateway.url}/`);
  t.equal(await shown(), all);
  t.same(complaints, []);
});

t.test('the price follows a choice and a slider, exactly', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  const price = page.locator('#price');
  await page.goto(`${gateway.url}/endpoints/image/family-e-2`);
  await page.getByText('0.10 USD', { exact: true }).waitFor();
  await page.getByLabel('resolution').selectOption('4k');
  await page.getByText('0.15 USD', { exact: true }).waitFor();

  await page.goto(`${gateway.url}/endpoints/video/family-h-2.5`);
  await page.getByText('1.30 USD', { exact: true }).waitFor();
  await page.getByLabel('duration, slider').fill('30');
  await page.getByText('7.80 USD', { exact: true }).waitFor();
  t.equal(await page.getByLabel('duration', { exact: true }).inputValue(), '30', 'the number follows the slider');
  await page.getByLabel('resolution').selectOption('480p');
  await page.getByText('3.60 USD', { exact: true }).waitFor();
  t.equal(await price.textContent(), '3.60 USD');
  t.same(complaints, []);
});

t.test('what is wrong with a request is said at its field, before anything is paid', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  await page.goto(`${gateway.url}/endpoints/video/family-h-2.5`);
  await page.getByLabel('duration', { exact: true }).fill('3');
  const fault = page.locator('#field-duration-fault');
  await fault.waitFor();
  t.match(await fault.textContent(), />= 4/);
  t.equal(await page.getByLabel('duration', { exact: true }).getAttribute('aria-invalid'), 'true');
  await page.getByLabel('prompt').fill('');
  await page.locator('#field-prompt-fault').waitFor();
  t.match(await page.locator('#field-prompt-fault').textContent(), 'is required');

  await page.getByLabel('prompt').fill('a lighthouse');
  await page.getByLabel('duration', { exact: true }).fill('4');
  await fault.waitFor({ state: 'hidden' });
  await page.getByText('1.04 USD', { exact: true }).waitFor();
  t.equal((await gateway.calls()).upstreamCalls, 0);
  t.same(complaints, []);
});

t.test(
  'a number that is none is said at its field, and no other request is sold instead',
  { skip: noBrowser },
  async (t) => {
    const { page, complaints } = await openPage(t);
    await page.goto(`${gateway.url}/endpoints/video/family-h-2.5`);
    const pay = page.getByRole('button', { name: /^Pay / });
    await pay.waitFor();
    const duration = page.getByLabel('duration', { exact: true });
    await duration.fill('');
    await duration.pressSequentially('1e');
    const fault = page.locator('#field-duration-fault');
    await fault.waitFor();
    t.equal(await fault.textContent(), 'is not a number');
    await pay.waitFor({ state: 'detached' });
    await duration.fill('10');
    await pay.waitFor();
    t.equal(await fault.isVisible(), false);
    t.same(complaints, []);
  },
);

t.test('a number that would be read as another is said at its field, and not sold', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  await page.goto(`${gateway.url}/endpoints/ai/prediction-market/venue-a/market-list`);
  const pay = page.getByRole('button', { name: /^Pay / });
  await pay.waitFor();
  const category = page.getByLabel('category_id');
  const fault = page.locator('#field-category_id-fault');
  await category.fill('9007199254740993');
  await pay.waitFor({ state: 'detached' });
  t.match(await fault.textContent(), /^has more digits than a number keeps, and would be read as 9007199254740992$/);
  await category.fill('9007199254740992');
  await pay.waitFor();
  t.equal(await fault.isVisible(), false);
  t.same(complaints, []);
});

t.test('where nothing can be paid the price is told, and why it cannot be paid', { skip: noBrowser }, async (t) => {
  const closed = await startGateway({ between: async () => ({ facilitators: [] }) });
  t.teardown(closed.stop);
  const { page, complaints } = await openPage(t);
  await page.goto(`${closed.url}/endpoints/image/family-e-2`);
  const fault = page.locator('#request-fault');
  await fault.waitFor();
  t.match(await fault.textContent(), 'This call costs 0.1 USD and cannot be paid at the moment');
  t.equal(await page.locator('#price').textContent(), '0.10 USD');
  t.equal(await page.getByText('None of the networks').count(), 0);
  t.same(complaints, []);
});

t.test('a page that does not hear how it is paid says so, and asks again', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  await page.route('**/storefront/networks', (route) => route.abort(), { times: 1 });
  await page.goto(`${gateway.url}/endpoints/image/family-e-2`);
  const said = page.getByText('How this is paid could not be asked');
  await said.waitFor();
  await page.getByRole('button', { name: 'Ask again' }).click();
  await page.getByRole('button', { name: /^Pay 0\.10 / }).waitFor();
  t.notOk(await said.isVisible());
  t.same(complaints, []);
});

t.test(
  'of a gateway that answers otherwise than how it is paid nobody says that it cannot be reached',
  { skip: noBrowser },
  async (t) => {
    const { page } = await openPage(t);
    await page.route('**/storefront/networks', (route) => route.fulfill({ status: 503, body: '' }));
    await page.goto(`${gateway.url}/endpoints/image/family-e-2`);
    const said = page.getByRole('alert').filter({ hasText: 'How this is paid could not be asked' });
    t.equal(await said.textContent(), 'How this is paid could not be asked. Ask again');
  },
);

t.test('a link fills in the request', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t);
  await page.goto(`${gateway.url}/endpoints/image/family-e-2?prompt=a+harbour&resolution=4k`);
  await page.getByText('0.15 USD', { exact: true }).waitFor();
  t.equal(await page.getByLabel('prompt').inputValue(), 'a harbour');
});

t.test('a link that says nothing of the request leaves its example in the form', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t);
  await page.goto(`${gateway.url}/endpoints/image/family-e-2?fbclid=IwAR0x`);
  await page.getByText('0.10 USD', { exact: true }).first().waitFor();
  t.not(await page.getByLabel('prompt').inputValue(), '');
});

t.test('without scripts everything can be read', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t, { javaScriptEnabled: false });
  await page.goto(gateway.url);
  t.equal(await page.getByLabel('Search').isVisible(), false, 'what needs scripts is not there');
  await page.getByRole('link', { name: /An image in 1k, 2k or 4k/ }).click();
  t.match(await page.locator('#price').textContent(), '0.06 to 0.15 USD');
  t.equal(await page.getByRole('cell', { name: '0.15', exact: true }).count(), 1, 'the price of each choice');
  await page.getByText('npm install @x402/fetch').isVisible();
  t.same(complaints, []);
});

t.test('examples are shown as what they are', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  await page.goto(`${gateway.url}/endpoints/image/family-e-2`);
  const picture = page.locator('.sample img');
  await picture.scrollIntoViewIfNeeded();
  await comesTrue(page, "document.querySelector('.sample img').naturalWidth > 0");
  await page.goto(`${gateway.url}/endpoints/audio/elevenlabs-music`);
  t.equal(await page.locator('.sample audio').count(), 1);
  await page.goto(`${gateway.url}/endpoints/video/family-h-2.5`);
  t.equal(await page.locator('.sample video').count(), 1);
  t.same(complaints, []);
});

for (const { name, ...options } of looks) {
  t.test(`axe finds nothing ${name}, and no page scrolls sideways`, { skip: noBrowser }, async (t) => {
    const { page, complaints } = await openPage(t, options);
    for (const path of [
      '/',
      '/?q=nothing+like+this',
      '/endpoints/image/family-e-2',
      '/endpoints/video/family-h-2.5?duration=3',
      '/endpoints/chain-e/image/family-e-2',
      '/endpoints/llm/multi-model',
      '/token/launchpad-movers',
    ]) {
      await page.goto(gateway.url + path);
      await page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
      await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
      const { findings, sideways } = await lookedAt(page);
      t.same(findings, [], path);
      t.equal(sideways, 0, `${path} is as wide as the screen`);
    }
    t.same(complaints, []);
  });
}
