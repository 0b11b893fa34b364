/** The scripts and styles that browsers run, bundled: what the operator's console and the gateway's own pages load. */
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Metafile } from 'esbuild';

/** Sources in one directory, and where what is made of them goes, below `generated/`. */
interface Page {
  readonly name: string;
  readonly directory: string;
  readonly entry: string;
}

export const pages: readonly Page[] = [
  { name: 'console', directory: 'src/console/page', entry: 'main.tsx' },
  { name: 'sandbox', directory: 'src/sandbox/wallet/page', entry: 'main.ts' },
  { name: 'storefront', directory: 'src/storefront/browser', entry: 'main.ts' },
];

const noticeOf = (directory: string): string =>
  `Made from ${directory} by \`npm run codegen\`. Changes here are lost: change the sources.`;

/** The package that a bundled file is of: where it is, and its name. */
const PACKAGE = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)(?=\/)/;

function licenceOf(directory: string): string {
  const file = join(directory, 'LICENSE');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const { license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  return `Licence: ${license}`;
}

/** The licences of all packages of which something is in the bundle, each text once. */
function licencesOf({ outputs }: Metafile): string {
  const names = new Map<string, Set<string>>();
  for (const { inputs } of Object.values(outputs)) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const [directory, name] = PACKAGE.exec(file) ?? [];
      if (directory === undefined || name === undefined || bytesInOutput === 0) continue;
      const text = licenceOf(directory);
      names.set(text, (names.get(text) ?? new Set()).add(name));
    }
  }
  return [...names]
    .map(([text, packages]) => `${[...packages].sort().join(', ')}\n\n${text}\n`)
    .sort()
    .join('\n\n');
}

/**
 * Path below `generated/` -> text: one style sheet, one script with what it loads later, the licences of what is in
 * them, and the document that names them where there is one. Nothing inline, for a strict content security policy.
 */
async function bundlePage({ name, directory, entry }: Page): Promise<[string, string][]> {
  const notice = noticeOf(directory);
  const { outputFiles, metafile } = await build({
    entryPoints: { [name === 'console' ? 'console' : 'main']: join(directory, entry) },
    outdir: name,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    chunkNames: 'part-[hash]',
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    // The names of parts are made of paths, which have to be the same where all packages are linked from elsewhere. Where
    // each is a link, as pnpm makes them, what it needs is found beside where that leads.
    preserveSymlinks: lstatSync('node_modules', { throwIfNoEntry: false })?.isSymbolicLink() ?? false,
    // Without this they are found by walking up from the sources, and so may be another project's.
    tsconfig: join(directory, 'tsconfig.json'),
    legalComments: 'none',
    banner: { js: `// ${notice}`, css: `/* ${notice} */` },
    logLevel: 'silent',
  });
  const licences = licencesOf(metafile);
  const document = join(directory, 'index.html');
  return [
    ...outputFiles.map(({ path, text }): [string, string] => [`${name}/${basename(path)}`, text]),
    ...(licences === '' ? [] : [[`${name}/licences.txt`, `${notice}\n\n${licences}`] satisfies [string, string]]),
    ...(existsSync(document)
      ? [
          [
            `${name}/index.html`,
            readFileSync(document, 'utf8').replace('<!doctype html>\n', `$&<!-- ${notice} -->\n`),
          ] satisfies [string, string],
        ]
      : []),
  ];
}

/** Path below `generated/` -> text, of every page. */
export async function bundlePages(): Promise<Map<string, string>> {
  return new Map((await Promise.all(pages.map(bundlePage))).flat());
}
