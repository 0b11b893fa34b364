import { readdirSync } from 'node:fs';
import t from 'tap';
import { checkCatalogue } from '../../src/catalogue/load.ts';
import { openSchemaCompiler } from '../../src/catalogue/schemas/ajv.ts';
import { formatDiagnostic } from '../../src/catalogue/yaml/diagnostic.ts';
import { shipped } from '../../src/gateway/shipped.ts';
import { usd } from '../../src/money.ts';

const { catalogue, diagnostics } = checkCatalogue('catalogue', shipped);

const routeAt = (path: string) => {
  const route = catalogue?.routes.find((candidate) => candidate.path === path);
  if (!route) throw new Error(`no route at ${path}`);
  return route;
};

t.test('the shipped catalogue has no problems', async (t) => {
  t.same(diagnostics.map(formatDiagnostic), []);
  const files = readdirSync('catalogue/endpoints', { recursive: true, encoding: 'utf8' });
  t.equal(
    catalogue?.endpoints.length,
    files.filter((name) => name.endsWith('.yaml')).length,
    'and no file is left out',
  );
});

t.test('prices that depend on the request are those of the specification', async (t) => {
  const quote = (path: string, input: Record<string, unknown>) => routeAt(path).price.quote(input);
  t.equal(quote('/chain-e/image/family-a-2-pro', { prompt: 'fog' }), usd('0.06'));
  t.equal(quote('/mpp/image/family-e-2', { prompt: 'fog', resolution: '4k' }), usd('0.15'));
  t.equal(quote('/video/family-h-2.5', { prompt: 'fog', duration: 4, resolution: '480p' }), usd('0.48'));
  t.equal(quote('/audio/elevenlabs-music', { prompt: 'fog', music_length_ms: 180_000 }), usd('1.5'));
  t.same(routeAt('/audio/elevenlabs-music').listing, { price: usd('1.5'), minPrice: usd('1') });
});

t.test('mirrors of the tokens API wrap their results', async (t) => {
  for (const path of ['/chain-c-main/tokens-api/search', '/chain-e/tokens-api/search']) {
    t.match(routeAt(path).resultExample, { success: true, data: { query: 'usdc' } }, path);
  }
  t.match(routeAt('/tokens-api/search').resultExample, { query: 'usdc' });
});

t.test('an image of a custom size needs both sides, and no other image takes them', async (t) => {
  const validate = openSchemaCompiler().compile(routeAt('/chain-e/image/family-a-2-pro').request);
  const accepts = (input: Record<string, unknown>) => validate({ prompt: 'fog', ...input });
  t.ok(accepts({}));
  t.ok(accepts({ aspect_ratio: 'custom', width: 256, height: 2048 }));
  t.notOk(accepts({ aspect_ratio: 'custom', width: 256 }));
  t.notOk(accepts({ aspect_ratio: '16:9', width: 256, height: 256 }));
  t.notOk(accepts({ width: 256 }));
  t.notOk(accepts({ aspect_ratio: 'custom', width: 260, height: 256 }), 'sides are multiples of 16');
});

t.test('a token is resolved by exactly one of mint and ref', async (t) => {
  const validate = openSchemaCompiler().compile(routeAt('/tokens-api/resolve').request);
  const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  t.ok(validate({ mint }));
  t.ok(validate({ ref: 'usdc' }));
  t.notOk(validate({}));
  t.notOk(validate({ mint, ref: 'usdc' }));
});

t.test('no two networks share a chain or an asset', async (t) => {
  const live = [...(catalogue?.networks.values() ?? [])].map(
    (network) => `${network.live.caip2} ${network.live.asset.address}`,
  );
  t.equal(new Set(live).size, live.length);
  const sandbox = [...(catalogue?.networks.values() ?? [])].map((network) => network.sandbox.caip2);
  t.equal(new Set(sandbox).size, sandbox.length);
});
