/** What the published packages of others make of every challenge and of the documents. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkL2ForOpenAPI,
  discoverOriginSchema,
  getL3ForOpenAPI,
  getOpenAPI,
  getWarningsForL3,
  getWarningsForOpenAPI,
  isOpenApiParseFailure,
  validatePaymentRequiredDetailed,
} from '@agentcash/discovery';
import { ResourceInfoSchema } from '@x402/core/schemas';
import { validateAndExtract, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar';
import { PAYMENT_IDENTIFIER, validatePaymentIdentifier } from '@x402/extensions/payment-identifier';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t from 'tap';
import { answerSchema } from '../../src/discovery/schemas.ts';
import { addAtlas } from '../atlas-catalogue.ts';
import { startGateway } from '../gateway.ts';
import { loadSound } from '../load-catalogue.ts';

const KEYWORDS = ['agents', 'market data'];

const catalogue = mkdtempSync(join(tmpdir(), 'turnpike-catalogue-'));
t.teardown(() => rmSync(catalogue, { recursive: true, force: true }));
cpSync('catalogue', catalogue, { recursive: true });
const serviceFile = join(catalogue, 'service.yaml');
writeFileSync(serviceFile, `${readFileSync(serviceFile, 'utf8')}openapi: { x402: true }\nkeywords: [${KEYWORDS}]\n`);

addAtlas(catalogue);

const { routes, networks } = loadSound(catalogue);
const sold = routes.filter(({ rail }) => rail === 'x402');
const gateway = await startGateway({ catalogue, networks: [...networks.keys()] });
t.teardown(gateway.stop);

/** What every route answers to who has not paid, in its header. */
const challenges = await Promise.all(
  sold.map(async (route) => {
    const { status, headers } = await fetch(gateway.url + route.path, { method: route.methods[0] ?? 'POST' });
    const header = headers.get('payment-required') ?? '';
    return { route, status, header, challenge: JSON.parse(Buffer.from(header, 'base64').toString() || '{}') };
  }),
);

/** Each of the values once: many routes say the same, and a validator is made anew for every look. */
const distinct = <Value>(values: readonly Value[]): Value[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];

t.test("the extensions of every route's 402 are right in the eyes of the package that defines them", async (t) => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  for (const { route, status, header, challenge } of challenges) {
    t.equal(status, 402, route.path);
    t.ok(header.length < 8192, `${route.path} has a header of ${header.length} bytes`);
    const { bazaar } = challenge.extensions;
    const { example } = bazaar.schema.properties.output.properties;
    t.same(example.type, answerSchema(route).type, `${route.path} says what it answers`);
    t.ok(ajv.validate(example, route.resultExample), `${route.path}: ${ajv.errorsText()}`);
  }
  for (const bazaar of distinct(challenges.map(({ challenge }) => challenge.extensions.bazaar))) {
    t.same(validateDiscoveryExtensionSpec(bazaar), { valid: true }, JSON.stringify(bazaar));
    t.match(validateAndExtract(bazaar), { valid: true }, JSON.stringify(bazaar));
    // Connections that are not used any more are closed meanwhile.
    await new Promise(setImmediate);
  }
  for (const identifier of distinct(challenges.map(({ challenge }) => challenge.extensions[PAYMENT_IDENTIFIER]))) {
    t.same(validatePaymentIdentifier(identifier), { valid: true });
  }
});

t.test(
  'every challenge, and every listed resource, names its service, its tags and an icon that is there',
  async (t) => {
    const { resources } = (await (await fetch(`${gateway.url}/x402-resources`)).json()) as {
      resources: { slug: string; serviceName: string; tags: string[]; iconUrl: string }[];
    };
    const iconUrl = `${gateway.url}/icon.svg`;
    t.equal((await fetch(iconUrl)).headers.get('content-type'), 'image/svg+xml');
    for (const { route, challenge } of challenges) {
      const { path, endpoint } = route;
      const { resource } = challenge;
      t.same(ResourceInfoSchema.parse(resource), resource, `${path}: nothing is dropped by the package's own schema`);
      const named = { serviceName: 'Turnpike', tags: [endpoint.group, ...KEYWORDS], iconUrl };
      t.match(resource, named, path);
      t.match(
        resources.find(({ slug }) => `/${slug}` === path),
        named,
        path,
      );
      t.ok(resource.description.length <= 500, path);
    }
  },
);

t.test('AgentCash finds every route in /openapi.json, and how it is paid', async (t) => {
  const found = await discoverOriginSchema({ target: gateway.url });
  if (!found.found) throw new Error(found.message ?? 'nothing was found');
  const listed = new Set(found.endpoints.map(({ method, path }) => `${method} ${path}`));
  const source = (await getOpenAPI(gateway.url))._unsafeUnwrap();
  if (source === null || isOpenApiParseFailure(source)) throw new Error('the document was not read');
  t.same(
    getWarningsForOpenAPI(source).filter(({ severity }) => severity === 'error'),
    [],
  );
  t.ok(checkL2ForOpenAPI(source).routes.length >= sold.length);
  for (const { path, methods } of sold) {
    const method = methods[0] ?? 'POST';
    t.ok(listed.has(`${method} ${path}`), path);
    const details = getL3ForOpenAPI(source, path, method);
    t.match(details, { authMode: 'paid' }, path);
    t.same(
      getWarningsForL3(details).filter(({ severity }) => severity === 'error'),
      [],
      path,
    );
  }
});

t.test('AgentCash takes the challenges as they are', async (t) => {
  for (const { route, challenge } of challenges) {
    const { valid, issues } = validatePaymentRequiredDetailed(challenge);
    t.ok(valid, `${route.path}: ${JSON.stringify(issues)}`);
  }
});
