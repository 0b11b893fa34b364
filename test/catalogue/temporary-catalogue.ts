import { join, relative } from 'node:path';
import type { Test } from 'tap';
import { checkedCatalogue } from '../../src/catalogue/checked.ts';
import type { AdapterDeclaration, CatalogueParts, RecipeDeclaration } from '../../src/catalogue/contracts.ts';
import { checkCatalogue, loadCatalogue } from '../../src/catalogue/load.ts';
import type { Catalogue } from '../../src/catalogue/types.ts';
import { formatDiagnostic } from '../../src/catalogue/yaml/diagnostic.ts';
import { pricingRules } from '../../src/pricing/index.ts';
import { rails } from '../../src/rails/index.ts';

const painter: AdapterDeclaration = {
  name: 'painter',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['input'],
    properties: {
      input: {
        type: 'object',
        'x-request-fields': true,
        additionalProperties: {
          anyOf: [
            { type: 'string' },
            {
              type: 'object',
              required: ['from'],
              additionalProperties: false,
              properties: { from: { type: 'string' } },
            },
          ],
        },
      },
      steps: { type: 'integer', minimum: 1 },
    },
  },
  modelOptions: { type: 'object', properties: { kind: { enum: ['image', 'video'] } } },
  upstreamOptions: { type: 'object', properties: { waitSeconds: { type: 'integer' } } },
};

const prices: AdapterDeclaration = {
  name: 'prices',
  secrets: [],
  optionalSecrets: ['key'],
  options: { type: 'object', required: ['operation'], properties: { operation: { enum: ['prices'] } } },
};

const scanner: RecipeDeclaration = {
  name: 'scanner',
  options: { type: 'object', properties: { threshold: { type: 'number' } } },
  roles: { prices: [prices], painter: [painter] },
};

export const parts: CatalogueParts = { rules: pricingRules, adapters: [painter, prices], recipes: [scanner], rails };

/** A right catalogue with one endpoint. Tests replace files, or add some. */
export const rightFiles: Readonly<Record<string, string>> = {
  'service.yaml': `name: Shop
description: Sells pictures
tags: [Pictures, Prices]
instructions: Pay first
defaultNetwork: chain-a
`,
  'networks.yaml': `chain-a:
  family: solana
  listedAs: chain-a-mainnet
  authorizationLasts: 60s
  live: &a
    caip2: solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp
    asset: { symbol: USDC, address: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v, decimals: 6 }
  sandbox: *a
chain-e:
  family: evm
  listedAs: chain-e
  prefix: chain-e
  live: &e
    caip2: eip155:988
    asset: { symbol: USDT0, address: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736", decimals: 6, name: USDT0, version: "1" }
  sandbox: *e
`,
  'upstreams.yaml': `pictures:
  adapter: painter
  baseUrl: https://painter.example/v1
  keys: { key: PAINTER_KEY }
  models:
    oil: { id: maker/oil, kind: image, cost: { input: "1", output: "2" } }
market:
  adapter: prices
  baseUrl: https://prices.example
`,
  'schemas/prompt.yaml': `type: string
minLength: 1
`,
  'schemas/picture.yaml': `type: object
required: [url]
properties:
  url: { type: string, format: uri }
examples:
  - { url: https://shop.example/1.png }
`,
  'endpoints/image/oil.yaml': `summary: A picture in oil
path: /image/oil
price: { rule: select, by: size, amounts: { small: "0.05", large: "0.1" } }
request:
  required: [prompt]
  properties:
    prompt: { $ref: prompt }
    size: { type: string, enum: [small, large], default: small }
result: { $ref: picture }
example: { prompt: fog }
upstream:
  via: pictures
  model: oil
  input: { text: prompt, format: { from: size } }
`,
};

export const oil = rightFiles['endpoints/image/oil.yaml'] as string;

/** Replaces one piece of text, which must be there. */
export function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the fixture has no ${from}`);
  return text.replace(from, to);
}

/** Writes the right catalogue with `changes` (path -> text, null leaves the file out) to a directory of this test. */
export function writeCatalogue(t: Test, changes: Readonly<Record<string, string | null>> = {}): string {
  const tree: Record<string, unknown> = {};
  for (const [path, text] of Object.entries({ ...rightFiles, ...changes })) {
    if (text === null) continue;
    const steps = path.split('/');
    const name = steps.pop() as string;
    let folder = tree;
    for (const step of steps) {
      folder[step] ??= {};
      folder = folder[step] as Record<string, unknown>;
    }
    folder[name] = text;
  }
  return t.testdir({ catalogue: tree } as Parameters<Test['testdir']>[0]);
}

/** What one catalogue was found sound in, the next one need not be checked for again. */
const checked = checkedCatalogue();

/** The right catalogue with `changes`. Throws CatalogueErrors. */
export const loadWritten = (
  t: Test,
  changes: Readonly<Record<string, string | null>> = {},
  known: CatalogueParts = parts,
): Catalogue => loadCatalogue(join(writeCatalogue(t, changes), 'catalogue'), known, checked);

/** Every problem as a person reads it, with files relative to the catalogue. */
export function problemsOf(directory: string, known: CatalogueParts = parts): string[] {
  const root = join(directory, 'catalogue');
  const prefix = `${relative(process.cwd(), root)}/`;
  return checkCatalogue(root, known, checked).diagnostics.map((diagnostic) =>
    formatDiagnostic(diagnostic).replaceAll(prefix, ''),
  );
}
