import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';
import typescript from 'typescript';
import { SANDBOX_PACKAGES } from '../src/cli/init/project.ts';

/** Which layers a layer may import. Types count as well: a layer that needs another's types knows it. */
const allowed: Record<string, readonly string[]> = {
  ground: [],
  catalogue: ['ground'],
  pricing: ['ground', 'catalogue'],
  store: ['ground', 'catalogue'],
  credits: ['ground', 'catalogue', 'store'],
  upstream: ['ground', 'catalogue', 'store', 'metrics'],
  metrics: ['ground', 'store'],
  payment: ['ground', 'catalogue', 'store', 'metrics'],
  alerts: ['ground', 'catalogue', 'store', 'payment', 'upstream'],
  limits: ['ground', 'catalogue', 'store', 'metrics'],
  purchases: ['ground', 'catalogue', 'store', 'payment'],
  discovery: ['ground', 'catalogue'],
  // In a buyer's program, which has no gateway.
  client: ['ground'],
  rails: ['ground', 'catalogue', 'store', 'payment', 'discovery'],
  lifecycle: ['ground', 'catalogue', 'store', 'metrics', 'upstream', 'payment', 'limits'],
  'catalogue-diff': ['ground', 'catalogue'],
  books: ['ground', 'catalogue', 'store', 'payment'],
  console: ['ground', 'catalogue', 'catalogue-diff', 'store', 'metrics', 'credits', 'payment', 'books'],
  storefront: ['ground', 'catalogue', 'discovery', 'rails', 'payment'],
  mcp: ['ground', 'catalogue', 'store', 'upstream', 'payment', 'discovery', 'limits', 'lifecycle', 'purchases', 'http'],
  http: [
    'ground',
    'catalogue',
    'pricing',
    'store',
    'metrics',
    'credits',
    'upstream',
    'payment',
    'discovery',
    'rails',
    'lifecycle',
    'limits',
    'purchases',
    'storefront',
  ],
};
/** What puts all layers together; any other file that is in no folder is ground, like the folders of `GROUND`. */
const ABOVE = new Set(['built', 'cli', 'gateway', 'index', 'live', 'main', 'platform', 'sandbox', 'start', 'workers']);
const GROUND = new Set(['examples', 'on-chain', 'outgoing', 'request']);

const written = readdirSync('src', { recursive: true, encoding: 'utf8' });

/** These run in browsers: they are bundled into `generated/`, and nothing of them runs here. */
const BROWSERS = ['console/page/', 'sandbox/wallet/page/', 'storefront/browser/'];
const isPage = (name: string): boolean => BROWSERS.some((folder) => name.startsWith(folder));

const sources = written.filter((name) => /\.tsx?$/.test(name) && !isPage(name));

function layerOf(path: string): string {
  const [first = '', ...rest] = relative('src', path).split('/');
  const name = first.replace(/\.tsx?$/, '');
  if (GROUND.has(name)) return 'ground';
  return rest.length > 0 || ABOVE.has(name) ? name : 'ground';
}

const specifiers = new Map<string, readonly string[]>();

/** Specifiers of every import, as written. */
function specifiersOf(file: string): readonly string[] {
  const found =
    specifiers.get(file) ??
    typescript.preProcessFile(readFileSync(file, 'utf8')).importedFiles.map(({ fileName }) => fileName);
  specifiers.set(file, found);
  return found;
}

/** Own files that a file imports, from the top of the project. */
const importsOf = (file: string): string[] =>
  specifiersOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => relative('.', resolve(dirname(file), specifier)));

/** Names of the packages that a file imports. */
const packagesOf = (file: string): string[] =>
  specifiersOf(file)
    .filter((specifier) => !/^(\.|node:)/.test(specifier))
    .map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);

t.test('imports run one way, from the layers to app and main', (t) => {
  const wrong = sources.flatMap((name) => {
    const file = join('src', name);
    const layer = layerOf(file);
    const may = allowed[layer];
    if (!may) return [];
    const others = importsOf(file).filter((target) => target.startsWith('src/') && layerOf(target) !== layer);
    return others.filter((target) => !may.includes(layerOf(target))).map((target) => `${file} imports ${target}`);
  });
  t.same(wrong, []);
  t.end();
});

t.test('nothing but main imports the sandbox, and only when it runs', (t) => {
  const importing = sources
    .filter((source) => !source.startsWith('sandbox/'))
    .flatMap((name) => {
      const targets = importsOf(join('src', name)).filter((target) => target.startsWith('src/sandbox/'));
      return targets.map((target) => [name, target]);
    });
  t.same(importing, [['main.ts', 'src/sandbox/index.ts']]);
  t.match(readFileSync('src/main.ts', 'utf8'), /await import\('\.\/sandbox\/index\.ts'\)/);
  t.end();
});

/** `payer.ts` of a rail: a client that pays from the sandbox's wallet. */
const isPayer = (path: string): boolean => /^rails\/[^/]+\/payer\.ts$/.test(path);

t.test('nothing but the command that pays loads the payers, and only when it runs', (t) => {
  const isImporting = (name: string) => importsOf(join('src', name)).some((path) => isPayer(relative('src', path)));
  t.same(sources.filter(isImporting), []);
  t.match(readFileSync('src/cli/pay.ts', 'utf8'), /await import\(`\.\.\/rails\/\$\{protocol\}\/payer\.ts`\)/);
  t.end();
});

t.test(
  'pages share the shapes of what they are told, how cells, money, numbers and queries are written and what wallets sign for, and nothing else',
  (t) => {
    const isImporting = (name: string) => importsOf(join('src', name)).some((path) => isPage(relative('src', path)));
    t.same(sources.filter(isImporting), []);
    const page = written.filter((name) => isPage(name) && /\.tsx?$/.test(name)).map((name) => join('src', name));
    const shared = page.flatMap(importsOf).filter((target) => !isPage(relative('src', target)));
    t.same([...new Set(shared)].sort(), [
      'src/as-written.ts',
      'src/books/cells.ts',
      'src/client/asset.ts',
      'src/client/deposits.ts',
      'src/client/events.ts',
      'src/client/kept-channels.ts',
      'src/client/offers.ts',
      'src/client/problem.ts',
      'src/client/refund.ts',
      'src/client/sending.ts',
      'src/client/wallet.ts',
      'src/client/x402.ts',
      'src/console/figures.ts',
      'src/on-chain/escrow-contracts.ts',
      'src/paths.ts',
      'src/query-of.ts',
      'src/storefront/shown.ts',
      'src/storefront/wallets/shown-network.ts',
    ]);
    t.end();
  },
);

t.test('what the sandbox and the commands alone need is not installed in production', (t) => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const needed = (name: string) => !name.startsWith('sandbox/') && !name.startsWith('cli/') && !isPayer(name);
  const lacking = sources.filter(needed).flatMap((name) => {
    const missing = packagesOf(join('src', name)).filter((packageName) => !(packageName in dependencies));
    return missing.map((packageName) => `${name} imports ${packageName}`);
  });
  t.same(lacking, []);
  t.end();
});

t.test('a directory made by init installs what the sandbox and the commands import', (t) => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const name of SANDBOX_PACKAGES) t.ok(name in devDependencies, `${name} is a development package`);
  const codegen = readdirSync('codegen').filter((name) => /^(main|generate|files|types)\.ts$/.test(name));
  const files = [...sources.map((name) => join('src', name)), ...codegen.map((name) => join('codegen', name))];
  const isInstalled = (packageName: string) => packageName in dependencies || SANDBOX_PACKAGES.includes(packageName);
  const lacking = files.flatMap((file) => {
    const missing = packagesOf(file).filter((packageName) => !isInstalled(packageName));
    return missing.map((packageName) => `${file} imports ${packageName}`);
  });
  t.same(lacking, []);
  t.end();
});
