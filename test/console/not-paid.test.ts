/** What the console says of payments that took nothing: whether work was lost with them. In a real browser. */
import t, { type Test } from 'tap';
import type { PaymentPage } from '../../src/console/figures.ts';
import { noBrowser, openPage, stopBrowser } from '../browser.ts';
import { sendProof, signProof } from '../clients.ts';
import { signHold } from '../holds.ts';
import { fresh, lose, picturesWith } from '../settling-first.ts';
import { type Console, startConsole, TOKEN } from './client.ts';

t.teardown(stopBrowser);

async function start(t: Test, exposure: string): Promise<Console> {
  const console = await startConsole({ catalogue: picturesWith(t, exposure), networks: ['chain-a', 'chain-c'] });
  t.teardown(console.gateway.stop);
  return console;
}

/** What the page of each payment says first, the newest first. */
async function toldBy(t: Test, { admin, get }: Console): Promise<string[]> {
  const { payments } = await get<PaymentPage>('payments?state=unsettled');
  const { page, complaints } = await openPage(t);
  const told: string[] = [];
  for (const { id } of payments) {
    await page.goto(`${admin}/console#token=${TOKEN}`);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.evaluate(`location.hash = ${JSON.stringify(`#/payments/${encodeURIComponent(id)}`)}`);
    const facts = page.locator('section[aria-labelledby=facts]');
    await facts.waitFor();
    told.push(String(await facts.textContent()));
  }
  t.same(complaints, []);
  return told;
}

t.test('what was given back, or refused before the work, is not called a loss', { skip: noBrowser }, async (t) => {
  const console = await start(t, '{ hold: true, settleUpfront: { above: "0.01" } }');
  const { gateway } = console;
  const held = fresh(gateway);
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  t.equal((await sendProof(held, await signHold(gateway, held))).status, 500);
  const first = fresh(gateway);
  await gateway.fault({ settlement: 'chain-c', fault: 'refuse' });
  t.equal((await sendProof(first, await signProof(gateway, 'chain-c', first, 'exact'))).status, 402);
  const told = await toldBy(t, console);
  t.equal(told.length, 2);
  for (const each of told) {
    t.match(each, /Not paid/);
    t.match(each, /before there was a result/);
    t.notMatch(each, /this call is a loss/);
  }
});

t.test('work that was done and could not be paid is', { skip: noBrowser }, async (t) => {
  const console = await start(t, '{}');
  await lose(t, console.gateway);
  t.match(await toldBy(t, console), [/Not paid.*this call is a loss/]);
});
