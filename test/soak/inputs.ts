/** Random requests that a route's schema takes. */
import * as fc from 'fast-check';
import { openSchemaCompiler } from '../../src/catalogue/schemas/ajv.ts';
import type { Input, JsonSchema } from '../../src/catalogue/types.ts';

/** What people call one character. Only one: for each of its own fast-check comes to keep a table of a hundred megabytes. */
export const character = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 });

const MINTS = ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'];

/** Fields that name something which exists: a random text is a good request for something that does not. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  ticker: ['AAPL', 'TSLA', 'NVDA', 'GOOGL'],
  list: ['all', 'majors', 'lsts', 'stocks'],
  token: ['BONK', ...MINTS],
  assetId: ['usd'],
  ref: ['usd'],
  // Of the asset usd, which is the only one named here.
  mint: MINTS.slice(0, 1),
  tokenAddress: [...MINTS, '0xe538905cf8410324e03a5a23c1c177a474d59b2b'],
  ca_reference: MINTS,
  x_username: ['lighthouse', '@keeper'],
  x_persona: ['harbour'],
  audio_file: ['https://example.com/speech.mp3', 'https://example.com/talk.mp3'],
  url: ['https://www.tiktok.com/shop/pdp/wool-sweater/1729587769570529799'],
  // Clips of every length and shape are kept by the sandbox: a few will do.
  aspect_ratio: ['1:1', '3:2', '2:3', '16:9'],
  // Purchases of credits: the wallet is large, not endless.
  amount_usd: ['1', '2.50'],
};

/** A key of another wallet cannot be topped up. */
const LEFT_OUT = ['api_key'];

const PICTURES = fc.integer({ min: 0, max: 99 }).map((number) => `https://example.com/photo-${number}.jpg`);

function texts(schema: JsonSchema): fc.Arbitrary<string> {
  if (schema.format === 'uri') return PICTURES;
  if (typeof schema.pattern === 'string') return fc.stringMatching(new RegExp(schema.pattern), { maxLength: 120 });
  const minLength = Number(schema.minLength ?? 0);
  return fc.string({ unit: character, minLength, maxLength: Math.min(Number(schema.maxLength ?? 300), 300) });
}

const fits = (value: string, { pattern }: JsonSchema): boolean =>
  typeof pattern !== 'string' || new RegExp(pattern).test(value);

function numbers(schema: JsonSchema): fc.Arbitrary<number> {
  const step = Number(schema.multipleOf ?? 1);
  const min = Number(schema.minimum ?? 0);
  const max = Number(schema.maximum ?? Math.max(min, 0) + 100_000);
  if (schema.type === 'integer' || schema.multipleOf !== undefined) {
    return fc.integer({ min: Math.ceil(min / step), max: Math.floor(max / step) }).map((steps) => steps * step);
  }
  return fc.double({ min, max, noNaN: true });
}

function valuesOf(schema: JsonSchema, name = ''): fc.Arbitrary<unknown> {
  const known = KNOWN[name];
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return fc.oneof(...choices.map((choice: JsonSchema) => valuesOf(choice, name)));
  switch (schema.type) {
    case 'string':
      return known ? fc.constantFrom(...known.filter((value) => fits(value, schema))) : texts(schema);
    case 'integer':
    case 'number':
      return numbers(schema);
    case 'boolean':
      return fc.boolean();
    case 'array': {
      const items = /mints|tokenAddresses/.test(name)
        ? fc.constantFrom(...MINTS)
        : valuesOf(schema.items as JsonSchema);
      const maxLength = Math.min(Number(schema.maxItems ?? 5), 5);
      const bounds = { minLength: Number(schema.minItems ?? 0), maxLength };
      return schema.uniqueItems === true ? fc.uniqueArray(items, bounds) : fc.array(items, bounds);
    }
    case 'object':
      return plausibleRequests(schema);
    default:
      throw new Error(`no values are made for ${JSON.stringify(schema)}`);
  }
}

/** Objects of the schema's properties, most of which it takes. */
export function plausibleRequests(schema: JsonSchema): fc.Arbitrary<Record<string, unknown>> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).filter(
    ([name]) => !LEFT_OUT.includes(name),
  );
  const values = Object.fromEntries(properties.map(([name, property]) => [name, valuesOf(property, name)]));
  return fc.record(values, { requiredKeys: (schema.required ?? []) as string[], noNullPrototype: true });
}

/** So many valid requests of a schema, the same for the same seed. `known` adds values that exist only in this run. */
export function requestsFor(schema: JsonSchema, count: number, seed: number, known: Input = {}): Input[] {
  const validate = openSchemaCompiler({ strict: false }).compile(schema);
  const valid = plausibleRequests(schema)
    .map((input) => ({ ...input, ...Object.fromEntries(Object.entries(known).filter(([name]) => name in input)) }))
    .filter((input) => validate(structuredClone(input)));
  return fc.sample(valid, { numRuns: count, seed });
}
