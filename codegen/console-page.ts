import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const NOTICE = 'Made from src/console/page by `npm run codegen`. Changes here are lost: change the sources.';

/** Packages whose code is in the bundle. */
const BUNDLED = ['preact', 'uplot'];

/**
 * Path below `generated/` -> text of the operator's console, whose sources are in `directory`: one script, one style
 * sheet, and the document that names both. Nothing inline, for a strict content security policy.
 */
export async function bundle(directory: string): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    entryPoints: { console: join(directory, 'main.tsx') },
    outdir: 'console',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    // Without this they are found by walking up from the sources, and so may be another project's.
    tsconfig: join(directory, 'tsconfig.json'),
    legalComments: 'none',
    banner: { js: `// ${NOTICE}`, css: `/* ${NOTICE} */` },
    logLevel: 'silent',
  });
  const licences = BUNDLED.map(
    (name) => `${name}\n\n${readFileSync(join('node_modules', name, 'LICENSE'), 'utf8').trim()}\n`,
  );
  const html = readFileSync(join(directory, 'index.html'), 'utf8');
  return new Map([
    ['console/index.html', html.replace('<!doctype html>\n', `$&<!-- ${NOTICE} -->\n`)],
    ['console/licences.txt', `${NOTICE}\n\n${licences.join('\n\n')}`],
    ...outputFiles.map(({ path, text }) => [`console/${path.split('/').at(-1)}`, text] as [string, string]),
  ]);
}
