/** Commands of the project in processes of their own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { wordsFor } from './words-for.ts';

export interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

/** `npm run` with these words, in a process group of its own that is led by it. */
export const start = (
  environment: Record<string, string>,
  words: readonly string[] = ['start'],
  directory = '.',
): Run => startProgram('npm', ['run', '--silent', ...words], environment, directory);

/** What `npm start` starts, without npm and compiled with the tests: it begins in a third of the time. */
export const startMain = (environment: Record<string, string>, directory?: string): Run =>
  startProgram(process.execPath, wordsFor('src/main.ts'), environment, directory);

/** Any program in the same way. */
export function startProgram(
  program: string,
  words: readonly string[],
  environment: Record<string, string>,
  directory = '.',
): Run {
  const child = spawn(program, words, {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...environment },
    cwd: directory,
    detached: true,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output: () => text, ended };
}

/** Waits until the output has it, or the process has ended. */
export async function printed({ child, output, ended }: Run, pattern: RegExp): Promise<string> {
  const streams = [child.stdout, child.stderr];
  await new Promise<void>((resolve) => {
    const done = () => {
      for (const stream of streams) stream?.off('data', look);
      resolve();
    };
    const look = () => {
      if (pattern.test(output())) done();
    };
    for (const stream of streams) stream?.on('data', look);
    ended.then(done);
    look();
  });
  return output();
}

/** Processes of a group, which is what a terminal's Ctrl-C reaches. */
export function groupOf(leader: number): string[] {
  const lines = execFileSync('ps', ['-eo', 'pgid=,pid=,args='], { encoding: 'utf8' }).split('\n');
  // What has ended does nothing any more: it has no arguments, and stands in brackets.
  const alive = lines.filter((line) => !/^ *\d+ +\d+ +\[/.test(line));
  return alive.filter((line) => Number(line.trim().split(/\s+/)[0]) === leader);
}
