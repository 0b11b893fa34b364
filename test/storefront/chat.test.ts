/** The chat with a key, in a browser. */
import t from 'tap';
import { comesTrue, noBrowser, openPage, stopBrowser } from '../browser.ts';
import { startGateway } from '../gateway.ts';

/** For tests that spend nothing of its key's balance. */
const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(stopBrowser);
t.teardown(gateway.stop);

/** What a page keeps in the browser. */
const KEPT = 'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])';

t.test("an answer is streamed, and the key's balance shows what it cost", { skip: noBrowser }, async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const { page, complaints } = await openPage(t);
  await page.goto(`${gateway.url}/chat`);
  await page.getByRole('button', { name: "Use the sandbox's key (play money)" }).click();
  const balance = page.locator('.balance');
  await balance.getByText('100 USD').waitFor();
  await page.getByLabel('Message').fill('Why is fog white?');
  await page.getByRole('button', { name: 'Send' }).click();
  await balance.getByText('before: 100 USD').waitFor();
  const conversation = page.getByRole('list', { name: 'Conversation' });
  const said = await conversation.locator('li').allTextContents();
  t.equal(said.length, 2);
  t.equal(said[0], 'YouWhy is fog white?');
  t.ok((said[1] ?? '').length > 'Model'.length, 'the model said something');
  t.ok(
    Number(
      await balance
        .locator('output')
        .textContent()
        .then((text) => text?.split(' ')[0]),
    ) < 100,
    'it cost something',
  );
  const { apiKey } = gateway.state as unknown as { apiKey: string };
  t.notOk(page.url().includes(apiKey), 'the key is not in the address');
  t.notMatch(await page.evaluate(KEPT), apiKey, 'nor kept anywhere');
  t.same(complaints, []);
});

t.test('who has no key is led to where one is sold', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t);
  await page.goto(`${gateway.url}/chat`);
  await page.getByRole('link', { name: 'Buy credits' }).click();
  await page.waitForURL(`${gateway.url}/endpoints/v1/credits`);
});

t.test('a key is kept in the tab by who asks for it, and forgotten with another', { skip: noBrowser }, async (t) => {
  const { apiKey } = gateway.state as unknown as { apiKey: string };
  const { page } = await openPage(t);
  await page.goto(`${gateway.url}/chat`);
  await page.getByLabel('API key').fill(apiKey);
  await page.getByLabel('Keep it in this tab until it is closed').check();
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.getByText('100 USD').waitFor();
  await page.reload();
  await page.getByText('100 USD').waitFor();
  await page.getByRole('button', { name: 'Another key' }).click();
  await page.getByLabel('API key').waitFor();
  t.notMatch(await page.evaluate(KEPT), apiKey);
});

t.test('what a key cannot do is said in words', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t);
  await page.goto(`${gateway.url}/chat`);
  await page.getByLabel('API key').fill('tp_nobody');
  await page.getByRole('button', { name: 'Use this key' }).click();
  t.match(await page.getByRole('alert').textContent(), /Check the key, or use another one/);
});

t.test(
  'a page that does not hear of models says so, and asks again for the same key',
  { skip: noBrowser },
  async (t) => {
    const { apiKey } = gateway.state as unknown as { apiKey: string };
    const { page, complaints } = await openPage(t);
    await page.route('**/v1/models', (route) => route.abort(), { times: 1 });
    await page.goto(`${gateway.url}/chat`);
    await page.getByLabel('API key').fill(apiKey);
    await page.getByRole('button', { name: 'Use this key' }).click();
    const alert = page.getByRole('alert');
    t.match(await alert.textContent(), /could not be reached/);
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page.getByText('100 USD').waitFor();
    await page.getByRole('button', { name: 'Send', disabled: false }).waitFor();
    t.equal(await alert.count(), 0);
    t.same(complaints, []);
  },
);

t.test('an answer can be stopped, and asked for again', { skip: noBrowser }, async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const { page, complaints } = await openPage(t);
  await page.goto(`${gateway.url}/chat`);
  await page.getByRole('button', { name: "Use the sandbox's key (play money)" }).click();
  await page.getByText('100 USD').waitFor();
  // No answer begins.
  await page.route(`${gateway.url}/v1/chat/completions`, () => {});
  await page.getByLabel('Message').fill('Why is fog white?');
  await page.getByLabel('Message').press('Enter');
  await page.getByRole('button', { name: 'Stop' }).click();
  // What was not answered can be sent again.
  await comesTrue(page, "document.querySelector('textarea').value === 'Why is fog white?'");
  await page.unroute(`${gateway.url}/v1/chat/completions`);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('list', { name: 'Conversation' }).locator('li').nth(1).getByText('You asked').waitFor();
  t.same(complaints, []);
});

t.test('a stream that fails says why, and its error is no word of the model', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  await page.goto(`${gateway.url}/chat`);
  await page.getByRole('button', { name: "Use the sandbox's key (play money)" }).click();
  await page.getByText('100 USD').waitFor();
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
  const chunk = event({ choices: [{ index: 0, delta: { content: 'Fog is' } }] });
  const failed = event({ error: { message: 'The provider failed', type: 'server_error', code: 'upstream_failed' } });
  const asked: unknown[] = [];
  const answers = [`: still working\n\n${failed}`, chunk + failed, chunk + failed];
  let isWritten: Promise<void> | undefined;
  await page.route(`${gateway.url}/v1/chat/completions`, async (route) => {
    asked.push((route.request().postDataJSON() as { messages: unknown }).messages);
    await isWritten;
    return route.fulfill({ contentType: 'text/event-stream', body: answers[asked.length - 1] ?? '' });
  });
  const message = page.getByLabel('Message');
  await message.fill('Why is fog white?');
  await message.press('Enter');
  const alert = page.getByRole('alert');
  await alert.waitFor();
  t.match(await alert.textContent(), /^The provider failed\./);
  // Nothing came of it: it can be sent again as it is.
  await comesTrue(page, "document.querySelector('textarea').value === 'Why is fog white?'");
  const lines = page.getByRole('list', { name: 'Conversation' }).locator('li');
  t.equal(await lines.count(), 0);
  await page.getByRole('button', { name: 'Send' }).click();
  await alert.waitFor();
  await comesTrue(page, "document.querySelectorAll('.messages li').length === 2");
  t.match(await alert.textContent(), /^The provider failed\./);
  t.same(await lines.allTextContents(), ['YouWhy is fog white?', 'ModelFog is']);
  t.same(asked[1], [{ role: 'user', content: 'Why is fog white?' }]);
  // What came stays, and the rest can be asked for.
  await comesTrue(page, "document.querySelector('textarea').value === 'Why is fog white?'");
  let written = () => {};
  isWritten = new Promise((resolve) => {
    written = resolve;
  });
  await page.getByRole('button', { name: 'Send' }).click();
  await alert.waitFor({ state: 'detached' });
  await message.fill('And why is it grey?');
  const isOver = page.waitForResponse(/credits/).then((response) => response.finished());
  written();
  await alert.waitFor();
  await isOver;
  await page.evaluate('new Promise(requestAnimationFrame)');
  t.equal(await message.inputValue(), 'And why is it grey?', 'what was written meanwhile is kept');
  t.same(complaints, []);
});
