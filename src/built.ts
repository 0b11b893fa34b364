/** Where a gateway that was built starts: one that is out of date with its sources does not. */
import { join } from 'node:path';
import { changedSource } from './built-from.ts';

const changed = changedSource(import.meta.dirname, join(import.meta.dirname, '..', '..'));
if (changed === undefined) {
  await import('./main.ts');
} else {
  process.stderr.write(`the build is not of the sources that are here: ${changed} is another; run npm run build\n`);
  process.exitCode = 1;
}
