import { type ExecFileOptions, execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import type { Test } from 'tap';
import t from 'tap';
import { differences, write } from '../../codegen/files.ts';
import { generate } from '../../codegen/generate.ts';
import { bundlePages } from '../../codegen/pages.ts';
import { oil, parts, writeCatalogue } from '../catalogue/temporary-catalogue.ts';
import { wordsFor } from '../words-for.ts';

const FILE = 'endpoints/image/oil.yaml';

const generated = (t: Test, endpoint: string = oil) =>
  generate(join(writeCatalogue(t, { [FILE]: endpoint }), 'catalogue'), parts);

/** Path -> text. */
const filesIn = (directory: string): Map<string, string> =>
  new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [relative(directory, path), readFileSync(path, 'utf8')]),
  );

/** Runs the command on the shipped catalogue. */
const codegen = (target: string, ...args: string[]) =>
  run([...wordsFor('codegen/main.ts'), ...args], { env: { ...process.env, TURNPIKE_GENERATED: target } });

function run(words: readonly string[], options: ExecFileOptions): Promise<{ code: number; output: string }> {
  return new Promise((done) => {
    execFile(process.execPath, words, options, (error, stdout, stderr) => {
      done({ code: error ? Number(error.code) : 0, output: `${stdout}${stderr}` });
    });
  });
}

/** The same word where it is not this project's directory that a program starts in. */
function fromElsewhere(word: string): string {
  if (word === '--import=tsx') return `--import=${import.meta.resolve('tsx')}`;
  if (word.startsWith('--import=./')) return `--import=${pathToFileURL(word.slice('--import='.length)).href}`;
  return word.startsWith('--') ? word : resolve(word);
}

t.test('what is committed is what the catalogue says', async (t) => {
  const { code, output } = await codegen('generated', '--check');
  t.equal(code, 0, output);
});

t.test('the check names stale, missing and left-over files, and the command that mends them', async (t) => {
  const target = t.testdir();
  cpSync('generated', target, { recursive: true });
  writeFileSync(join(target, 'endpoints/image/family-e-2.ts'), 'changed');
  rmSync(join(target, 'schemas/image-result.ts'));
  writeFileSync(join(target, 'schemas/gone.ts'), '');

  const { code, output } = await codegen(target, '--check');
  t.equal(code, 1);
  t.match(output, 'endpoints/image/family-e-2.ts: stale');
  t.match(output, 'schemas/image-result.ts: missing');
  t.match(output, 'schemas/gone.ts: left-over');
  t.match(output, 'npm run codegen');
  t.equal(readFileSync(join(target, 'endpoints/image/family-e-2.ts'), 'utf8'), 'changed', 'checking changes nothing');

  t.equal((await codegen(target)).code, 0);
  t.same(filesIn(target), filesIn('generated'), 'the command mends them');
});

t.test('what browsers load is small, the same each time, and nothing in it is inline or from elsewhere', async (t) => {
  const files = await bundlePages();
  const committed = filesIn('generated');
  for (const [path, text] of files) t.ok(text === committed.get(path), `${path} is the same as what is committed`);
  const html = String(files.get('console/index.html'));
  t.notMatch(html, /<style|<script(?![^>]* src=)|\son\w+=|\sstyle=|https?:/);
  for (const [path, text] of files) if (path.endsWith('.css')) t.notMatch(text, /url\(|@import/, path);
  const sizeOf = (folder: string): number =>
    [...files]
      .filter(([path]) => path.startsWith(folder) && path.endsWith('.js'))
      .reduce((sum, [, text]) => sum + brotliCompressSync(text).length, 0);
  t.ok(sizeOf('console/') < 80_000, `the console: ${sizeOf('console/')} bytes compressed`);
  t.ok(sizeOf('storefront/') < 170_000, `the pages: ${sizeOf('storefront/')} bytes compressed`);
});

t.test('pages are made where each package is a link, and has what it needs beside where that leads', async (t) => {
  const page = (text: string) => ({ 'tsconfig.json': '{}', 'main.ts': text, 'main.tsx': text });
  const placed = (text: string) => ({ 'package.json': '{"type":"module","license":"MIT"}', 'index.js': text });
  const directory = t.testdir({
    src: {
      console: { page: page("import { word } from 'asked';\nconsole.log(word);\n") },
      sandbox: { wallet: { page: page('') } },
      storefront: { browser: page('') },
    },
    node_modules: {
      asked: t.fixture('symlink', '.pnpm/asked@1.0.0/node_modules/asked'),
      '.pnpm': {
        'asked@1.0.0': {
          node_modules: {
            asked: placed("export * from 'needed';\n"),
            needed: placed("export const word = 'needed';\n"),
          },
        },
      },
    },
  });
  cpSync('catalogue', join(directory, 'catalogue'), { recursive: true });
  const { code, output } = await run(wordsFor('codegen/main.ts').map(fromElsewhere), { cwd: directory });
  t.equal(code, 0, output);
  t.match(readFileSync(join(directory, 'generated/console/console.js'), 'utf8'), '"needed"');
  t.match(readFileSync(join(directory, 'generated/console/licences.txt'), 'utf8'), /^needed$/m);
});

t.test('generating twice gives the same bytes', async (t) => {
  t.same(await generated(t), await generated(t));
});

t.test('writing changes only what differs', async (t) => {
  const target = t.testdir();
  const files = new Map([['a/b.ts', 'one\n']]);
  t.same(write(target, files), [{ path: 'a/b.ts', state: 'missing' }]);
  t.same(write(target, files), []);
  t.same(differences(target, new Map()), [{ path: 'a/b.ts', state: 'left-over' }]);
});

t.test('a request has its defaults, a result is the fragment it is', async (t) => {
  const types = (await generated(t)).get('endpoints/image/oil.ts');
  t.match(types, /prompt: string;/);
  t.match(types, /size: 'small' \| 'large';/);
  t.match(types, "export type { Picture as Result } from '../../schemas/picture.ts';");
});

t.test('mirrors and MPP operations with requests of their own have types of their own', async (t) => {
  const own =
    'request: { required: [prompt], properties: { prompt: { $ref: prompt }, size: { type: string, enum: [small, large], default: large } } }';
  const files = await generated(
    t,
    `${oil}mirrors: [{ network: chain-e, ${own} }]\nmpp: { operationId: paint, tag: Pictures, ${own} }\n`,
  );
  t.match(files.get('endpoints/image/oil.ts'), 'export interface ChainERequest {');
  t.match(files.get('endpoints/image/oil.ts'), 'export interface MppRequest {');
});

t.test('every generated file names the command that makes it', async (t) => {
  for (const [path, text] of await generated(t)) {
    // A list has no place for words.
    if (path !== 'patterns.json') t.match(text.split('\n').slice(0, 2).join(), 'npm run codegen', path);
  }
});

t.test('nothing is generated from a catalogue with problems', async (t) => {
  await t.rejects(generated(t, oil.replace('model: oil', 'model: ink')), { name: 'CatalogueErrors' });
});
