import { appendFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openSpending } from '../../src/cli/mcp/spending.ts';
import { usd } from '../../src/money.ts';

const noon = () => Date.UTC(2026, 0, 15, 12);
const about = { tool: 'image_family-e-2', network: 'chain-c' };

t.test('however many ask at once, together they get one budget', async (t) => {
  const directory = t.testdir({});
  const each = Array.from({ length: 8 }, () => openSpending(directory, 'dollars', usd('1'), noon));
  const asked = each.flatMap((spending) => Array.from({ length: 5 }, () => spending.reserve(usd('0.15'), about)));
  const got = (await Promise.all(asked)).filter((reservation) => reservation !== undefined);
  t.equal(got.length, 6);
  t.equal(await each[0]?.left(), usd('0.1'));
});

t.test('a smaller budget sees what a larger one spent', async (t) => {
  const directory = t.testdir({});
  t.ok(await openSpending(directory, 'dollars', usd('5'), noon).reserve(usd('2'), about));
  const small = openSpending(directory, 'dollars', usd('1'), noon);
  t.equal(await small.left(), 0n);
  t.equal(await small.reserve(usd('0.01'), about), undefined);
});

t.test('a line that a dying process wrote half counts for nothing, and spoils none', async (t) => {
  const directory = t.testdir({});
  const spending = openSpending(directory, 'dollars', usd('1'), noon);
  await spending.reserve(usd('0.4'), about);
  const [file = ''] = readdirSync(directory);
  appendFileSync(join(directory, file), '{"id":"1","usd":"0.6","bud');
  t.ok(await spending.reserve(usd('0.5'), about));
  t.equal(await spending.left(), usd('0.1'));
  t.equal(statSync(join(directory, file)).mode & 0o777, 0o600);
});

t.test('room is given back once, and a day later there is a new budget', async (t) => {
  let now = Date.UTC(2026, 0, 15, 23, 59);
  const spending = openSpending(t.testdir({}), 'dollars', usd('1'), () => now);
  const first = await spending.reserve(usd('1'), about);
  t.equal(await spending.reserve(usd('1'), about), undefined);
  if (first) await spending.giveBack(first, 'unsent');
  if (first) await spending.giveBack(first, 'unsent');
  t.equal(await spending.left(), usd('1'));
  const second = await spending.reserve(usd('1'), about);
  now += 120_000;
  t.equal(await spending.left(), usd('1'));
  if (second) await spending.giveBack(second, 'said');
  t.equal(await spending.left(), usd('1'), 'what is given back of yesterday is not for today');
});

t.test(
  'a gateway’s word that nothing was charged is believed for one budget, and what nobody had is none of it',
  async (t) => {
    const spending = openSpending(t.testdir({}), 'dollars', usd('1'), noon);
    const giveBack = async (price: string, why: 'said' | 'unsent') => {
      const reservation = await spending.reserve(usd(price), about);
      if (reservation) await spending.giveBack(reservation, why);
      return spending.left();
    };
    for (let time = 0; time < 3; time += 1) t.equal(await giveBack('0.9', 'unsent'), usd('1'));
    t.equal(await giveBack('0.6', 'said'), usd('1'));
    t.equal(await giveBack('0.4', 'said'), usd('1'), 'a whole budget');
    t.equal(await giveBack('0.1', 'said'), usd('0.9'), 'and no more');
    t.equal(await giveBack('0.9', 'unsent'), usd('0.9'));
  },
);

t.test('play money is counted apart', async (t) => {
  const directory = t.testdir({});
  await openSpending(directory, 'play', usd('1'), noon).reserve(usd('1'), about);
  t.equal(await openSpending(directory, 'dollars', usd('1'), noon).left(), usd('1'));
});
