/** What a price sells is what the upstream is asked for: a ceiling that is raised in the catalogue is raised there, too. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isMap, parseDocument, type YAMLMap } from 'yaml';
import { checkCatalogue } from '../../src/catalogue/load.ts';
import type { Catalogue, Input, Route } from '../../src/catalogue/types.ts';
import { shipped } from '../../src/gateway/shipped.ts';
import { loadSound } from '../load-catalogue.ts';
import { openCatalogue, openServed } from './served-routes.ts';

/** Tokens, in numbers, wherever a catalogue says how many are sold. */
const CEILINGS = [
  ['price', 'maxOutput'],
  ['price', 'defaultOutput'],
  ['request', 'properties', 'max_tokens', 'maximum'],
];

function double(map: YAMLMap, path: readonly string[]): void {
  const value = map.getIn(path);
  if (typeof value === 'number') map.setIn(path, value * 2);
}

function raise(endpoint: YAMLMap): void {
  for (const path of CEILINGS) double(endpoint, path);
  const tiers = endpoint.getIn(['price', 'tiers']);
  for (const { key } of isMap(tiers) ? tiers.items : []) double(endpoint, ['price', 'tiers', String(key)]);
}

/** The shipped catalogue with twice as many tokens in every tier, bound, default and window. */
function raisedCatalogue(t: Test): Catalogue {
  const directory = t.testdir();
  cpSync('catalogue', directory, { recursive: true });
  const edit = (file: string, change: (root: YAMLMap) => void) => {
    const document = parseDocument(readFileSync(file, 'utf8'));
    if (isMap(document.contents)) change(document.contents as YAMLMap);
    writeFileSync(file, String(document));
  };
  const endpoints = join(directory, 'endpoints');
  for (const name of readdirSync(endpoints, { recursive: true, encoding: 'utf8' })) {
    if (name.endsWith('.yaml')) edit(join(endpoints, name), raise);
  }
  edit(join(directory, 'upstreams.yaml'), (upstreams) => {
    for (const { key } of upstreams.items) {
      const models = upstreams.getIn([String(key), 'models']);
      for (const { key: model } of isMap(models) ? models.items : []) {
        for (const limit of ['maxOutput', 'defaultOutput', 'contextWindow'])
          double(upstreams, [String(key), 'models', String(model), limit]);
      }
    }
  });
  return loadSound(directory);
}

type Limits = { readonly maxOutput: number; readonly defaultOutput: number };

/** How many output tokens the catalogue's files sell with a request, read without the code of any price. */
function soldTokens({ upstreams }: Catalogue, { priceOptions, upstreams: uses }: Route, input: Input): number {
  const tiers = priceOptions.tiers as Readonly<Record<string, number>> | undefined;
  const ofTier = tiers?.[String(input.tier)];
  if (typeof ofTier === 'number') return ofTier;
  const models = upstreams.get(String(uses[0]?.via))?.models;
  const model = models?.[String(priceOptions.model ?? input.model)];
  const { maxOutput, defaultOutput } = (priceOptions.maxOutput === undefined ? model : priceOptions) as Limits;
  return Math.min(Number(input.max_tokens ?? defaultOutput), maxOutput);
}

/** A request for each tier, or for each model with and without the highest `max_tokens`. */
function requestsOf({ request, example }: Route): Input[] {
  const properties = request.properties as Readonly<Record<string, { enum?: string[]; maximum?: number }>>;
  const { max_tokens: _, ...bare } = example;
  if (properties.tier) return (properties.tier.enum ?? []).map((tier) => ({ ...bare, tier }));
  const models = properties.model?.enum ?? [undefined];
  const lengths = [{}, { max_tokens: properties.max_tokens?.maximum }];
  return models.flatMap((model) => lengths.map((length) => ({ ...bare, ...(model && { model }), ...length })));
}

/** With time enough for every bound: a model is asked for no more than its deadline lets it write. */
const withTime = (catalogue: Catalogue): Catalogue => ({
  ...catalogue,
  routes: catalogue.routes.map((route) => ({ ...route, deadlineMs: 3_600_000, deadlineBy: undefined })),
});

/** How many output tokens the double of a route's upstream is asked for, request by request. */
async function askedTokens(t: Test, catalogue: Catalogue, via: string) {
  const asked: number[] = [];
  const { ask } = await openServed(t, {
    catalogue,
    standIn: {
      upstream: via,
      answer(path, body) {
        if (!path.endsWith('/chat/completions')) return undefined;
        const { max_tokens, max_completion_tokens } = JSON.parse(body);
        asked.push(max_tokens ?? max_completion_tokens);
        return undefined;
      },
    },
  });
  return async (path: string, input: Input): Promise<number | undefined> => {
    asked.length = 0;
    await ask(path, input);
    return asked[0];
  };
}

const selling = openCatalogue().routes.filter(({ price }) => price.terms !== undefined);

t.test('every text endpoint sells a bound, and nothing else does', async (t) => {
  const text = openCatalogue().routes.filter(({ endpoint }) => endpoint.group === 'llm');
  t.ok(text.length > 0);
  t.same(
    selling.map(({ id }) => id),
    text.map(({ id }) => id),
  );
});

for (const via of new Set(selling.map(({ upstreams }) => String(upstreams[0]?.via)))) {
  t.test(`a ceiling that is raised in the catalogue is raised at ${via}`, async (t) => {
    const before = withTime(openCatalogue());
    const after = withTime(raisedCatalogue(t));
    const [askedBefore, askedAfter] = [await askedTokens(t, before, via), await askedTokens(t, after, via)];
    for (const route of selling.filter(({ upstreams }) => upstreams[0]?.via === via)) {
      const raised = after.routes.find(({ id }) => id === route.id) as Route;
      const [inputs, raisedInputs] = [requestsOf(route), requestsOf(raised)];
      for (const [index, input] of inputs.entries()) {
        const raisedInput = raisedInputs[index] as Input;
        const name = `${route.path} ${JSON.stringify(input)}`;
        const [was, is] = [await askedBefore(route.path, input), await askedAfter(route.path, raisedInput)];
        t.equal(was, soldTokens(before, route, input), name);
        t.equal(is, soldTokens(after, raised, raisedInput), `${name}, raised`);
        t.equal(is, Number(was) * 2, `${name}, twice as much`);
      }
    }
  });
}

t.test('an upstream that needs a bound is not sold at a price without one', async (t) => {
  const directory = t.testdir();
  cpSync('catalogue', directory, { recursive: true });
  const file = join(directory, 'endpoints/llm/vendor4-4.5.yaml');
  const price = (options: string) =>
    writeFileSync(
      file,
      readFileSync('catalogue/endpoints/llm/vendor4-4.5.yaml', 'utf8').replace(/^price: .*$/m, `price: ${options}`),
    );
  price('{ rule: fixed, amount: "0.05" }');
  const { diagnostics: problems } = checkCatalogue(directory, shipped);
  t.match(problems, [
    { line: 11, message: 'openai-chat asks for a number of output tokens, and the price sells none' },
  ]);
  t.equal(problems.length, 1);
  price('{ rule: fixed, amount: "0.05", maxOutput: 900, defaultOutput: 300 }');
  const { routes } = loadSound(directory);
  const route = routes.find(({ path }) => path === '/llm/vendor4-4.5');
  t.same(route?.price.terms?.({ prompt: 'Hi' }), { maxOutputTokens: 300 });
  t.same(route?.price.terms?.({ prompt: 'Hi', max_tokens: 5000 }), { maxOutputTokens: 900 });
});

t.test('a number of tokens is not sold where nobody asks for it', async (t) => {
  const directory = t.testdir();
  cpSync('catalogue', directory, { recursive: true });
  const sell = (endpoint: string) => {
    const file = join(directory, 'endpoints', `${endpoint}.yaml`);
    const bounded = 'price: { rule: fixed, amount: "0.05", maxOutput: 900, defaultOutput: 300 }';
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^price: .*$/m, bounded));
  };
  sell('image/designer');
  sell('image/family-e');
  t.same(
    checkCatalogue(directory, shipped).diagnostics.map(({ message }) => message),
    [
      'the price sells a number of output tokens, and designer asks for none',
      'the price sells a number of output tokens, and replicate-predictions asks for none',
    ],
  );
});
