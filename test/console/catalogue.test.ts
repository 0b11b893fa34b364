/** What the files say is shown before it is sold. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { CataloguePage } from '../../src/console/figures.ts';
import { noBrowser, openPage, stopBrowser } from '../browser.ts';
import { payV2, request } from '../clients.ts';
import { startConsole, TOKEN } from './client.ts';

const catalogue = join(t.testdir({ catalogue: {} }), 'catalogue');
cpSync('catalogue', catalogue, { recursive: true });
const { gateway, admin, get, ask } = await startConsole({ catalogue });
t.teardown(stopBrowser);
t.teardown(gateway.stop);

const NAME = 'image/family-e-2';
const file = join(catalogue, 'endpoints', `${NAME}.yaml`);
const written = readFileSync(file, 'utf8');
const shown = async () => {
  const page = await get<CataloguePage>('catalogue');
  return { page, row: page.endpoints.find(({ name }) => name === NAME) };
};
const buy = async () => (await payV2(gateway, 'chain-c', request(gateway, `/${NAME}`, { prompt: 'a pier' }))).status;

t.test('a changed price is shown as it is told to buyers, and sold when the operator says so', async (t) => {
  t.equal(await buy(), 200);
  const { page, row } = await shown();
  t.notOk(page.pending);
  t.match(row, {
    price: '0.06-0.15 USD',
    calls: 1,
    revenue: '0.06',
    isSold: true,
    path: `/${NAME}`,
    networks: ['chain-a'],
  });

  writeFileSync(file, written.replaceAll('"0.06"', '"0.09"'));
  const pending = (await shown()).page.pending;
  t.same(pending?.problems, []);
  t.match(pending?.changes.join('\n'), /0\.06 +0\.09 \(\+50 %\)/);
  t.match((await shown()).row, { price: '0.06-0.15 USD' }, 'and is not sold yet');

  const reloaded = await ask<CataloguePage>('POST', 'catalogue/reload', {});
  t.equal(reloaded.status, 200);
  t.notOk(reloaded.body.pending);
  t.match((await shown()).row, { price: '0.09-0.15 USD' });
  const before = await gateway.earned('chain-c');
  t.equal(await buy(), 200);
  t.equal((await gateway.earned('chain-c')) - before, 90_000n);
});

t.test('what is wrong with the files is shown with its place, and changes nothing', async (t) => {
  writeFileSync(file, written.replaceAll('"0.06"', '"much"'));
  const { pending, version } = (await shown()).page;
  t.match(pending?.problems.join('\n'), /family-e-2\.yaml:\d+:\d+: /);
  const refused = await ask<{ error: string }>('POST', 'catalogue/reload', {});
  t.match(refused, {
    status: 409,
    body: { error: /family-e-2\.yaml:\d+:\d+: [\s\S]*what was sold before is sold on$/ },
  });
  t.equal((await shown()).page.version, version);
  writeFileSync(file, written.replaceAll('"0.06"', '"0.09"'));
  t.notOk((await shown()).page.pending);
});

t.test(
  'what was not shown is not sold: files that are saved meanwhile are looked at first',
  { skip: noBrowser },
  async (t) => {
    const priced = (price: string) => writeFileSync(file, written.replaceAll('"0.06"', `"${price}"`));
    const { page, complaints } = await openPage(t);
    const load = async () => {
      await page.getByRole('button', { name: 'Load the files…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      return dialog;
    };
    priced('0.07');
    await page.goto(`${admin}/console#token=${TOKEN}`);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Catalogue' }).click();
    const first = await load();
    t.match(await first.textContent(), /0\.09 +0\.07/);
    priced('0.01');
    await first.getByRole('button', { name: 'Load', exact: true }).click();
    t.match(await page.getByRole('alert').textContent(), /have changed since/);
    t.match((await shown()).row, { price: '0.09-0.15 USD' });
    await page
      .getByText(/0\.09 +0\.01/)
      .first()
      .waitFor();
    const second = await load();
    t.match(await second.textContent(), /0\.09 +0\.01/);
    await second.getByRole('button', { name: 'Load', exact: true }).click();
    await page.getByText('The files are loaded').waitFor();
    t.match((await shown()).row, { price: '0.01-0.15 USD' });
    t.same(complaints, []);
  },
);
