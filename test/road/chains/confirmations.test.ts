/** Credits can be spent elsewhere at once: they wait until their payment cannot vanish any more. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { toHex } from 'viem';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { openChannel } from '../../channels.ts';
import { type PaidCall, payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { picturesWith } from '../../settling-first.ts';

const catalogue = picturesWith(t, '{ channels: true }', 'credits', 'llm/vendor5-k3');
const networks = join(catalogue, 'networks.yaml');
writeFileSync(networks, readFileSync(networks, 'utf8').replace('chain-c:\n', 'chain-c:\n  confirmations: 3\n'));

let ahead = 0;
const gateway = await startGateway({
  networks: ['chain-c'],
  catalogue,
  now: () => Date.now() + ahead,
  intervals: { reconcileEveryMs: 200, confirmEveryMs: 200 },
});
t.teardown(gateway.stop);
const rpc = createRpc(gateway.state.evm['chain-c']?.rpcUrl ?? '');

const buy = async (amount = '2.5') => {
  const bought = await payV2(gateway, 'chain-c', request(gateway, '/v1/credits', { amount_usd: amount }));
  if (bought.status !== 200) throw new Error(await bought.text());
  return ((await bought.json()) as { api_key: string }).api_key;
};

const balanceOf = async (apiKey: string) => {
  const answer = await fetch(`${gateway.url}/v1/credits`, { headers: { authorization: `Bearer ${apiKey}` } });
  return ((await answer.json()) as { balance_usd: string }).balance_usd;
};

/** The newest payment, straight from the database. */
const newest = async () => {
  const store = openSqliteStore(join(gateway.directory, 'turnpike.sqlite'));
  try {
    const [payment] = await store.list({ limit: 1 });
    return { payment, waiting: await store.credits.unconfirmed(10) };
  } finally {
    await store.close();
  }
};

t.test('credits count once their payment lies as deep as networks.yaml says', async (t) => {
  const apiKey = await buy();
  t.equal(await balanceOf(apiKey), '0');
  await rpc('anvil_mine', ['0x1']);
  const { payment, waiting } = await newest();
  t.same(waiting, [payment?.id], 'two blocks are not three');
  t.equal(await balanceOf(apiKey), '0');
  await rpc('anvil_mine', ['0x1']);
  while ((await balanceOf(apiKey)) === '0') await delay(50);
  t.equal(await balanceOf(apiKey), '2.5');
});

/** More than a key has on which nothing is confirmed. */
const chat = (apiKey: string): PaidCall => {
  const body = { model: 'vendor5-k3', messages: [{ role: 'user', content: 'Why does fog lift?' }], max_tokens: 1000 };
  const { url, init } = request(gateway, '/v1/chat/completions', body);
  return { url, init: { ...init, headers: { ...init.headers, authorization: `Bearer ${apiKey}` } } };
};

t.test(
  'a call whose payment waits for its chain is not asked to pay again, and answered once that is deep enough',
  async (t) => {
    const apiKey = await buy('0.01');
    await rpc('anvil_mine', ['0x2']);
    while ((await balanceOf(apiKey)) === '0') await delay(50);
    const call = chat(apiKey);
    const ask = () => fetch(call.url, call.init);
    const asked = await ask();
    t.equal(asked.status, 402, await asked.clone().text());
    const waiting = await payV2(gateway, 'chain-c', call);
    t.equal(waiting.status, 409);
    t.match(await waiting.json(), { error: { code: 'credits_pending' } });
    t.ok(waiting.headers.get('payment-response'), 'its payer is told that it is paid');
    const again = await ask();
    t.equal(again.status, 409);
    t.notOk(again.headers.has('payment-required'), 'there is nothing to pay');
    t.ok(Number(again.headers.get('retry-after')) > 0);
    await rpc('anvil_mine', ['0x2']);
    while ((await ask()).status === 409) await delay(50);
    t.equal((await ask()).status, 200);
  },
);

t.test('a call that is drawn from a deposit waits for no confirmations', async (t) => {
  const apiKey = await buy('0.01');
  const answer = await openChannel(gateway).buy(chat(apiKey));
  t.equal(answer.status, 200);
});

t.test('credits whose payment the chain took back are never given', async (t) => {
  const before = await rpc('evm_snapshot', []);
  const apiKey = await buy();
  const { payment } = await newest();
  t.match(payment, { state: 'settled' });
  const { from, nonce } = Object(await rpc('eth_getTransactionByHash', [payment?.receipt?.transaction]));
  await rpc('evm_revert', [before]);
  // Its number is used for something else in the new chain, so that it cannot be sent again.
  await rpc('anvil_setNonce', [from, toHex(Number(nonce) + 1)]);
  ahead = 60_000;
  while ((await newest()).payment?.state === 'settled') await delay(50);
  t.match((await newest()).payment, { receipt: undefined });
  await rpc('evm_increaseTime', [3_600]);
  await rpc('anvil_mine', ['0x5']);
  ahead = 3_600_000;
  while ((await newest()).payment?.state === 'unknown') await delay(50);
  t.match((await newest()).payment, { state: 'unsettled', reason: /expired without being used/, answer: undefined });
  t.equal(await balanceOf(apiKey), '0');
});
