/** The text endpoints that are shipped: prices worked out by hand from the listed rates, and limits. */
import t from 'tap';
import { deadlineOf } from '../../src/catalogue/endpoints/deadline.ts';
import type { Input, Route } from '../../src/catalogue/types.ts';
import { toDecimal } from '../../src/money.ts';
import { loadSound } from '../load-catalogue.ts';

const catalogue = loadSound();

function routeAt(path: string): Route {
  const route = catalogue.routes.find((one) => one.path === path);
  if (!route) throw new Error(`no route ${path}`);
  return route;
}

const quote = (path: string, input: Input): string => toDecimal(routeAt(path).price.quote(input));

/** 300 digits: 100 tokens by the estimate, three a token, or 300 where each is one; 8 more as a chat message. */
const prompt = '482'.repeat(100);
const image = 'https://example.com/picture.png';

t.test('a tiered text costs its input at the input rate and its tier at the output rate', async (t) => {
  for (const [model, small, medium, large] of [
    ['vendor1-fable-5', '0.0522', '0.2058', '0.4106'],
    ['vendor1-opus-4-6', '0.0261', '0.1029', '0.2053'],
    ['vendor2-3.5-flash', '0.009666', '0.037314', '0.074178'],
    ['vendor3-5.2', '0.014511', '0.057519', '0.114863'],
  ] as const) {
    const path = `/llm/${model}`;
    t.equal(quote(path, { prompt, tier: 'small' }), small, model);
    t.equal(quote(path, { prompt, tier: 'medium' }), medium, model);
    t.equal(quote(path, { prompt, tier: 'large' }), large, model);
  }
});

t.test('an image counts as 1600 input tokens, a system prompt as the text it is', async (t) => {
  const input = { prompt, system_prompt: '482'.repeat(50), image, tier: 'small' };
  t.equal(quote('/llm/vendor1-fable-5', input), '0.0687');
  t.equal(quote('/llm/vendor1-opus-4-6', input), '0.03435');
  t.equal(quote('/llm/vendor3-5.2', input), '0.017399');
});

t.test('a usage-priced text is quoted at the provider cost and ten percent, rounded up', async (t) => {
  for (const [model, price] of [
    ['vendor1-opus-5', '0.028094'],
    ['vendor3-5.6-luna', '0.006719'],
    ['vendor3-5.6-sol', '0.033594'],
    ['vendor3-5.6-terra', '0.016797'],
    ['vendor4-4.5', '0.006838'],
    ['vendor5-k3', '0.016857'],
  ] as const) {
    t.equal(quote(`/llm/${model}`, { prompt, max_tokens: 1000 }), price, model);
  }
  t.equal(quote('/llm/vendor5-k3', { prompt }), '0.067941', 'max_tokens left out: 4096');
});

t.test('the multi-model endpoint quotes the model that is named', async (t) => {
  for (const [model, price] of [
    ['vendor5-k2.6', '0.004513'],
    ['vendor6-5.1', '0.005007'],
    ['vendor2-3.5-flash', '0.010409'],
    ['vendor3-5.2', '0.015608'],
    ['vendor3-5.6-luna', '0.006719'],
    ['vendor1-fable-5', '0.056188'],
    ['vendor7-3-ultra-550b', '0.004519'],
    ['vendor8-v4-pro', '0.004035'],
  ] as const) {
    t.equal(quote('/llm/multi-model', { model, prompt, max_tokens: 1000 }), price, model);
  }
});

/** OpenAI's pages of GPT-5.6 (above 272,000 tokens twice the input and half as much output again), xAI's of Grok 4.5. */
t.test('a long prompt costs what its provider asks for one', async (t) => {
  // 300,000 tokens, and 8 of a message: at 11 and 49.50 dollars a million, 5.50 and 24.75, 2.20 and 9.90, 4.40 and 13.20.
  const input = { prompt: '482'.repeat(300_000), max_tokens: 1000 };
  for (const [model, price] of [
    ['vendor3-5.6-sol', '3.349588'],
    ['vendor3-5.6-terra', '1.674794'],
    ['vendor3-5.6-luna', '0.669918'],
  ] as const) {
    t.equal(quote(`/llm/${model}`, input), price, model);
  }
  t.equal(quote('/llm/multi-model', { ...input, model: 'vendor3-5.6-sol' }), '3.349588');
  // Its window holds 256,000.
  t.equal(quote('/llm/vendor4-4.5', input), '1.1396');
});

/**
 * Tokens of the largest picture that is looked at in `high` detail, by what its provider says: Claude's vision guide for
 * models from Opus 4.7 on, OpenAI's "Images and vision" for GPT-5.6 (2,500 patches, 1.2 tokens each).
 */
t.test('a picture of a conversation is paid for, however large it is', async (t) => {
  const picture = { role: 'user', content: [{ type: 'image_url', image_url: { url: image } }] };
  const word = { role: 'user', content: [{ type: 'text', text: '' }] };
  for (const [path, model, dollarsOfAMillion, tokens] of [
    ['/llm/vendor1-opus-5', undefined, 5, 4784],
    ['/llm/multi-model', 'vendor1-fable-5', 10, 4784],
    ['/llm/vendor3-5.6-sol', undefined, 5, 3000],
    ['/llm/multi-model', 'vendor3-5.6-luna', 1, 3000],
  ] as const) {
    const priceOf = (message: object) => routeAt(path).price.quote({ model, messages: [message], max_tokens: 100 });
    const paid = priceOf(picture) - priceOf(word);
    t.ok(paid >= BigInt(tokens * dollarsOfAMillion), `${path} ${model ?? ''}: ${paid} millionths of a dollar`);
  }
});

t.test('what was used is charged, never more than the quote', async (t) => {
  const { price } = routeAt('/llm/vendor1-opus-5');
  const input = { prompt, max_tokens: 1000 };
  const used = (prompt_tokens: number, completion_tokens: number) =>
    toDecimal(price.actual?.(input, { usage: { prompt_tokens, completion_tokens } }) ?? 0n);
  t.equal(used(100, 200), '0.00605');
  t.equal(used(1, 0), '0.000006');
  t.equal(used(9000, 9000), '0.028094');
});

t.test('a verified text costs what the tier of its model says', async (t) => {
  const prices = (routeAt('/llm/verified').request.properties as { model: { enum: string[] } }).model.enum.map(
    (model) => [model, quote('/llm/verified', { model, prompt })],
  );
  t.same(Object.fromEntries(prices), {
    'vendor8-v4-flash': '0.0014',
    'vendor3-oss-20b': '0.0014',
    'vendor9-2.5-7b': '0.0014',
    'vendor9-3.5-27b': '0.0014',
    'vendor9-3.6-27b': '0.0014',
    'vendor9-3-vl-30b': '0.0014',
    'vendor3-oss-120b': '0.005',
    'vendor2-4-31b': '0.005',
    'vendor9-3.5-122b': '0.005',
    'vendor5-k2.6': '0.01',
    'vendor6-5.2': '0.01',
    'vendor8-v4-pro': '0.01',
  });
});

const text = catalogue.endpoints.filter(({ group }) => group === 'llm');

t.test('every text endpoint is payable on two networks and mirrored at the same price', async (t) => {
  t.equal(text.length, 12);
  for (const { id, routes } of text) {
    const [base, mirror] = routes;
    t.same(base?.networks, ['chain-a', 'chain-c'], id);
    t.match(
      mirror,
      { path: `/chain-c-main${base?.path}`, networks: ['chain-c'], priceOptions: base?.priceOptions },
      id,
    );
    t.ok((base?.deadlineMs ?? 0) <= 50_000, id);
  }
});

t.test('no endpoint lets a caller ask for more output than it sells', async (t) => {
  for (const { id, routes } of text) {
    const route = routes[0];
    if (!route || id === 'llm/multi-model') continue;
    const { max_tokens: bound } = route.request.properties as { max_tokens?: { maximum: number } };
    if (!bound) continue;
    const asked = { ...route.example, max_tokens: bound.maximum };
    t.equal(route.price.terms?.(asked).maxOutputTokens, bound.maximum, id);
  }
});

t.test('an endpoint takes the fields of its model and no others', async (t) => {
  const fieldsOf = (path: string) => Object.keys(routeAt(path).request.properties as object).sort();
  const tiered = ['prompt', 'system_prompt', 'tier'];
  const usage = ['max_tokens', 'messages', 'prompt', 'system_prompt', 'temperature'];
  t.same(fieldsOf('/llm/vendor1-fable-5'), ['image', ...tiered]);
  t.same(fieldsOf('/llm/vendor1-opus-4-6'), ['image', ...tiered]);
  t.same(fieldsOf('/llm/vendor2-3.5-flash'), tiered);
  t.same(fieldsOf('/llm/vendor3-5.2'), ['image', 'prompt', 'reasoning_effort', 'system_prompt', 'tier']);
  t.same(fieldsOf('/llm/vendor5-k3'), usage);
  t.same(fieldsOf('/llm/multi-model'), [...usage, 'model'].sort());
  t.same(fieldsOf('/llm/verified'), ['max_tokens', 'model', 'prompt', 'system_prompt', 'temperature']);
});

t.test('the models with a window of a million tokens have one', async (t) => {
  const models = catalogue.upstreams.get('chat')?.models ?? {};
  for (const name of ['vendor1-opus-5', 'vendor5-k3']) t.equal(models[name]?.contextWindow, 1_000_000, name);
});

t.test('each tier has time for a model that writes 45 tokens a second, or 200 where it is a fast one', async (t) => {
  const tiered = catalogue.routes.filter(({ priceOptions }) => priceOptions.rule === 'tiered-tokens');
  t.equal(tiered.length, 8);
  for (const route of tiered) {
    const perSecond = route.path.endsWith('/vendor2-3.5-flash') ? 200 : 45;
    for (const [tier, tokens] of Object.entries(route.priceOptions.tiers as Record<string, number>)) {
      const seconds = deadlineOf(route, { tier }) / 1000;
      t.ok(tokens / perSecond <= seconds, `${route.path} ${tier}: ${seconds} s`);
    }
  }
});
