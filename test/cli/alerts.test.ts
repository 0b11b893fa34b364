/** What an operator hears of webhooks that did not listen. */
import { join } from 'node:path';
import t from 'tap';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { openCommands } from '../commands.ts';

const run = openCommands(t);
const RECEIVER = 'https://ops.example/turnpike';

t.test('the list shows every alert that was not told, however many were told since', async (t) => {
  const data = t.testdir({});
  const store = openSqliteStore(join(data, 'turnpike.sqlite'));
  const add = (occurrence: string, at: number) =>
    store.alerts.add({ occurrence, type: 'result.owed', body: '{}', receivers: [RECEIVER] }, at);
  await add('result.owed:given-up', 1);
  const [alert] = await store.alerts.take({ receiver: RECEIVER, now: 2, leaseUntil: 3, limit: 1 });
  if (alert) await store.alerts.failed(alert, 'answered 404', undefined);
  await add('result.owed:waits', 4);
  for (let later = 0; later < 60; later += 1) {
    await add(`result.owed:${later}`, 5 + later);
    await store.alerts.sent({ occurrence: `result.owed:${later}`, receiver: RECEIVER });
  }
  await store.close();
  const { code, out, err } = await run('alerts', ['--list'], { TURNPIKE_DATA: data });
  t.equal(code, 0, err);
  const lines = out.trimEnd().split('\n');
  t.match(lines.at(-1), /given-up +result\.owed:given-up +ops\.example +1 +answered 404/, 'the oldest of all');
  t.match(lines.at(-2), /waiting +result\.owed:waits/);
  t.equal(lines.filter((line) => / sent /.test(line)).length, 50, 'the last of what was told');
});
