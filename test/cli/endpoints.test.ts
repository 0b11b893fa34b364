import { execFile } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { readCatalogue } from '../../src/cli/client/from-catalogue.ts';
import { wrappedTable } from '../../src/wrapped-table.ts';
import { catalogueOf } from '../few-endpoints.ts';
import { wordsFor } from '../words-for.ts';

const run = promisify(execFile);

async function endpoints(environment: Record<string, string>): Promise<string> {
  const { PATH, HOME, TURNPIKE_CATALOGUE } = process.env;
  const { stdout } = await run(process.execPath, [...wordsFor('src/cli/endpoints.ts')], {
    env: { PATH, HOME, ...(TURNPIKE_CATALOGUE && { TURNPIKE_CATALOGUE }), ...environment },
  });
  return stdout;
}

t.test('says of every endpoint whether it is live and which keys it lacks, within 120 columns', async (t) => {
  const shown = await endpoints({ JUPITER_API_KEY: 'a-secret-key', TOKENS_XYZ_API_KEY: '"one in quotes"' });
  const [rows = '', summary = ''] = shown.split('\n\n');
  const lines = rows.split('\n');
  t.match(
    lines.find((line) => line.includes('GET /stock/arb ')),
    /0\.01 +chain-a.* +chain-c +stock-arb: +live$/,
  );
  t.match(
    lines.find((line) => line.includes('POST /tokens-api/search ')),
    /tokens +TOKENS_XYZ_API_KEY$/,
  );
  t.same(
    lines.filter((line) => line.length > 120),
    [],
  );
  t.notMatch(shown, 'a-secret-key');
  t.match(summary, /endpoints, \d+ of them live/);

  const wanted = /set for the others: (.*)/.exec(summary)?.[1]?.split(' ') ?? [];
  t.ok(wanted.includes('TOKENS_XYZ_API_KEY'));
  const all = ['JUPITER_API_KEY', ...wanted].map((variable) => [variable, 'set']);
  const complete = await endpoints(Object.fromEntries(all));
  t.notMatch(complete, 'set for the others');
  t.match(complete, /(\d+) endpoints, \1 of them live/);
});

t.test('says of what is taken out of sale that it is not sold', async (t) => {
  const [kept, withdrawn] = ['image/family-a-2-pro', 'image/family-e'];
  const catalogue = catalogueOf(t, [kept, withdrawn]);
  appendFileSync(join(catalogue, 'endpoints', `${withdrawn}.yaml`), 'enabled: false\n');
  const shown = await endpoints({ TURNPIKE_CATALOGUE: catalogue, REPLICATE_API_TOKEN: 'set' });
  t.match(shown, /POST \/image\/family-a-2-pro .* live$/m);
  t.match(shown, /POST \/image\/family-e .* not sold$/m);
  t.match(shown, /^2 endpoints, 1 of them live/m);
  t.same(
    readCatalogue(catalogue, 'https://shop.example').paths.filter(({ path }) => path.endsWith(withdrawn)),
    [],
    'a client has no types of it either',
  );
});

t.test('wraps cells at spaces, dashes and slashes, and words that are too wide, but no path', async (t) => {
  const columns = [
    { title: 'A', width: 4 },
    { title: 'B', width: 4 },
  ];
  t.equal(
    wrappedTable(columns, [
      ['one two', 'abcdefg'],
      ['x', ''],
    ]),
    'A    B\none  abcd\ntwo  efg\nx',
  );
  t.equal(wrappedTable([{ title: 'P', width: 9 }], [['0.00001-0.5'], ['/image/two']]), 'P\n0.00001-\n0.5\n/image/two');
});
