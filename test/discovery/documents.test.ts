import t from 'tap';
import type { OpenApiDocument } from '../../src/discovery/openapi.ts';
import type { ResourceList } from '../../src/rails/x402/documents/resources.ts';
import type { WellKnownX402 } from '../../src/rails/x402/documents/well-known.ts';
import { documentsOf, parts, read as readOf } from './samples.ts';

const documents = documentsOf();
const read = <Content>(path: string): Content => readOf(documents, path);

t.test('has every document at its path, with its media type', async (t) => {
  t.same(
    [...documents].map(([path, { type }]) => [path, type]),
    [
      ['/x402-resources', 'application/json'],
      ['/.well-known/x402', 'application/json'],
      ['/openapi/x402.json', 'application/json'],
      ['/openapi.json', 'application/json'],
      ['/openapi-all.json', 'application/json'],
      ['/llms.txt', 'text/plain; charset=utf-8'],
      ['/server.json', 'application/json'],
      ['/.well-known/mcp/server-card.json', 'application/json'],
      ['/robots.txt', 'text/plain; charset=utf-8'],
      ['/icon.svg', 'image/svg+xml'],
      ['/favicon.ico', 'image/svg+xml'],
    ],
  );
});

t.test('an etag changes with the content and with nothing else', async (t) => {
  const etags = (more: Partial<typeof parts>) => documentsOf(more).get('/x402-resources')?.etag;
  t.equal(etags({}), documents.get('/x402-resources')?.etag);
  t.not(etags({ routes: parts.routes.slice(1) }), documents.get('/x402-resources')?.etag);
});

t.test('all documents of the x402 surface tell of the same resources at the same prices', async (t) => {
  const { resources } = read<ResourceList>('/x402-resources');
  const paths = resources.map(({ slug }) => `/${slug}`);
  t.same(
    read<WellKnownX402>('/.well-known/x402').resources,
    paths.map((path) => `https://shop.example${path}`),
  );
  const { paths: described } = read<OpenApiDocument>('/openapi/x402.json');
  t.same(Object.keys(described), paths);
  const text = String(documents.get('/llms.txt')?.body);
  for (const { slug, pricing, method } of resources) {
    const [offer] = described[`/${slug}`]?.[method === 'GET' ? 'get' : 'post']?.['x-payment-info'].offers ?? [];
    t.equal(Number(offer?.amount) / 1e6, Number(pricing.amount), slug);
    t.match(text, `/${slug}`);
  }
});

t.test('whom to tell of a weakness stands where service.yaml says it', async (t) => {
  const security = { contact: ['mailto:security@shop.example'], policy: 'https://shop.example/reports' };
  const path = '/.well-known/security.txt';
  t.notOk(documents.has(path), 'nobody to tell, no document');
  const text = String(documentsOf({ service: { ...parts.service, security } }).get(path)?.body);
  const [contact, expires = '', ...more] = text.trimEnd().split('\n');
  t.equal(contact, 'Contact: mailto:security@shop.example');
  const days = (Date.parse(expires.replace('Expires: ', '')) - Date.now()) / 86_400_000;
  t.ok(days > 90 && days < 365, expires);
  t.same(more, ['Policy: https://shop.example/reports', `Canonical: https://shop.example${path}`]);
});

t.test('every document leads to the MCP server, and the registry takes what describes it', async (t) => {
  const mcp = 'https://shop.example/mcp';
  t.equal(read<{ mcp: string }>('/x402-resources').mcp, mcp);
  t.has(read<OpenApiDocument>('/openapi.json'), { 'x-service-info': { mcp } });
  t.match(String(documents.get('/llms.txt')?.body), `- ${mcp}: the MCP server`);
  const server = read<{ name: string; description: string; version: string; remotes: object[] }>('/server.json');
  // Source: registry.modelcontextprotocol.io, server.schema.json of 2025-12-11.
  t.match(server.name, /^example\.shop\/[a-zA-Z0-9][a-zA-Z0-9._-]*$/);
  t.ok(server.description.length > 0 && server.description.length <= 100);
  t.match(server.version, /^[0-9]+\.[0-9]+\.[0-9]+$/);
  t.same(server.remotes, [{ type: 'streamable-http', url: mcp }]);
  t.same(read('/.well-known/mcp/server-card.json'), server);
});
