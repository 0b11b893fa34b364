import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Route, Upstream, UpstreamOptions } from '../../src/catalogue/types.ts';
import { shipped } from '../../src/gateway/shipped.ts';
import { type Fault, sandboxSecret, startDoubles } from '../../src/sandbox/doubles/index.ts';
import { defineRecipe } from '../../src/upstream/adapter.ts';
import { openUpstreams } from '../../src/upstream/bindings.ts';
import { UpstreamProblem } from '../../src/upstream/problem.ts';
import { openCallContext } from './call-context.ts';
import { problemOf } from './providers/contract.ts';

const models = { writer: { id: 'maker/writer' }, poet: { id: 'maker/poet' } };
const chat = (name: string): Upstream => ({
  name,
  adapter: 'openai-chat',
  baseUrl: 'https://provider.example',
  keys: { key: `${name.toUpperCase()}_KEY` },
  models,
});
const keyless = (name: string, adapter: string): Upstream => ({ name, adapter, baseUrl: 'https://data.example' });
const listed = [
  chat('first'),
  chat('second'),
  keyless('registry', 'xstocks-registry'),
  keyless('prices', 'jupiter-data'),
];

const writes = (via: string): UpstreamOptions => ({ via, model: 'writer', result: 'usage' });
const arb: UpstreamOptions = {
  recipe: 'stock-arb',
  uses: { registry: { via: 'registry' }, prices: { via: 'prices' } },
};
const input = { prompt: 'Hello' };

async function open(t: Test, uses: UpstreamOptions[], without: string[] = [], sandbox = true) {
  const doubles = await startDoubles({ upstreams: listed });
  // Only what this layer reads of a route.
  const price = { terms: () => ({ maxOutputTokens: 50 }) };
  const route = { id: 'test', upstreams: uses, price, deadlineMs: 50_000 } as unknown as Route;
  const upstreams = openUpstreams({
    catalogue: { upstreams: new Map(listed.map((upstream) => [upstream.name, upstream])), routes: [route] },
    ...shipped,
    secretOf: (variable) => (without.includes(variable) ? undefined : sandboxSecret(variable)),
    baseUrlOf: ({ name }) => doubles.baseUrlOf(name),
    sandbox,
  });
  t.teardown(async () => {
    await upstreams.close();
    await doubles.close();
  });
  const context = openCallContext(t);
  return { doubles, upstreams, route, call: (body = input) => upstreams.call(route, body, context), context };
}

t.test('asks the first upstream alone while it answers', async (t) => {
  const { call, doubles } = await open(t, [writes('first'), writes('second')]);
  t.match(await call(), { model: 'writer', metadata: { sandbox: true } });
  t.match(doubles.calls(), { first: 1, second: 0 });
});

for (const fault of ['500', '429', 'malformed'] as Fault[]) {
  t.test(`asks the next upstream after ${fault}`, async (t) => {
    const { call, doubles } = await open(t, [writes('first'), writes('second')]);
    doubles.fault('first', fault, 1);
    t.match(await call(), { text: String });
    t.match(doubles.calls(), { first: 1, second: 1 });
  });
}

t.test('asks for the model that the request names where the endpoint names none', async (t) => {
  const { upstreams, route, context } = await open(t, [{ via: 'first', result: 'usage' }]);
  t.match(await upstreams.call(route, { ...input, model: 'poet' }, context), { model: 'poet' });
});

t.test('asks nobody else about content that was refused', async (t) => {
  const { call, doubles } = await open(t, [writes('first'), writes('second')]);
  doubles.fault('first', 'refuse', 1);
  t.match(await problemOf(call()), { failure: 'content-refused', upstream: 'first' });
  t.match(doubles.calls(), { first: 1, second: 0 });
});

t.test('fails with the last upstream’s problem when all fail', async (t) => {
  const { call, doubles } = await open(t, [writes('first'), writes('second')]);
  doubles.fault('first', '500', 1);
  doubles.fault('second', 'malformed', 1);
  t.match(await problemOf(call()), { failure: 'malformed', upstream: 'second' });
});

t.test('asks nobody else once the work may be another instance’s', async (t) => {
  const { upstreams, route, context, doubles } = await open(t, [writes('first'), writes('second')]);
  doubles.fault('first', '500', 1);
  const mayGoOn = () => doubles.calls().first === 0;
  t.match(await problemOf(upstreams.call(route, input, { ...context, mayGoOn })), { failure: 'failed' });
  t.match(doubles.calls(), { first: 1, second: 0 });
  t.match(await problemOf(upstreams.call(route, input, { ...context, mayGoOn })), { failure: 'timeout' });
  t.match(doubles.calls(), { first: 1, second: 0 }, 'nor the first, where it waited for so long');
});

t.test('asks nobody else once the deadline is over', async (t) => {
  const { upstreams, route, doubles, context } = await open(t, [writes('first'), writes('second')]);
  doubles.fault('first', 'timeout', 1);
  const signal = AbortSignal.timeout(50);
  t.match(await problemOf(upstreams.call(route, input, { ...context, signal })), { failure: 'timeout' });
  t.match(doubles.calls(), { second: 0 });
});

t.test('asks the next upstream for no more than it can write in the time that the first has left', async (t) => {
  const asked: (number | undefined)[] = [];
  const adapters = shipped.adapters.map((adapter) => ({
    ...adapter,
    async call(...[, { upstream }, { terms }]: Parameters<typeof adapter.call>) {
      asked.push(terms?.maxOutputTokens);
      if (upstream === 'second') return {};
      await delay(500);
      throw new UpstreamProblem('failed', upstream, 'failed late');
    },
  }));
  const route = {
    id: 'test',
    upstreams: [writes('first'), writes('second')],
    price: { terms: () => ({ maxOutputTokens: 100_000 }) },
    deadlineMs: 50_000,
  } as unknown as Route;
  const upstreams = openUpstreams({
    catalogue: { upstreams: new Map(listed.map((upstream) => [upstream.name, upstream])), routes: [route] },
    ...shipped,
    adapters,
    secretOf: sandboxSecret,
    sandbox: true,
  });
  t.teardown(upstreams.close);
  await upstreams.call(route, input, openCallContext(t));
  t.equal(asked.length, 2);
  const [first = 0, second = 0] = asked;
  // As a model is asked that nobody has measured: 180 tokens for each second.
  t.ok(first <= 9_000 && second <= 8_910, `${first} tokens at first, then ${second}`);
});

t.test('does without an upstream that has no key', async (t) => {
  const { call, upstreams, route, doubles } = await open(t, [writes('first'), writes('second')], ['FIRST_KEY']);
  t.equal(upstreams.available(route), true);
  await call();
  t.match(doubles.calls(), { first: 0, second: 1 });
});

t.test('names the variables that a route cannot do without', async (t) => {
  const { upstreams, route, call } = await open(t, [writes('first')], ['FIRST_KEY']);
  t.same(upstreams.available(route), { missing: ['FIRST_KEY'] });
  t.match(await problemOf(call()), { failure: 'unavailable' });
});

t.test('says that doubles answered where they did, and only there', async (t) => {
  const { call } = await open(t, [writes('first')], [], false);
  const { metadata } = (await call()) as { metadata: object };
  t.notMatch(metadata, { sandbox: Boolean });
  t.notMatch(
    await (await open(t, [arb])).call(),
    { metadata: Object },
    'nothing is added to a result without metadata',
  );
});

t.test('gives a recipe its roles', async (t) => {
  const { upstreams, route, call } = await open(t, [arb]);
  t.equal(upstreams.available(route), true);
  t.match(await call(), { opportunities: Array, stats: { tracked: Number } });
});

t.test('a call has cost what everything cost that was asked for it, and so has each who was asked', async (t) => {
  const costing = (name: string, costs: readonly string[], problem?: Error) =>
    defineRecipe({
      name,
      options: { type: 'object' },
      reads: {},
      roles: {},
      async call(_input: Record<never, never>, _roles, { reportCost }): Promise<object> {
        for (const cost of costs) reportCost?.(cost);
        if (problem) throw problem;
        return {};
      },
    });
  const nonsense = new UpstreamProblem('malformed', 'asked-in-vain', 'answered nonsense');
  const recipes = [costing('asked-in-vain', ['0.05'], nonsense), costing('asked-twice', ['0.1', '0.2'])];
  const route = { id: 'test', upstreams: recipes.map(({ name }) => ({ recipe: name })), price: {} } as unknown as Route;
  const counted = new Map<string, number>();
  const upstreams = openUpstreams({
    catalogue: { upstreams: new Map(), routes: [route] },
    adapters: [],
    recipes,
    secretOf: () => undefined,
    metrics: { exchange() {}, tokens() {}, cost: ({ upstream }, dollars) => counted.set(upstream, Number(dollars)) },
  });
  t.teardown(() => upstreams.close());
  const context = openCallContext(t);
  await upstreams.call(route, input, context);
  t.equal(Number(context.costs.at(-1)), 0.35);
  t.strictSame(
    [...counted],
    [
      ['asked-in-vain', 0.05],
      ['asked-twice', 0.3],
    ],
  );
});
