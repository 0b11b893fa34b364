/** `npm pack`, `npm publish`: the sources as JavaScript with their types, in `dist/`. */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const OUT = 'dist';

/** Bundled, in `generated/console/`. */
const isPage = (path: string): boolean => path.startsWith(join('src', 'console', 'page'));

rmSync(OUT, { recursive: true, force: true });
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'codegen/package.tsconfig.json'], {
  stdio: 'inherit',
});
const page = join('generated', 'console');
cpSync(page, join(OUT, page), { recursive: true });
// What is read as a file: contracts, templates, the database's thread.
for (const entry of readdirSync('src', { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && !path.endsWith('.ts') && !isPage(path)) cpSync(path, join(OUT, path));
}
