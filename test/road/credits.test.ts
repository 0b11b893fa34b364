/** Credits from the payment that buys them to the call that spends them. */
import t from 'tap';
import { toDecimal } from '../../src/money.ts';
import { payV2, request } from '../clients.ts';
import { startGateway } from '../gateway.ts';

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

t.test('says at the path of credits what is wrong with a key, and what else it takes', async (t) => {
  const unknown = await fetch(`${gateway.url}/v1/credits`);
  t.equal(unknown.status, 401);
  t.match(await unknown.json(), { error: { code: 'invalid_api_key' } });
  const deleted = await fetch(`${gateway.url}/v1/credits`, { method: 'DELETE' });
  t.equal(deleted.status, 405);
});
