/** The gateway's process in a few files, so that it starts in half the time: hundreds of small ones take long to load. */
import { symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The part of esbuild that is used here. */
interface Esbuild {
  build(options: object): Promise<unknown>;
}

interface Build {
  onLoad(
    files: { filter: RegExp },
    load: (file: { path: string }) => Promise<{ contents: string; loader: 'ts' }>,
  ): void;
}

/** Files that modules read beside themselves stay where they are. */
const ownAddresses = {
  name: 'own addresses',
  setup({ onLoad }: Build) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path))), loader: 'ts' };
    });
  },
};

/**
 * Writes a module, with all of the project that it imports, to a folder that does not exist yet, by what tsx itself
 * compiles with. Packages stay as they are installed. Answers the file to run.
 */
export async function bundle(entry: string, to: string): Promise<string> {
  const fromTsx = createRequire(createRequire(import.meta.url).resolve('tsx/package.json'));
  const { build }: Esbuild = fromTsx('esbuild');
  await build({
    entryPoints: [resolve(entry)],
    outdir: to,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    plugins: [ownAddresses],
    logLevel: 'error',
  });
  symlinkSync(resolve('node_modules'), join(to, 'node_modules'));
  return join(to, `${basename(entry, '.ts')}.mjs`);
}
