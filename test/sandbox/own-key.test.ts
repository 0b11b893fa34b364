/** The API key that a sandbox tells at `GET /sandbox`. */
import { join } from 'node:path';
import t from 'tap';
import { usd } from '../../src/money.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { startGateway } from '../gateway.ts';

const gateway = await startGateway({ networks: [] });
t.teardown(gateway.stop);
const store = openSqliteStore(join(gateway.directory, 'turnpike.sqlite'));
t.teardown(() => store.close());

const keyOf = async (url: string): Promise<string> =>
  ((await (await fetch(`${url}/sandbox`)).json()) as { apiKey: string }).apiKey;

const keys = () => store.credits.listKeys(Date.now());

t.test('a sandbox on the same data has the key that it had, with its credit again', async (t) => {
  const first = await keyOf(gateway.url);
  const chat = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${first}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'vendor3-5.6-luna', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  t.match(await chat.json(), { object: 'chat.completion' });
  t.ok(((await keys())[0]?.balance ?? 0n) < usd('100'));
  t.equal(await keyOf(await gateway.startAnother()), first);
  t.match(await keys(), [{ label: 'sandbox', balance: usd('100') }]);
  t.equal((await keys()).length, 1);
});

t.test('one that was disabled is followed by another, which is kept like it', async (t) => {
  const [first] = await keys();
  await store.credits.disableKey(first?.id ?? '', Date.now());
  const next = await keyOf(await gateway.startAnother());
  t.equal(await keyOf(await gateway.startAnother()), next);
  t.match(await keys(), [{ balance: usd('100') }, { label: 'sandbox', balance: usd('100'), disabledAt: undefined }]);
});
