/** What is left of credits that were asked for and never paid. */
import { join } from 'node:path';
import t from 'tap';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';

const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(gateway.stop);

t.test('a key whose payment did not settle goes with it, and those that were paid stay', async (t) => {
  const store = openSqliteStore(join(gateway.directory, 'turnpike.sqlite'));
  t.teardown(() => store.close());
  const buy = async (amount_usd: string, change: object = {}) =>
    await payV2(gateway, 'chain-c', request(gateway, '/v1/credits', { amount_usd, ...change }));
  const keys = async () => (await store.credits.listKeys(Date.now())).map(({ id }) => id).sort();
  const bought = await buy('0.01');
  const { api_key } = (await bought.json()) as { api_key: string };
  const paid = await keys();
  for (const change of [{}, {}, { api_key }]) {
    await gateway.fault({ settlement: 'chain-c', fault: 'refuse' });
    t.equal((await buy('0.02', change)).status, 402);
  }
  t.equal((await keys()).length, paid.length + 2);
  await store.forget({ values: 0, answers: Date.now() + 1_000, payments: undefined });
  t.same(await keys(), paid);
  const credits = await fetch(`${gateway.url}/v1/credits`, { headers: { authorization: `Bearer ${api_key}` } });
  t.match(await credits.json(), { balance_usd: '0.01' });
});
