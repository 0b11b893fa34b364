import t from 'tap';
import { openCatalogue } from '../upstream/served-routes.ts';
import { mirrorsOf } from './row.ts';
import { allRows, groups } from './rows/index.ts';
import { operations } from './rows/mpp.ts';

const { routes } = openCatalogue();
const pathsOf = (kind: 'base' | 'mirror' | 'operation'): string[] =>
  routes.filter((route) => route.kind === kind).map(({ path }) => path);

t.test('the endpoints make the counts of the specification true', async (t) => {
  for (const { name, count, rows } of groups) t.equal(rows.length, count, name);
  t.equal(allRows.length, 72);
});

t.test('every endpoint is in the catalogue, and none besides but the purchase of credits', async (t) => {
  t.same(pathsOf('base').sort(), [...allRows.map(({ path }) => path), '/v1/credits'].sort());
});

t.test('every mirror is in the catalogue, and none besides', async (t) => {
  t.same(
    pathsOf('mirror').sort(),
    allRows
      .flatMap(mirrorsOf)
      .map(({ path }) => path)
      .sort(),
  );
});

t.test('every MPP operation is in the catalogue, and none besides', async (t) => {
  t.equal(operations.length, 10);
  t.same(pathsOf('operation').sort(), operations.map(({ path }) => path).sort());
});

t.test('only the lists that need no body are read with GET', async (t) => {
  const get = routes.filter(({ rail, methods }) => rail === 'x402' && methods.includes('GET')).map(({ path }) => path);
  const lists = ['/token/launchpad-movers', '/token/launchpad-trending', '/stock/arb'];
  t.same(get.sort(), lists.flatMap((path) => [path, `/chain-c-main${path}`]).sort());
});
