/** A page of instructions whose code is put, word for word, where the page says it belongs: into a copy of the project. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Test } from 'tap';
import { register } from 'tsx/esm/api';
import type { Input } from '../../src/catalogue/types.ts';
import { copySelling } from '../few-endpoints.ts';
import { typeErrors } from '../type-errors.ts';
import { isCompiled } from '../words-for.ts';

// The copy's modules are loaded from their sources.
if (isCompiled) register();

const COPIED = ['src', 'test', 'codegen', 'generated', 'package.json', 'tsconfig.json'];
/** Of what is sold: the page adds its own. */
const SOLD = ['image/family-e-2'];
const BLOCK = /^```(?:ts|yaml)\n((?:\/\/|#) (\S+\.(?:ts|yaml)).*\n[\s\S]*?)^```$/gm;

interface Project {
  readonly directory: string;
  /** The page's own text. */
  readonly text: string;
  /** A module of the copy; its type is that of the module here. */
  load<Module>(file: string): Promise<Module>;
  /** What is wrong with the page's own code in the eyes of the compiler. */
  typeErrors(): string[];
  /** Runs a test file of the page as a subtest. */
  runTest(t: Test, file: string): Promise<unknown>;
}

/** Does what the page says of files: new ones are written, lists of code get their lines, YAML that is there goes on. */
export function follow(t: Test, page: string): Project {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-page-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const part of COPIED) cpSync(part, join(directory, part), { recursive: true });
  copySelling(SOLD, join(directory, 'catalogue'));
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));

  const text = readFileSync(page, 'utf8');
  const written = [...text.matchAll(BLOCK)].map(([, code = '', file = '']) => {
    const path = join(directory, file);
    const there = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, there === undefined ? code : file.endsWith('.ts') ? listed(there, code) : `${there}\n${code}`);
    return path;
  });

  return {
    directory,
    text,
    load: (file) => import(join(directory, file)),
    typeErrors() {
      const code = written.filter((path) => path.endsWith('.ts'));
      return typeErrors(directory, code, { extends: './tsconfig.json' })
        .filter(({ file }) => code.includes(file))
        .map(({ file, message }) => `${file}: ${message}`);
    },
    runTest: (t, file) => t.spawn(process.execPath, ['--import=./test/preload.js', file], { cwd: directory }, file),
  };
}

/** The code of an index with further imports, and further names at the end of its list. */
function listed(code: string, lines: string): string {
  const [imports, names] = [/^import .*\n/gm, /^ {2}\w+,\n/gm].map((kind) => (lines.match(kind) ?? []).join(''));
  return code.replace(/^import /m, `${imports}import `).replace(/^\];$/m, `${names}];`);
}

/** The path and body of the call that the page pays for. */
export function paidCall({ text }: Project): { path: string; body: Input } {
  const [, path = '', body = ''] = /^npm run pay -- (\S+) '(.*)'/m.exec(text) ?? [];
  return { path, body: JSON.parse(body) };
}
