/** What `npm install` brings along. */
import { readFileSync } from 'node:fs';
import { minVersion, satisfies } from 'semver';
import t from 'tap';

interface Package {
  readonly version?: string;
  readonly optional?: boolean;
  readonly engines?: { readonly node?: string };
}

const read = (file: string) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'));
const { engines } = read('package.json') as { engines: { node: string } };
const { packages } = read('package-lock.json') as { packages: Record<string, Package> };
const oldest = minVersion(engines.node)?.version ?? '';

t.test('every package takes the oldest Node that the README promises, so that installing warns of none', async (t) => {
  t.match(
    readFileSync(new URL('../README.md', import.meta.url), 'utf8'),
    `Node ${oldest.replace(/\.0$/, '')} or newer`,
  );
  const refusing = Object.entries(packages).filter(
    ([, { optional, engines: needs }]) => !optional && needs?.node && !satisfies(oldest, needs.node),
  );
  t.same(
    refusing.map(([name, { engines: needs }]) => `${name} needs Node ${needs?.node}`),
    [],
  );
});
