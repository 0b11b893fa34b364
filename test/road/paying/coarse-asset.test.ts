/** Paying with an asset of two decimals, which cannot say every price. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { payV2, receiptOf, request } from '../../clients.ts';
import { openCommands } from '../../commands.ts';
import { startConsole } from '../../console/client.ts';
import { copySelling } from '../../few-endpoints.ts';
import { startProgram } from '../../started.ts';
import { wordsFor } from '../../words-for.ts';

const directory = mkdtempSync(join(tmpdir(), 'turnpike-catalogue-'));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));
const catalogue = join(directory, 'catalogue');
copySelling([], catalogue);

const networks = join(catalogue, 'networks.yaml');
const inCents = readFileSync(networks, 'utf8').replace(/^chain-c:$[\s\S]*?^$/m, (network) =>
  network.replaceAll('decimals: 6', 'decimals: 2'),
);
writeFileSync(networks, inCents);
writeFileSync(
  join(catalogue, 'endpoints', 'image', 'postcard.yaml'),
  `
summary: A postcard picture of a place
path: /image/postcard
networks: [chain-c]
price: { rule: fixed, amount: "0.070001" }
request: { required: [prompt], properties: { prompt: { $ref: prompt } } }
result: { $ref: image-result }
example: { prompt: Lisbon at dusk }
upstream: { via: predictions, model: family-a-2-pro, input: { prompt: prompt }, result: image }
`,
);

const { gateway, ask } = await startConsole({ catalogue });
t.teardown(gateway.stop);

t.test('a price that cents cannot say is offered and charged rounded up', async (t) => {
  const call = request(gateway, '/image/postcard', { prompt: 'Lisbon at dusk' });
  const unpaid = await fetch(call.url, call.init);
  const { accepts } = JSON.parse(Buffer.from(unpaid.headers.get('payment-required') ?? '', 'base64').toString());
  t.strictSame(
    accepts.map(({ amount }: { amount: string }) => amount),
    ['8'],
  );
  const first = (await unpaid.json()) as { accepts: { maxAmountRequired: string }[] };
  t.strictSame(
    first.accepts.map(({ maxAmountRequired }) => maxAmountRequired),
    ['8'],
  );

  const [earned, spendable] = [await gateway.earned('chain-c'), await gateway.spendable('chain-c')];
  const answer = await payV2(gateway, 'chain-c', call);
  t.equal(answer.status, 200, await answer.clone().text());
  t.match(receiptOf(answer), { success: true });
  t.equal(answer.headers.get('turnpike-charged'), '0.08');
  t.equal((await gateway.earned('chain-c')) - earned, 8n);
  t.equal(spendable - (await gateway.spendable('chain-c')), 8n);
});

t.test('npm run pay tells its price in dollars, and pays no more of them than it may', async (t) => {
  const pay = async (most: string, network: string) => {
    const words = [...wordsFor('src/cli/pay.ts'), '/image/postcard', '{"prompt":"fog"}', '--url', gateway.url];
    const paying = startProgram(process.execPath, [...words, '--max', most, '--network', network], {});
    return { code: await paying.ended, said: paying.output() };
  };
  t.match(await pay('0.07', 'chain-c'), { code: 1, said: /costs 0\.08 USD, more than --max 0\.07/ });
  t.match(await pay('0.08', 'chain-c'), { code: 0, said: /^quote +0\.08 USD/m });
});

t.test(
  'what cents cannot say is not given back: rounded up, it would be more than an operator asked for',
  async (t) => {
    const answer = await payV2(gateway, 'chain-c', request(gateway, '/image/postcard', { prompt: 'Porto at dawn' }));
    const run = openCommands(t);
    const { transaction } = receiptOf(answer);
    const environment = { TURNPIKE_DATA: gateway.directory, TURNPIKE_CATALOGUE: catalogue };
    const refund = (amount: string) => run('refund', [String(transaction), '--amount', amount], environment);
    const { body } = await ask<{ payments: { id: string }[] }>('GET', `payments?transaction=${transaction}`);
    const order = { amount: '0.011', reason: 'too dark' };
    const asked = await ask<{ error: string; field: string }>('POST', `payments/${body.payments[0]?.id}/refund`, order);
    const why = /with at most 2 decimals/;
    t.match(asked, { status: 400, body: { error: why, field: 'amount' } });
    t.match(await refund('0.011'), { code: 1, out: '', err: why });
    t.match(await refund('0.01'), { code: 0, out: /^0\.01 USDC of image\/postcard goes back/ });
  },
);
