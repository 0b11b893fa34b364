/** `npm pack`, `npm publish`: the sources as JavaScript with their types, in `dist/`. */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildGateway } from './build.ts';
import { pages } from './pages.ts';

const OUT = 'dist';

/** Bundled, in `generated/`. */
const isBundled = (path: string): boolean => pages.some(({ directory }) => path.startsWith(join(directory)));

rmSync(OUT, { recursive: true, force: true });
execFileSync(process.execPath, ['node_modules/typescript-native/bin/tsc', '-p', 'codegen/package.tsconfig.json'], {
  stdio: 'inherit',
});
for (const { name } of pages) {
  const bundle = join('generated', name);
  cpSync(bundle, join(OUT, bundle), { recursive: true });
}
// What is read as a file: contracts, templates, the database's thread.
for (const entry of readdirSync('src', { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && !/\.tsx?$/.test(path) && !isBundled(path)) cpSync(path, join(OUT, path));
}
// `turnpike start` runs the gateway in few files.
await buildGateway(join(OUT, 'src', 'bundled'), 'catalogue');
writeFileSync(join(OUT, 'src', 'main.js'), "import './bundled/main.js';\n");
