/** What was bought in a browser can be heard, watched and read, and is charged by use to who has allowed that. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { comesTrue, noBrowser, openPage, stopBrowser } from '../browser.ts';
import { startGateway } from '../gateway.ts';
import { weatherFiles } from '../road/sold/weather-catalogue.ts';
import { KEY, startWeatherService } from '../road/sold/weather-service.ts';
import { injectEvmWallet, signingWallet } from './injected-wallets.ts';
import { purchaseOf } from './purchase-page.ts';

const gateway = await startGateway({ networks: ['chain-c'], tempo: true });
t.teardown(stopBrowser);
t.teardown(gateway.stop);

const bought = (page: Page) => page.getByRole('region', { name: 'What you bought' });

async function buy(page: Page, path: string, fields: Record<string, string>, from = gateway): Promise<void> {
  await page.goto(purchaseOf(from, path, fields));
  await page.getByRole('button', { name: /^Pay .* on Chain C$/ }).click();
  await bought(page).waitFor();
}

t.test('sound and film are played, and text is read', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  for (const [path, tag, fields] of [
    ['/audio/x-text-to-speech', 'audio', { text: 'Mind the step.', voice_id: 'Ara' }],
    ['/video/family-h-generation', 'video', { prompt: 'gulls circle a lighthouse', duration: '6' }],
  ] as const) {
    await buy(page, path, fields);
    const player = bought(page).locator(tag);
    await player.waitFor();
    t.equal(await player.getAttribute('controls'), '', `${tag} has controls`);
    await comesTrue(page, `document.querySelector('.result ${tag}').networkState !== 2`);
    t.equal(await player.evaluate('(player) => player.error?.message'), undefined, `${tag} can be loaded`);
  }
  await buy(page, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: '50' });
  t.match(await bought(page).locator('.said').textContent(), /\w{3}/);
  t.same(complaints, []);
});

t.test('sound and film that are opened play at their own addresses', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  for (const [path, link, fields] of [
    ['/audio/x-text-to-speech', 'Open the audio', { text: 'Mind the step.', voice_id: 'Ara' }],
    ['/video/family-h-generation', 'Open the video', { prompt: 'gulls circle a lighthouse', duration: '6' }],
  ] as const) {
    await buy(page, path, fields);
    await page.goto(String(await bought(page).getByRole('link', { name: link }).getAttribute('href')));
    // 3: nothing was found that can be played.
    await comesTrue(
      page,
      "(({ readyState, networkState }) => readyState > 0 || networkState === 3)(document.querySelector('video'))",
    );
    t.ok(await page.evaluate<boolean>("document.querySelector('video').readyState > 0"), link);
  }
  t.same(complaints, []);
});

t.test('what was bought stays there while a file of it is opened', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  await buy(page, '/image/family-e-2', { prompt: 'gulls circle a lighthouse' });
  const link = bought(page).getByRole('link', { name: 'Open the picture' });
  const address = String(await link.getAttribute('href'));
  const opened = page.context().waitForEvent('page');
  await link.click();
  const picture = await opened;
  await picture.waitForURL(address);
  t.equal(
    await picture.evaluate<unknown>('window.opener'),
    null,
    'and knows nothing of the page that it was opened from',
  );
  t.equal(await bought(page).getByRole('img').count(), 1);
  t.same(complaints, []);
});

t.test('a PDF is given to be saved', { skip: noBrowser }, async (t) => {
  const files = weatherFiles('http://127.0.0.1:9');
  const letter = `summary: A letter
path: /post/letter
networks: [chain-c]
price: { rule: fixed, amount: "0.01" }
request: { required: [to], properties: { to: { type: string, maxLength: 40 } } }
result: { required: [document_url, type, bytes], properties: { document_url: { type: string }, type: { type: string }, bytes: { type: integer } }, examples: [{ document_url: "https://post.example/1.pdf", type: application/pdf, bytes: 1 }] }
example: { to: Fog }
upstream: { via: post, path: /letters, body: input, result: { file: document } }
`;
  const sold = {
    'service.yaml': files['service.yaml'],
    'networks.yaml': files['networks.yaml'],
    'upstreams.yaml': 'post: { adapter: http, baseUrl: "https://post.example" }\n',
    endpoints: { post: { 'letter.yaml': letter } },
  };
  const catalogue = join(t.testdir({ catalogue: sold }), 'catalogue');
  const shop = await startGateway({ catalogue, networks: ['chain-c'] });
  t.teardown(shop.stop);
  const { page, complaints } = await openPage(t);
  await buy(page, '/post/letter', { to: 'Fog' }, shop);
  const address = await bought(page).getByRole('link', { name: 'Save the PDF' }).getAttribute('href');
  t.match(await (await fetch(String(address))).text(), /^%PDF-/);
  t.same(complaints, []);
});

t.test('nothing is shown as what was bought where that is the answer', { skip: noBrowser }, async (t) => {
  const files = weatherFiles((await startWeatherService(t)).url);
  const { weather } = files.endpoints;
  const wind = weather['forecast.yaml']
    .replace(/result:\n {2}required[\s\S]*?example:/, "result: { type: [number, 'null'], examples: [3] }\nexample:")
    .replace(/ {2}result: .*/, '  result: current.wind');
  const catalogue = { ...files, endpoints: { weather: { ...weather, 'forecast.yaml': wind } } };
  const directory = join(t.testdir({ catalogue }), 'catalogue');
  const calm = await startGateway({
    catalogue: directory,
    environment: { WEATHER_API_KEY: KEY },
    networks: ['chain-c'],
    tempo: true,
  });
  t.teardown(calm.stop);
  const { page, complaints } = await openPage(t);
  await buy(page, '/weather/forecast', { city: 'Lisbon' }, calm);
  t.match(await bought(page).locator('pre').textContent(), 'null');
  t.same(complaints, []);
});

t.test('who has allowed Permit2 is charged what was used', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  const before = await gateway.earned('chain-c');
  await page.goto(purchaseOf(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: '500' }));
  await page.getByLabel('Network').selectOption({ label: 'Chain C, USDC, charged by use (needs Permit2)' });
  const button = page.getByRole('button', { name: /^Pay up to [\d.]+ USDC on Chain C$/ });
  const [, most] = /up to ([\d.]+)/.exec((await button.textContent()) ?? '') ?? [];
  await button.click();
  await bought(page).waitFor();
  const paid = (await gateway.earned('chain-c')) - before;
  t.ok(paid > 0n && Number(paid) < Number(most) * 1e6, `${paid} of at most ${most}`);
  t.same(complaints, []);
});

t.test('who has not allowed Permit2 is told so, and nothing is signed', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t);
  const { answer } = signingWallet(gateway);
  const wallet = await injectEvmWallet(page, 'Own wallet', async (method, params) =>
    method === 'eth_call' ? { result: `0x${'0'.repeat(64)}` } : answer(method, params),
  );
  await page.goto(purchaseOf(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: '500' }));
  await page.getByLabel('Own wallet').check();
  await page.getByLabel('Network').selectOption({ label: 'Chain C, USDC, charged by use (needs Permit2)' });
  await page.getByRole('button', { name: /^Pay up to/ }).click();
  t.match(await page.getByRole('alert').textContent(), /has not allowed Permit2/);
  t.notOk(wallet.asked.includes('eth_signTypedData_v4'));
});
