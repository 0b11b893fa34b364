/** The scripts and styles that browsers run, bundled: what the operator's console and the gateway's own pages load. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/** Sources in one directory, and where what is made of them goes, below `generated/`. */
interface Page {
  readonly name: string;
  readonly directory: string;
  readonly entry: string;
  /** Packages whose code is in the bundle. */
  readonly bundled: readonly string[];
}

export const pages: readonly Page[] = [
  { name: 'console', directory: 'src/console/page', entry: 'main.tsx', bundled: ['preact', 'uplot'] },
  { name: 'sandbox', directory: 'src/sandbox/wallet/page', entry: 'main.ts', bundled: [] },
  { name: 'storefront', directory: 'src/storefront/browser', entry: 'main.ts', bundled: ['preact'] },
];

const noticeOf = (directory: string): string =>
  `Made from ${directory} by \`npm run codegen\`. Changes here are lost: change the sources.`;

const licenceOf = (name: string): string =>
  `${name}\n\n${readFileSync(join('node_modules', name, 'LICENSE'), 'utf8').trim()}\n`;

/**
 * Path below `generated/` -> text: one style sheet, one script with what it loads later, the licences of what is in
 * them, and the document that names them where there is one. Nothing inline, for a strict content security policy.
 */
async function bundlePage({ name, directory, entry, bundled }: Page): Promise<[string, string][]> {
  const notice = noticeOf(directory);
  const { outputFiles } = await build({
    entryPoints: { [name === 'console' ? 'console' : 'main']: join(directory, entry) },
    outdir: name,
    write: false,
    bundle: true,
    splitting: true,
    chunkNames: 'part-[hash]',
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    // Without this they are found by walking up from the sources, and so may be another project's.
    tsconfig: join(directory, 'tsconfig.json'),
    legalComments: 'none',
    banner: { js: `// ${notice}`, css: `/* ${notice} */` },
    logLevel: 'silent',
  });
  const document = join(directory, 'index.html');
  return [
    ...outputFiles.map(({ path, text }): [string, string] => [`${name}/${basename(path)}`, text]),
    [`${name}/licences.txt`, `${notice}\n\n${bundled.map(licenceOf).join('\n\n')}`],
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
