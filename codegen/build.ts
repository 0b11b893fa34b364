/**
 * `npm run build`: the gateway as JavaScript in few files, for production; `npm run start:built` runs it. Packages stay where
 * they are installed, and what is loaded when it is needed still is.
 */
import { copyFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { checkedCatalogue, saveChecked } from '../src/catalogue/checked.ts';
import { loadCatalogue } from '../src/catalogue/load.ts';
import { CatalogueErrors } from '../src/catalogue/yaml/diagnostic.ts';
import { shipped } from '../src/gateway/shipped.ts';
import { SOURCES, sourceOf } from '../src/start/built-from.ts';

/** Where `npm run start:built` looks for it. */
export const BUILT = join('build', 'gateway');

/** Read when it runs, each from beside what reads it. */
const READ = [
  'src/pricing/token-costs.json',
  'src/pricing/token-words.json',
  'src/sandbox/chains/AuthCaptureEscrow.json',
  'src/sandbox/chains/BatchSettlement.json',
  'src/sandbox/chains/Eip3009Collector.json',
  'src/sandbox/chains/Eip3009DepositCollector.json',
  'src/sandbox/chains/Eip3009Token.json',
  'src/sandbox/chains/UptoPermit2Proxy.json',
];

/**
 * Builds into `target`, two folders below the one that has `generated/`. Files of an earlier build are left: a gateway that
 * runs from it may load them yet. Throws CatalogueErrors.
 */
export async function buildGateway(target: string, catalogue: string): Promise<void> {
  // First of all, for of a catalogue that is refused nothing is built; and anew, for it is these checks that are built.
  const checked = checkedCatalogue();
  loadCatalogue(catalogue, shipped, checked);
  const { metafile } = await build({
    entryPoints: { main: 'src/built.ts', 'sqlite-worker': 'src/store/engines/sqlite-worker.ts' },
    outdir: target,
    metafile: true,
    bundle: true,
    splitting: true,
    chunkNames: 'part-[hash]',
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  });
  for (const file of READ) copyFileSync(file, join(target, basename(file)));
  const sources = [...Object.keys(metafile.inputs), ...READ].sort();
  writeFileSync(
    join(target, SOURCES),
    JSON.stringify(Object.fromEntries(sources.map((file) => [file, sourceOf(file)]))),
  );
  // What a first start would have to parse and check.
  saveChecked(join(target, 'checked-catalogue.json'), checked.news());
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await buildGateway(BUILT, process.env.TURNPIKE_CATALOGUE ?? 'catalogue');
    console.log(`${BUILT}: run it with npm run start:built`);
  } catch (problem) {
    if (!(problem instanceof CatalogueErrors)) throw problem;
    console.error(`${problem.message}\nthe gateway was not built anew; see all problems with: npm run check`);
    process.exitCode = 1;
  }
}
