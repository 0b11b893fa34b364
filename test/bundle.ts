/** Modules of the project in few files: hundreds of small ones, compiled as they are imported, take long to load. */
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const THREAD = 'src/store/engines/sqlite-worker.ts';
/** What starts a thread from the file of this name beside itself, and processes from itself. */
const STARTERS = ['src/store/engines/sqlite-thread.ts', 'src/main.ts', 'test/workers/half-started.ts'].map((path) =>
  resolve(path),
);

/** Packages of many small files, which are bundled with what imports them. All others stay where they are installed. */
const BUNDLED =
  /^(?:viem|ox|abitype|@noble|@scure|@x402|@coinbase\/x402|x402-fetch|mppx|zod|@modelcontextprotocol)(?:\/|$)/;

const IN_TURN = resolve('test/in-turn.ts');
const LOOKING = Symbol('looking');

const packages: Plugin = {
  name: 'packages',
  setup({ onResolve, resolve: find }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
      if (pluginData === LOOKING || BUNDLED.test(path)) return undefined;
      // Which test is the one to add to is not the same all the time in a process that has many files of tests.
      if (path === 'tap' && importer !== IN_TURN && kind === 'import-statement') return { path: IN_TURN };
      if (!importer.includes('node_modules')) return { path, external: true };
      // A package may have another version of what it needs to itself.
      const found = await find(path, { kind, resolveDir, pluginData: LOOKING });
      return found.path.split('/node_modules/').length > 2 ? found : { path, external: true };
    });
  },
};

/** What modules read beside themselves stays where it is, but for what they start. */
const ownAddresses = (to: string): Plugin => ({
  name: 'own addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      const place = STARTERS.includes(path) ? resolve(to, relative('.', path).replace(/\.ts$/, '.js')) : path;
      const text = (await readFile(path, 'utf8'))
        .replaceAll(/import\.meta\.url/g, JSON.stringify(pathToFileURL(place)))
        .replaceAll(/import\.meta\.dirname/g, JSON.stringify(dirname(place)));
      return { contents: text, loader: path.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
});

/**
 * Writes modules to a folder, as JavaScript under their paths in the project and with all of the project that they import.
 * Answers the files, in the modules' order.
 */
export async function bundle(modules: readonly string[], to: string): Promise<string[]> {
  await build({
    entryPoints: [...modules, THREAD],
    outdir: to,
    outbase: '.',
    chunkNames: 'parts/[hash]',
    bundle: true,
    splitting: true,
    sourcemap: true,
    sourcesContent: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [packages, ownAddresses(to)],
    logLevel: 'error',
  });
  return modules.map((path) => join(to, path.replace(/\.ts$/, '.js')));
}
