import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { changedSource, SOURCES, sourceOf } from '../../src/start/built-from.ts';

const BUILT = 'src/built.ts';
const MONEY = 'src/money.ts';

/** Sources, and the note of a build that was made from them. */
function built(t: Test) {
  const root = t.testdir({});
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  write(BUILT, 'start');
  write(MONEY, 'cents');
  const sources = Object.fromEntries([BUILT, MONEY].map((name) => [name, sourceOf(join(root, name))]));
  write(join('build', SOURCES), JSON.stringify(sources));
  return { root, write, money: join(root, MONEY), changed: () => changedSource(join(root, 'build'), root) };
}

t.test('a build of the sources that are here is one, also where a copy of them has other times', async (t) => {
  const { money, changed } = built(t);
  t.equal(changed(), undefined);
  utimesSync(money, 1, 1);
  t.equal(changed(), undefined);
});

t.test('a source that says something else is named, be it as long as before or not', async (t) => {
  const { money, write, changed } = built(t);
  for (const text of ['coins', 'dollars', '']) {
    write(MONEY, text);
    utimesSync(money, 1, 1);
    t.equal(changed(), MONEY, text);
  }
});

t.test('a source that is gone is named', async (t) => {
  const { money, changed } = built(t);
  rmSync(money);
  t.equal(changed(), MONEY);
});

t.test('where there are no sources, as in a package, a build is of nothing else', async (t) => {
  const { root, changed } = built(t);
  rmSync(join(root, 'src'), { recursive: true });
  t.equal(changed(), undefined);
});
