import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { type CheckedCatalogue, checkedCatalogue, checkedCatalogueIn } from '../../src/catalogue/checked.ts';
import { loadCatalogue } from '../../src/catalogue/load.ts';
import type { Catalogue } from '../../src/catalogue/types.ts';
import { shipped } from '../../src/gateway/shipped.ts';
import { toDecimal } from '../../src/money.ts';
import { catalogueOf } from '../few-endpoints.ts';

t.test('what was found sound is remembered, and what changed since is checked as ever', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-checked-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const catalogue = join(directory, 'catalogue');
  cpSync('catalogue', catalogue, { recursive: true });
  const file = join(directory, 'data', 'checked.json');

  const first = checkedCatalogueIn(file);
  const loaded = loadCatalogue(catalogue, shipped, first);
  first.save();
  t.equal(loadCatalogue(catalogue, shipped, checkedCatalogueIn(file)).routes.length, loaded.routes.length);
  const [route] = loaded.routes;
  t.ok(checkedCatalogueIn(file).has(route?.request, route?.example));

  const fragment = join(catalogue, 'schemas', 'image-result.yaml');
  const text = readFileSync(fragment, 'utf8');
  rmSync(fragment);
  const again = () => loadCatalogue(catalogue, shipped, checkedCatalogueIn(file));
  t.throws(again, /family-e-2\.yaml:\d+:\d+: no fragment image-result/, 'places in files that were not parsed again');
  writeFileSync(fragment, text);

  const endpoint = join(catalogue, 'endpoints', 'image', 'family-e-2.yaml');
  writeFileSync(endpoint, readFileSync(endpoint, 'utf8').replace(/^example: .*$/m, 'example: { prompt: 7 }'));
  t.throws(again, /family-e-2\.yaml:\d+:\d+: .*prompt/);

  writeFileSync(file, 'no JSON');
  t.notOk(checkedCatalogueIn(file).has(route?.request, route?.example), 'a file that cannot be read is an empty one');
  t.end();
});

t.test('what finds no room to be remembered is checked again, and nothing is left of it', (t) => {
  const directory = t.testdir({});
  const file = join(directory, 'checked.json');
  // As a full disk does, it takes no new text.
  mkdirSync(file);
  const checked = checkedCatalogueIn(file);
  checked.add({ type: 'string' }, 'a word');
  t.doesNotThrow(() => checked.save());
  t.same(readdirSync(directory), ['checked.json']);
  t.notOk(checkedCatalogueIn(file).has({ type: 'string' }, 'a word'));
  t.end();
});

t.test('what was written while the files were read is sold with the next reading', (t) => {
  const catalogue = catalogueOf(t, ['image/family-a-2-pro']);
  const endpoint = join(catalogue, 'endpoints', 'image', 'family-a-2-pro.yaml');
  const before = readFileSync(endpoint, 'utf8');
  const checked = checkedCatalogue();
  const savedMeanwhile: CheckedCatalogue = {
    ...checked,
    addValue(text, value) {
      checked.addValue(text, value);
      if (text === before) writeFileSync(endpoint, before.replaceAll('"0.05"', '"0.07"'));
    },
  };
  const priceIn = ({ routes: [route] }: Catalogue) => route && toDecimal(route.price.min);
  const first = loadCatalogue(catalogue, shipped, savedMeanwhile);
  const next = loadCatalogue(catalogue, shipped);
  t.same([priceIn(first), priceIn(next)], ['0.05', '0.07']);
  t.not(first.version, next.version, 'a gateway that sells the first takes the next for another');
  t.end();
});
