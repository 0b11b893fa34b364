/** The form of a request whose fields are unlike those of the shipped endpoints, in a real browser. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { noBrowser, openPage, stopBrowser } from '../browser.ts';
import { catalogueOf } from '../few-endpoints.ts';
import { startGateway } from '../gateway.ts';

/** It answers with the body that it was sent. */
const provider = createServer(async (request, response) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ got: await text(request) }));
});
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));

const endpoint = (method: string) => `summary: What it was sent
path: /echo/${method.toLowerCase()}
method: ${method}
networks: [chain-c]
price: { rule: fixed, amount: "0.01" }
request:
  required: [dataset]
  properties:
    dataset: { type: string, maxLength: 40 }
    querySelectorAll: { type: string, maxLength: 40 }
    steps: { type: integer, enum: [4, 8, 16], default: 8 }
    tone: { type: [string, "null"], enum: [warm, cold, null], default: null }
    kinds: { type: array, items: { type: string, enum: [x, y, z] } }
    ids: { type: array, items: { type: integer }, minItems: 2 }
    all: { anyOf: [{ type: integer }, { type: string, pattern: "^all$" }] }
result: { required: [got], properties: { got: { type: string } }, examples: [{ got: "{}" }] }
example: { dataset: north }
upstream: { via: echo, path: /, body: input }
`;

const catalogue = catalogueOf(t, ['image/family-e-2']);
const { port } = provider.address() as AddressInfo;
appendFileSync(join(catalogue, 'upstreams.yaml'), `echo: { adapter: http, baseUrl: "http://127.0.0.1:${port}" }\n`);
mkdirSync(join(catalogue, 'endpoints/echo'), { recursive: true });
for (const method of ['POST', 'GET']) {
  writeFileSync(join(catalogue, `endpoints/echo/${method.toLowerCase()}.yaml`), endpoint(method));
}
const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
t.teardown(() => provider.close());
t.teardown(gateway.stop);
t.teardown(stopBrowser);

const LINK = 'dataset=south&querySelectorAll=p&steps=16&tone=cold&kinds=x&kinds=z&ids=1&ids=2&all=all';

for (const path of ['/echo/post', '/echo/get']) {
  t.test(
    `${path}: what a link says is in the form, whatever its fields are called, and is sold`,
    {
      skip: noBrowser,
    },
    async (t) => {
      const { page, complaints } = await openPage(t);
      await page.goto(`${gateway.url}/endpoints${path}?${LINK}`);
      const said = async (name: string) => page.getByLabel(name, { exact: true }).inputValue();
      t.equal(await said('kinds'), 'x\nz');
      t.equal(await said('ids'), '[1,2]');
      await page.getByRole('button', { name: 'Pay 0.01 USDC on Chain C' }).click();
      const bought = page.getByRole('region', { name: 'What you bought' }).getByText('"got"');
      t.match(JSON.parse((await bought.textContent()) ?? ''), {
        got: '{"dataset":"south","querySelectorAll":"p","steps":16,"tone":"cold","kinds":["x","z"],"ids":[1,2],"all":"all"}',
      });
      t.same(complaints, []);
    },
  );
}

t.test('what a field takes is to be chosen, or said beside it', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t);
  await page.goto(`${gateway.url}/endpoints/echo/post`);
  const choices = (name: string) => page.getByLabel(name, { exact: true }).locator('option').allTextContents();
  t.same(await choices('steps'), ['left out: 8', '4', '8', '16']);
  t.same(await choices('tone'), ['left out', 'warm', 'cold'], 'what is left out is null');
  t.equal(await page.locator('#field-kinds-hint').textContent(), 'list of one of x, y, z');
  t.equal(await page.locator('#field-ids-hint').textContent(), 'list of integer, whole, at least 2 of them');
  t.equal(await page.locator('#field-all-hint').textContent(), 'integer, whole or text');
});

t.test('a number of a link that would be read as another is said at its field', { skip: noBrowser }, async (t) => {
  const { page } = await openPage(t);
  await page.goto(`${gateway.url}/endpoints/echo/get?dataset=south&ids=9007199254740993&ids=2`);
  const fault = page.locator('#field-ids-fault');
  await fault.waitFor();
  t.match(await fault.textContent(), '/0 has more digits than a number keeps');
  t.equal(await page.getByLabel('ids', { exact: true }).inputValue(), '[9007199254740993,2]');
});

t.test('who comes back finds what was filled in, and its price', { skip: noBrowser }, async (t) => {
  const { page, complaints } = await openPage(t);
  await page.goto(`${gateway.url}/endpoints/image/family-e-2`);
  await page.getByRole('button', { name: 'Pay 0.10 USDC on Chain C' }).waitFor();
  await page.getByLabel('resolution').selectOption('4k');
  await page.getByRole('button', { name: 'Pay 0.15 USDC on Chain C' }).waitFor();
  await page.goto(gateway.url);
  await page.goBack();
  await page.getByRole('button', { name: 'Pay 0.15 USDC on Chain C' }).waitFor();
  t.equal(await page.getByLabel('resolution').inputValue(), '4k');
  t.equal(await page.locator('#price').textContent(), '0.15 USD');
  t.same(complaints, []);
});
