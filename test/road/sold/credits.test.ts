/** Credits from the payment that buys them to the call that spends them. */
import { join } from 'node:path';
import t from 'tap';
import { openApiKeys } from '../../../src/credits/api-keys.ts';
import { toDecimal } from '../../../src/money.ts';
import { openStore } from '../../../src/store/open.ts';
import { payV2, request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';

const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(gateway.stop);

t.test('sells credits, shows their balance at the same path, and takes calls for them', async (t) => {
  const earned = await gateway.earned('chain-c');
  const bought = await payV2(gateway, 'chain-c', request(gateway, '/v1/credits', { amount_usd: '2.5' }));
  t.equal(bought.status, 200);
  const { api_key: apiKey } = (await bought.json()) as { api_key: string };
  t.equal((await gateway.earned('chain-c')) - earned, 2_500_000n);

  const headers = { authorization: `Bearer ${apiKey}` };
  const balance = async () =>
    ((await (await fetch(`${gateway.url}/v1/credits`, { headers })).json()) as { balance_usd: string }).balance_usd;
  t.equal(await balance(), '2.5');

  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'vendor5-k3', messages: [{ role: 'user', content: 'Why?' }], max_tokens: 1000 }),
  });
  const { usage } = (await answer.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
  // 3.30 and 16.50 dollars a million tokens.
  const millionths = Math.ceil((usage.prompt_tokens * 33 + usage.completion_tokens * 165) / 10);
  t.equal(await balance(), toDecimal(2_500_000n - BigInt(millionths)));
});

t.test('takes nothing for a key that nobody can use any more', async (t) => {
  const store = await openStore({ file: join(gateway.directory, 'turnpike.sqlite') });
  t.teardown(() => store.close());
  const keys = openApiKeys({ store: store.credits, mode: 'sandbox', now: Date.now });
  const expired = await keys.create({ label: 'expired', expiresAt: Date.now() - 1 });
  const disabled = await keys.create({ label: 'disabled' });
  await store.credits.disableKey(disabled.id, Date.now());
  const earned = await gateway.earned('chain-c');
  for (const { apiKey } of [disabled, expired]) {
    for (const amount of ['0.5', '5']) {
      const call = request(gateway, '/v1/credits', { amount_usd: amount, api_key: apiKey });
      const unpaid = await fetch(call.url, call.init);
      t.match(await unpaid.json(), { invalidParams: [{ path: '/api_key' }] });
      const answer = await payV2(gateway, 'chain-c', call);
      t.equal(answer.status, 400, await answer.text());
      t.equal(await gateway.earned('chain-c'), earned);
    }
  }
});

t.test('tells who bought for a key of it again, also once nobody can use that any more', async (t) => {
  const store = await openStore({ file: join(gateway.directory, 'turnpike.sqlite') });
  t.teardown(() => store.close());
  const keys = openApiKeys({ store: store.credits, mode: 'sandbox', now: Date.now });
  const { apiKey, id } = await keys.create({ label: 'mine' });
  const call = request(gateway, '/v1/credits', { amount_usd: '0.5', api_key: apiKey });
  const proof = await signProof(gateway, 'chain-c', call);
  const bought = await (await sendProof(call, proof)).text();
  await store.credits.disableKey(id, Date.now());
  const again = await sendProof(call, proof);
  t.equal(again.status, 200);
  t.equal(await again.text(), bought);
});

t.test('says at the path of credits what is wrong with a key, and what else it takes', async (t) => {
  const unknown = await fetch(`${gateway.url}/v1/credits`);
  t.equal(unknown.status, 401);
  t.match(await unknown.json(), { error: { code: 'invalid_api_key' } });
  const deleted = await fetch(`${gateway.url}/v1/credits`, { method: 'DELETE' });
  t.equal(deleted.status, 405);
});
