/** Loaded before every test. One that is run from its source, by name, needs somebody who reads TypeScript. */
import hooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import { setFlagsFromString } from 'node:v8';

// tap follows every promise, to tell which test an error that nobody catches belongs to. In a group it is the file whose turn
// it is (see `in-turn.ts`), and alone it ends the process. Measured: a tenth of a group's CPU.
const { createHook } = hooks;
const unfollowed = { enable: () => unfollowed, disable: () => unfollowed };
hooks.createHook = (callbacks) => (callbacks.destroy ? unfollowed : createHook(callbacks));
syncBuiltinESMExports();

// Most tests end before code that was compiled once more has paid for its compiling: a twelfth of their CPU time. Node 22 and
// later have no such option: they would not begin with it.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=500000');

if (process.argv[1]?.endsWith('.ts')) {
  await import('tsx');
  await import('./preloaded.ts');
} else {
  await import('../build/tests/test/preloaded.js');
}
