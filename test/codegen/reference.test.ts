import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { differences, write } from '../../codegen/files.ts';
import { describeCatalogue } from '../../codegen/generate.ts';
import { endpointFileSchema, upstreamKeys } from '../../src/catalogue/files/endpoint.ts';
import { networksFileSchema } from '../../src/catalogue/files/networks.ts';
import { serviceFileSchema } from '../../src/catalogue/files/service.ts';
import { modelProperties, upstreamFileSchema } from '../../src/catalogue/files/upstreams.ts';
import { requestKeywords } from '../../src/catalogue/schemas/request-keywords.ts';
import { shipped } from '../../src/gateway/shipped.ts';
import { isJsonObject } from '../../src/json.ts';
import { parts, writeCatalogue } from '../catalogue/temporary-catalogue.ts';
import { wordsFor } from '../words-for.ts';

const readme = (directory: string, code: Parameters<typeof describeCatalogue>[1] = shipped): string =>
  describeCatalogue(directory, code).get('README.md') ?? '';

/** The rows of a section's tables, each as its cells. */
function rowsOf(text: string, title: string): string[][] {
  const [, section] = text.split(new RegExp(`^#+ ${title}$`, 'm'));
  const [own = ''] = (section ?? '').split(/^#/m);
  const rows = own.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The name of every key that a schema knows, however deep; a price in it is described elsewhere. */
function namesIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null || (isJsonObject(schema) && schema['x-part'] !== undefined))
    return [];
  const own = isJsonObject(schema) && isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  const { examples: _examples, default: _default, ...inner } = schema as Record<string, unknown>;
  return [...own, ...Object.values(inner).flatMap(namesIn)];
}

t.test('every key of every file is described, with its type and an example', async (t) => {
  const text = readme('catalogue');
  const sections: [string, unknown][] = [
    ['service.yaml', serviceFileSchema(shipped.rails)],
    ['networks.yaml', networksFileSchema],
    ['upstreams.yaml', [upstreamFileSchema, { properties: modelProperties }]],
    ['endpoints/&lt;group>/&lt;name>.yaml', endpointFileSchema(shipped.rails)],
    ['upstream', { properties: upstreamKeys }],
    ['schemas/&lt;name>.yaml', { properties: requestKeywords }],
    ...shipped.rules.map(({ name, options }): [string, unknown] => [name, options]),
    ...shipped.adapters.map(({ name, options, ...adapter }): [string, unknown] => [
      name,
      [
        options,
        'modelOptions' in adapter && adapter.modelOptions,
        'upstreamOptions' in adapter && adapter.upstreamOptions,
      ],
    ]),
    ...shipped.recipes.map(({ name, options }): [string, unknown] => [name, options]),
  ];
  for (const [title, schema] of sections) {
    const rows = rowsOf(text, title);
    const described = rows.map(([key = '']) => /([^.`]+)`$/.exec(key)?.[1]?.replace('[]', ''));
    for (const name of namesIn(schema)) t.ok(described.includes(name), `${title} describes ${name}`);
    for (const [key, type, , what, example] of rows) t.ok(type && what && example, `${title}, ${key}: all there`);
  }
});

t.test('examples are what the first file has that uses the key', async (t) => {
  const catalogue = join(writeCatalogue(t), 'catalogue');
  const text = readme(catalogue, parts);
  const exampleOf = (title: string, key: string) =>
    rowsOf(text, title)
      .find(([name]) => name === `\`${key}\``)
      ?.at(-1);
  t.equal(exampleOf('endpoints/&lt;group>/&lt;name>.yaml', 'path'), '`path: /image/oil`');
  t.equal(exampleOf('select', 'amounts'), '`amounts: { small: "0.05", large: "0.1" }`');
  t.equal(exampleOf('painter', 'models.<name>.kind'), '`kind: image`');
  t.equal(exampleOf('painter', 'upstream.input.<name>.from'), '`from: size`');
  t.equal(exampleOf('networks.yaml', 'confirmations'), '`confirmations: 12`', 'none has it: the schema has one');
  t.equal(readme(catalogue, parts), text, 'the same again');
});

t.test('the contents lead to every section', async (t) => {
  const text = readme('catalogue');
  const anchors = [...text.matchAll(/^#{2,} (.*)$/gm)].map(([, title = '']) =>
    title
      .replaceAll('&lt;', '')
      .toLowerCase()
      .replaceAll(/[^a-z0-9 _-]/g, '')
      .replaceAll(' ', '-'),
  );
  const [contents = ''] = text.split('\n## ');
  t.same(
    [...contents.matchAll(/\]\(#([^)]*)\)/g)].map(([, anchor]) => anchor),
    anchors,
  );
  t.equal(new Set(anchors).size, anchors.length, 'no two have the same name');
});

t.test('a change by hand is noticed, and other files in the catalogue are left alone', async (t) => {
  const catalogue = join(t.testdir(), 'catalogue');
  cpSync('catalogue', catalogue, { recursive: true });
  const file = join(catalogue, 'README.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace('What the service is called', 'What it is called'));
  const env = { ...process.env, TURNPIKE_CATALOGUE: catalogue };
  const checked = await new Promise<{ code: unknown; output: string }>((resolve) => {
    execFile(process.execPath, [...wordsFor('codegen/main.ts'), '--check'], { env }, (error, out, err) =>
      resolve({ code: error?.code, output: out + err }),
    );
  });
  t.match(checked, { code: 1, output: /catalogue\/README\.md: stale\n1 of \d+ files/ });
  const files = describeCatalogue(catalogue, shipped);
  t.same(write(catalogue, files, true), [{ path: 'README.md', state: 'stale' }]);
  t.same(differences(catalogue, files, true), []);
  t.equal(readFileSync(join(catalogue, 'service.yaml'), 'utf8'), readFileSync('catalogue/service.yaml', 'utf8'));
});

t.test('a catalogue without fragments is described like any other', async (t) => {
  const own = describeCatalogue('src/cli/init/templates/catalogue', shipped);
  t.match(own.get('README.md'), /## schemas/);
});
