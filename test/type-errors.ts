/** What the compiler says of programs that a test wrote. The native one: it takes a quarter of the other's time. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface TypeError {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

const FOUND = /^(\S.*?)\((\d+),\d+\): error TS\d+: (.*(?:\n[ \t].*)*)/gm;

/** Writes `tsconfig.only.json` into the directory, with these files alone and with `extending`, and compiles them together. */
export function typeErrors(directory: string, files: readonly string[], extending: object): TypeError[] {
  const config = join(directory, 'tsconfig.only.json');
  writeFileSync(config, JSON.stringify({ ...extending, files, include: [] }));
  const compiler = resolve('node_modules/typescript-native/bin/tsc');
  const ran = spawnSync(process.execPath, [compiler, '--pretty', 'false', '--project', config], {
    cwd: directory,
    encoding: 'utf8',
  });
  const found = [...ran.stdout.matchAll(FOUND)].map(([, file = '', line, message = '']) => ({
    file: resolve(directory, file),
    line: Number(line),
    message,
  }));
  if (found.length === 0 && ran.status !== 0) throw new Error(`the compiler failed: ${ran.stdout}${ran.stderr}`);
  return found;
}
