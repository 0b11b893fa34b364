/** What `npm test` does first: tests as JavaScript, in the folder where `.taprc` looks for them. All of them, or those named. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { COMPILED } from './words-for.ts';

/** What tests start in processes of their own, beside the commands. */
const PROGRAMS = [
  'codegen/main.ts',
  'src/main.ts',
  'test/chaos/channel-gateway.ts',
  'test/credits/spender.ts',
  'test/own-fetch.ts',
  'test/sandbox/chains/short-lived.ts',
  'test/store/counter.ts',
  'test/store/sqlite-writer.ts',
];

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(folder, { encoding: 'utf8', recursive: true })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));

const named = process.argv.slice(2);
const tests = named.length > 0 ? named : filesIn('test', '.test.ts');

rmSync(COMPILED, { recursive: true, force: true });
await bundle(['test/preloaded.ts', ...tests, ...filesIn('src/cli', '.ts'), ...PROGRAMS], COMPILED);
