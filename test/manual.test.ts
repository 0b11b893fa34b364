/** What the manual names is there: pages, headings, files, commands and their options. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { preProcessFile } from 'typescript';
import { pages } from './manual.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

const withoutCode = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');

/** As Markdown's renderers name headings. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll('&lt;', '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .trim()
    .replaceAll(' ', '-');

const anchorsIn = (text: string): string[] =>
  [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));

t.test('every link of the manual leads to a page, a heading or a file', async (t) => {
  for (const [page, text] of pages) {
    for (const [, target = ''] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?|mailto):/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      t.ok(existsSync(file), `${page} links to ${target}`);
      if (anchor === undefined || !file.endsWith('.md')) continue;
      t.ok(anchorsIn(readFileSync(file, 'utf8')).includes(anchor), `${page} links to ${target}`);
    }
  }
});

t.test('every page can be reached from the first', async (t) => {
  const reached = new Set(['README.md']);
  for (const page of reached) {
    for (const [, target = ''] of (pages.get(page) ?? '').matchAll(/\]\(([^)\s#]+)/g)) {
      const file = join(dirname(page), target);
      if (pages.has(file)) reached.add(file);
    }
  }
  t.same(
    [...pages.keys()].filter((page) => !reached.has(page)),
    [],
  );
});

/** `npm run <name> -- <words>` and `npx --no turnpike <name> <words>`, with the page that they stand on. */
function* commands(): Generator<{ page: string; name: string; words: string }> {
  for (const [page, text] of pages) {
    // A command may go on in the next line of prose.
    for (const [, , name = '', words = ''] of text
      .replaceAll(/\n(?=run )/g, ' ')
      .matchAll(/(npm run|npx --no turnpike) ([a-z][a-z-]*)((?: +(?:--)?[^\s`]+)*)/g)) {
      yield { page, name, words };
    }
  }
}

/** The sources of a command: its file, the folder of its parts, and what it imports of other files. */
function sourcesOf(script: string): string {
  const [, file = ''] = /((?:src|test|codegen)\/[\w/-]+\.ts)$/.exec(script) ?? [];
  const own = file.endsWith('/main.ts') ? dirname(file) : file.replace(/\.ts$/, '');
  const parts = existsSync(own) ? readdirSync(own).map((name) => join(own, name)) : [];
  const imported = preProcessFile(readFileSync(file, 'utf8')).importedFiles.map(({ fileName }) => fileName);
  const beside = imported.filter((name) => name.startsWith('.')).map((name) => join(dirname(file), name));
  const files = [...new Set([file, ...parts, ...beside])].filter((path) => path.endsWith('.ts'));
  return files.map((path) => readFileSync(path, 'utf8')).join('\n');
}

t.test('nothing in the manual has a package of a registry run that may be anybody’s', (t) => {
  for (const [page, text] of pages)
    t.notMatch(text, /npx (--yes |-y )?turnpike|npm (i|install) (-\S+ )*turnpike\b(?!@npm:)/, page);
  t.end();
});

t.test('every command of the manual is there, with the options that it names', async (t) => {
  let checked = 0;
  for (const { page, name, words } of commands()) {
    if (!t.ok(name in scripts, `${page}: ${name} is a command`)) continue;
    for (const [, option = ''] of words.matchAll(/--([a-z][a-z-]+)/g)) {
      checked += 1;
      const declared = new RegExp(`\\b${option}['"]?: *(\\{|text\\b|[A-Z_]+\\b)`);
      t.match(sourcesOf(scripts[name] ?? ''), declared, `${page}: ${name} takes --${option}`);
    }
  }
  t.ok(checked > 20, 'commands with options were found');
});
