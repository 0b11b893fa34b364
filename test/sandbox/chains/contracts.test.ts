import { readFileSync } from 'node:fs';
import t from 'tap';
import { CONTRACTS, compile } from '../../../src/sandbox/chains/compile.ts';

for (const name of CONTRACTS) {
  t.test(`${name}.json is what its source compiles to`, async (t) => {
    const committed = readFileSync(new URL(`../../../src/sandbox/chains/${name}.json`, import.meta.url), 'utf8');
    t.equal(committed, compile(name), 'if not: npx tsx src/sandbox/chains/compile.ts');
  });
}
