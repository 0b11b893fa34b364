import { readFileSync } from 'node:fs';
import t from 'tap';
import { checkedCatalogue } from '../../src/catalogue/checked.ts';
import { backtrackingFault, patternFault } from '../../src/catalogue/schemas/patterns.ts';

const listed = JSON.parse(readFileSync(new URL('../../generated/patterns.json', import.meta.url), 'utf8')) as string[];

t.test('every pattern that is listed as harmless is', async (t) => {
  for (const pattern of listed) t.equal(backtrackingFault(pattern), undefined, pattern);
});

t.test('what backtracks is refused with what its time grows with, however the searcher finds it', (t) => {
  t.match(backtrackingFault('^(a|a)*$'), { message: /catastrophically.* exponentially/ });
  t.match(backtrackingFault('^(?!x)(a+)+$'), { message: /catastrophically.* exponentially/ });
  t.match(backtrackingFault('^(?!x)a*a*b$'), { message: /catastrophically.* the power of 2/ });
  t.end();
});

t.test('a pattern is searched once', async (t) => {
  const checked = checkedCatalogue();
  t.equal(patternFault('^[a-f]{3,9}-x$', checked), undefined);
  t.equal(checked.news()?.schemas.length, 1);
  t.equal(patternFault(listed[0] ?? '', checked), undefined);
  t.equal(checked.news()?.schemas.length, 1, 'and one that is listed is not searched at all');
  t.match(patternFault('^(a+)+$', checked), { message: /exponentially/ });
  t.equal(checked.news()?.schemas.length, 1, 'and one that is refused is not remembered as good');
  t.equal(patternFault('^(a+)+$', checkedCatalogue()), patternFault('^(a+)+$', checked), 'nor searched again');
});
