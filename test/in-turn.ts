/** Several files of tests in one process, one after the other: most of them take longer to load than to run. */
import { pathToFileURL } from 'node:url';
import root, { type Test } from 'tap';

let current: Test = root;

/** What a compiled file of tests gets for the `t` of tap: its own test. Outside of a group that is the process itself. */
export { current as default };

/** Of one file. */
const PATIENCE_MS = 600_000;

/** How long what the last file closed may take to end. Then something was left open, and this process would wait for it. */
const LAST_MS = 60_000;

/** Runs files of tests, each as one test: where they were compiled to, by their names. */
export async function inTurn(files: Readonly<Record<string, string>>): Promise<void> {
  // What nobody catches, rejected promises included, fails the file whose turn it is.
  process.on('uncaughtException', (error) => current.threw(error));
  for (const [name, compiled] of Object.entries(files)) {
    await root.test(name, { timeout: PATIENCE_MS }, async (t) => {
      current = t;
      await import(pathToFileURL(compiled).href);
    });
  }
  const giveUp = () => {
    process.stderr.write(`A test left something open: ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit(1);
  };
  setTimeout(giveUp, LAST_MS).unref();
}
