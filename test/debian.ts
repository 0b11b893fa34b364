import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Why a test that needs a program of Debian's cannot run here, for `t.test`'s `skip`; false where it can. */
export function missing(program: string, debianPackage = program): string | false {
  const paths = (process.env.PATH ?? '').split(delimiter);
  return !paths.some((path) => existsSync(join(path, program))) && `needs ${program}: apt-get install ${debianPackage}`;
}
