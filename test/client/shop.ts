/** A directory like a buyer's, where `turnpike/client` is the one of these sources. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { typeErrors } from '../type-errors.ts';
import { compiled, isCompiled, wordsFor } from '../words-for.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function runNode(words: readonly string[], cwd: string, environment: Readonly<Record<string, string>>): Promise<Ran> {
  const env = { PATH: process.env.PATH, ...environment };
  return new Promise((done) => {
    execFile(process.execPath, words, { cwd, env }, (error, out, err) => done({ code: error ? 1 : 0, out, err }));
  });
}

/** A program of a buyer's. */
export function runProgram(
  program: string,
  { cwd, environment }: { cwd: string; environment: Readonly<Record<string, string>> },
): Promise<Ran> {
  const loader = pathToFileURL(resolve('node_modules/tsx/dist/loader.mjs')).href;
  return runNode([`--import=${loader}`, program], cwd, environment);
}

/** `turnpike client` with these words. */
export const writeClient = (...words: string[]): Promise<Ran> =>
  runNode([...wordsFor('src/cli/client.ts'), ...words], '.', {});

const COMPILER = {
  target: 'ES2023',
  lib: ['ES2023', 'DOM', 'DOM.AsyncIterable'],
  module: 'NodeNext',
  moduleResolution: 'NodeNext',
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
};

const compilerWith = (client: string) => ({ ...COMPILER, paths: { 'turnpike/client': [resolve(client)] } });

export interface Shop {
  readonly directory: string;
  /** What the compiler says of programs in this directory, in their order. */
  typeErrors(programs: readonly string[]): string[][];
}

/** With the client of the gateway at `url` as `gateway.ts`. */
export async function openShop(t: Test, url: string, ...words: string[]): Promise<Shop> {
  const source = 'src/client/index.ts';
  const directory = t.testdir({
    'package.json': JSON.stringify({ type: 'module' }),
    'tsconfig.json': JSON.stringify({ compilerOptions: compilerWith(isCompiled ? compiled(source) : source) }),
  });
  const { code, err } = await writeClient('--url', url, '--out', join(directory, 'gateway.ts'), ...words);
  t.equal(code, 0, err);
  return {
    directory,
    typeErrors(programs) {
      const files = programs.map((program, at) => {
        const file = join(directory, `program-${at}.ts`);
        writeFileSync(file, program);
        return file;
      });
      const found = typeErrors(directory, files, { compilerOptions: compilerWith(source) });
      return files.map((file) => found.filter((each) => each.file === file).map(({ message }) => message));
    },
  };
}
