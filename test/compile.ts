/** What `npm test` does first: tests as JavaScript, and groups of them, where `.taprc` looks for tests. All of them, or those named. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { COMPILED, compiled } from './words-for.ts';

/** What tests start in processes of their own, or these load, beside the commands; and what runs a group. */
const PROGRAMS = [
  'codegen/main.ts',
  'src/client/index.ts',
  'src/main.ts',
  'test/chaos/channel-gateway.ts',
  'test/command-host.ts',
  'test/credits/spender.ts',
  'test/in-turn.ts',
  'test/own-fetch.ts',
  'test/sandbox/chains/short-lived.ts',
  'test/store/figures/counter.ts',
  'test/store/engines/sqlite-writer.ts',
  'test/workers/half-started.ts',
];

/** Files of tests that share a process. Measured: a file costs a second of CPU less, and two where it starts a gateway. */
const GROUP = 16;

/** The last groups are smaller, so that all end at about the same time: this many work side by side. */
const SIDE_BY_SIDE = 8;
const LEAST = 3;

/** In a process of their own, before all others: each takes as long as a whole group. */
const ALONE = 'test/model/';

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(folder, { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file))
    .sort();

function sizesOf(files: number): number[] {
  if (files === 0) return [];
  const size = Math.min(files, GROUP, Math.max(LEAST, Math.ceil(files / SIDE_BY_SIDE)));
  return [size, ...sizesOf(files - size)];
}

/** Neighbours are alike, in how long they take as well: each group has some of everything. */
function writeGroups(tests: readonly string[]): void {
  const alone = tests.filter((file) => file.startsWith(ALONE));
  const others = tests.filter((file) => !file.startsWith(ALONE));
  const sizes = sizesOf(others.length);
  // Each group gets one, then each that is not full yet another.
  const takers = Array.from({ length: GROUP }, (_, full) =>
    sizes.flatMap((size, group) => (size > full ? [group] : [])),
  );
  const groupAt = takers.flat();
  const grouped = sizes.map((_, group) => others.filter((_, place) => groupAt[place] === group));
  mkdirSync(join(COMPILED, 'groups'));
  for (const [place, group] of [...alone.map((file) => [file]), ...grouped].entries()) {
    const files = Object.fromEntries(group.map((file) => [file, compiled(file)]));
    writeFileSync(
      join(COMPILED, 'groups', `${String(place + 1).padStart(2, '0')}.test.js`),
      `import { inTurn } from '../test/in-turn.js';\n\nawait inTurn(${JSON.stringify(files, null, 2)});\n`,
    );
  }
}

const named = process.argv.slice(2);
const tests = named.length > 0 ? named : filesIn('test', '.test.ts');

rmSync(COMPILED, { recursive: true, force: true });
await bundle(['test/preloaded.ts', ...tests, ...filesIn('src/cli', '.ts'), ...PROGRAMS], COMPILED);
writeGroups(tests);
