import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import t from 'tap';
import { checkedCatalogue } from '../../src/catalogue/checked.ts';
import { patternFault } from '../../src/catalogue/patterns.ts';

const { checkSync } = createRequire(import.meta.url)('recheck') as {
  checkSync(source: string, flags: string, options: { timeout: number }): { status: string };
};

const listed = JSON.parse(readFileSync(new URL('../../generated/patterns.json', import.meta.url), 'utf8')) as string[];

t.test('every pattern that is listed as harmless is', async (t) => {
  for (const pattern of listed) t.equal(checkSync(pattern, 'u', { timeout: 60_000 }).status, 'safe', pattern);
});

t.test('a pattern is searched once', async (t) => {
  const checked = checkedCatalogue();
  t.equal(patternFault('^[a-f]{3,9}-x$', checked), undefined);
  t.equal(checked.news()?.schemas.length, 1);
  t.equal(patternFault(listed[0] ?? '', checked), undefined);
  t.equal(checked.news()?.schemas.length, 1, 'and one that is listed is not searched at all');
  t.match(patternFault('^(a+)+$', checked), { message: /exponentially/ });
  t.equal(checked.news()?.schemas.length, 1, 'and one that is refused is not remembered as good');
});
