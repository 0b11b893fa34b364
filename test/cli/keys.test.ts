import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openApiKeys } from '../../src/credits/api-keys.ts';
import { usd } from '../../src/money.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { openCommands } from '../commands.ts';
import { catalogueOf } from '../few-endpoints.ts';

const command = openCommands(t);
const catalogue = catalogueOf(t, ['llm/vendor5-k3']);

/** `npm run keys -- ...` in an environment of its own. */
function open(t: Test) {
  const data = t.testdir({});
  const keys = (...words: string[]) => command('keys', words, { TURNPIKE_DATA: data, TURNPIKE_CATALOGUE: catalogue });
  return { keys, openStore: () => openSqliteStore(join(data, 'turnpike.sqlite')) };
}

t.test('shows a key once, in the store that the gateway opens', async (t) => {
  const { keys, openStore } = open(t);
  const options = ['--credit', '10', '--per-day', '2.5', '--models', 'vendor5-k3', '--expires', '30d'];
  const created = await keys('create', '--label', 'the lab', ...options);
  t.match(created, { code: 0, out: /^tp_sandbox_[0-9A-Za-z]{43}\n$/, err: /only time/ });
  const apiKey = created.out.trim();

  const listed = await keys('list');
  t.match(listed.out, /key_\S+ +tp_sandbox_\w{4}\.\.\. +the lab +10 +0 +2\.5 a day, vendor5-k3 +good until/);
  t.notMatch(listed.out, apiKey);

  const store = openStore();
  t.teardown(() => store.close());
  const apiKeys = openApiKeys({ store: store.credits, mode: 'sandbox', now: Date.now });
  const key = await apiKeys.find(apiKey);
  t.match(key, { label: 'the lab', balance: usd('10'), limits: { perDay: usd('2.5'), models: ['vendor5-k3'] } });
  const id = key?.id ?? '';

  t.match(await keys('top-up', id, '0.5', '--reference', 'bill-7'), { code: 0, out: `${id} has 10.5 USD\n` });
  t.match(await keys('top-up', id, '0.5', '--reference', 'bill-7'), { code: 0, out: `${id} has 10.5 USD\n` }, 'once');
  t.match(await keys('top-up', id, '5', '--reference', 'bill-7'), { code: 1, err: /bill-7 has added another amount/ });
  t.match(await keys('disable', id), { code: 0 });
  t.match(await keys('top-up', id, '5'), { code: 1, out: '', err: /disabled or expired, and nothing is added/ });
  t.match((await keys('list')).out, /10\.5 .* disabled /);
  t.ok((await apiKeys.find(apiKey))?.disabledAt);
});

t.test('says what is wrong, and never repeats what may be a key', async (t) => {
  const { keys } = open(t);
  t.match(await keys('list'), { code: 0, out: /no keys yet/ });
  const apiKey = `tp_live_${'x'.repeat(43)}`;
  const cases: [words: string[], says: RegExp][] = [
    [[], /create --label/],
    [['destroy'], /no command destroy/],
    [['create'], /--label is missing/],
    [['create', '--label', ' '], /--label is missing/],
    [['create', '--label', 'x', '--credit', '$5'], /--credit: .* not an amount/],
    [['create', '--label', 'x', '--expires', 'soon'], /--expires is a period such as/],
    [['create', '--label', 'x', '--models', 'gpt-9'], /no model gpt-9/],
    [['create', '--label', 'x', '--models', 'family-a-2-pro'], /no model family-a-2-pro is sold to keys/],
    [['create', '--lable', 'x'], /lable/],
    [['top-up', 'key_none', '5'], /no key key_none/],
    [['top-up', 'key_none', '0'], /top-up takes more than 0/],
    [['disable', apiKey], /no key of that id/],
    [['top-up', 'key_none', '5', '--reference', 'two words'], /--reference takes/],
    [['disable', 'key_none', '--reference', 'bill-7'], /disable takes no --reference/],
  ];
  for (const [words, says] of cases) {
    const ran = await keys(...words);
    t.match(ran, { code: 1, out: '', err: says }, words.join(' '));
    t.notMatch(ran.err, apiKey);
  }
});
