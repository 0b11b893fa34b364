import { join } from 'node:path';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { checkCatalogue, loadCatalogue } from '../../src/catalogue/load.ts';
import { CatalogueErrors } from '../../src/catalogue/yaml/diagnostic.ts';
import { oil, parts, problemsOf, replaced, rightFiles, writeCatalogue } from './temporary-catalogue.ts';

/** A catalogue with a mistake in every file, and two in one. */
const wrongEverywhere = {
  'service.yaml': replaced(rightFiles['service.yaml'] as string, 'description', 'descripton'),
  'networks.yaml': replaced(rightFiles['networks.yaml'] as string, 'prefix: chain-e', 'prefix: Chain E'),
  'upstreams.yaml': replaced(rightFiles['upstreams.yaml'] as string, 'adapter: prices', 'adapter: price'),
  'schemas/prompt.yaml': 'type: string\nminLenght: 1\n',
  'endpoints/image/oil.yaml': replaced(replaced(oil, 'large: "0.1"', 'large: 0.1'), 'model: oil', 'model: ink'),
  'endpoints/image/water.yaml': 'summary: [A picture\n',
};

t.test('a right catalogue has no problems', async (t) => {
  t.same(problemsOf(writeCatalogue(t)), []);
});

t.test('every mistake of every file is reported at once, in the order of reading', async (t) => {
  const problems = problemsOf(writeCatalogue(t, wrongEverywhere));
  const places = problems.map((problem) => problem.split(':').slice(0, 2).join(':'));
  t.same(
    [...new Set(places)],
    [
      'endpoints/image/oil.yaml:3',
      'endpoints/image/oil.yaml:13',
      'endpoints/image/water.yaml:2',
      'networks.yaml:12',
      'schemas/prompt.yaml:2',
      'service.yaml:1',
      'service.yaml:2',
      'upstreams.yaml:8',
    ],
  );
});

t.test('loading refuses what checking refuses, with the same words', async (t) => {
  const directory = join(writeCatalogue(t, wrongEverywhere), 'catalogue');
  const { diagnostics, catalogue } = checkCatalogue(directory, parts);
  t.equal(catalogue, undefined);
  try {
    loadCatalogue(directory, parts);
    t.fail('loaded');
  } catch (error) {
    t.ok(error instanceof CatalogueErrors);
    t.same((error as CatalogueErrors).diagnostics, diagnostics);
    t.equal((error as CatalogueErrors).message.split('\n').length, diagnostics.length);
  }
});

t.test('a file that cannot be read does not bring up problems in the files that name its content', async (t) => {
  const problems = problemsOf(
    writeCatalogue(t, { 'upstreams.yaml': 'pictures: [\n', 'networks.yaml': 'chain-a: [\n' }),
  );
  t.same(
    problems.map((problem) => problem.split(':')[0]),
    ['networks.yaml', 'upstreams.yaml'],
  );
});

/** Every place of a value, from the outside in. */
const placesIn = (value: unknown, at: readonly string[] = []): (readonly string[])[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [[...at, key], ...placesIn(inner, [...at, key])])
    : [];

t.test('an endpoint is checked to its end, whichever of its keys is empty or left out', async (t) => {
  const places = placesIn(parse(oil));
  const spoilt = (place: readonly string[], isEmpty: boolean): string => {
    const endpoint = parse(oil);
    const last = place.at(-1) ?? '';
    const around = place.slice(0, -1).reduce((part, key) => part[key], endpoint);
    if (isEmpty) around[last] = null;
    else delete around[last];
    return stringify(endpoint);
  };
  const endpoints = places.flatMap((place) => [true, false].map((isEmpty) => spoilt(place, isEmpty)));
  const files = Object.fromEntries(
    endpoints.map((text, index) => [
      `endpoints/image/spoilt-${index}.yaml`,
      text.replace('path: /image/oil', `path: /image/spoilt-${index}`),
    ]),
  );
  const problems = problemsOf(writeCatalogue(t, files));
  t.ok(problems.some((problem) => problem.includes('the key upstream is missing; add upstream')));
  t.ok(problems.some((problem) => problem.includes('a schema must be a map')));
});
