/** How Node is started with a module of the project in a process of its own. */
import { join } from 'node:path';

/** Where `test/compile.ts` puts what it compiles. */
export const COMPILED = 'build/tests';

/** The file that a module, named by its path in the project, is compiled to. */
export const compiled = (module: string): string => join(COMPILED, module.replace(/\.ts$/, '.js'));

/** Whether this runs compiled, too. */
export const isCompiled = !process.argv[1]?.endsWith('.ts');

/** What is bundled loads its packages before its own modules, and this has to be loaded before them. */
const OWN_FETCH = `--import=./${compiled('test/own-fetch.ts')}`;

/** As of the tests themselves, in `preload.js`. */
const COMPILED_ONCE = process.versions.node.startsWith('20.') ? ['--interrupt-budget=500000'] : [];

/**
 * The words for a module that is named by its path in the project: as it was compiled with the tests, or from its source
 * where this test is run from its own. What `test/compile.ts` does not compile cannot be started so.
 */
export const wordsFor = (module: string): string[] =>
  isCompiled ? [...COMPILED_ONCE, OWN_FETCH, compiled(module)] : ['--import=tsx', module];
