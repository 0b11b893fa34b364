import t from 'tap';
import type { Input, Model } from '../../src/catalogue/types.ts';
import { usageTokens } from '../../src/pricing/usage-tokens.ts';
import { compiled, keepsItsPromises, problemOf, quoteOf } from './contract.ts';

const k3: Model = {
  name: 'vendor5-k3',
  id: 'k3',
  cost: { input: '3', output: '15' },
  contextWindow: 1_000_000,
  maxOutput: 32_768,
  defaultOutput: 4096,
};
const luna: Model = { ...k3, name: 'vendor3-5.6-luna', id: 'luna', cost: { input: '1', output: '6' } };
const unbounded: Model = {
  name: 'wide',
  id: 'wide',
  cost: { input: '0.15', output: '0.6' },
  maxOutput: 8,
  defaultOutput: 8,
};
const models = [k3, luna, unbounded];

const part = {
  oneOf: [
    {
      type: 'object',
      properties: { type: { const: 'text' }, text: { type: 'string' } },
      required: ['type', 'text'],
    },
    {
      type: 'object',
      properties: {
        type: { const: 'image_url' },
        image_url: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
      },
      required: ['type', 'image_url'],
    },
  ],
};
const message = {
  type: 'object',
  properties: {
    role: { type: 'string', enum: ['system', 'user', 'assistant'] },
    content: { oneOf: [{ type: 'string' }, { type: 'array', items: part }] },
  },
  required: ['role', 'content'],
};
const properties = {
  prompt: { type: 'string' },
  messages: { type: 'array', items: message },
  system_prompt: { type: 'string' },
  max_tokens: { type: 'integer', minimum: 1, maximum: 100_000 },
  temperature: { type: 'number', minimum: 0, maximum: 2 },
};
const request = { properties };
const options = { model: 'vendor5-k3', markup: '0.10' };
const multi = {
  required: ['model'],
  properties: { ...properties, model: { type: 'string', enum: ['vendor5-k3', 'vendor3-5.6-luna', 'wide'] } },
};

const moreOutput = (input: Input): Input => ({ ...input, max_tokens: 100_000 });
const moreText = (input: Input): Input => ({ ...input, prompt: `${input.prompt ?? ''}漢` });

t.test('one model', async (t) => {
  keepsItsPromises(t, usageTokens, { options, request, models, bare: { prompt: '' }, more: moreText });
});

t.test('one model with a bound on the output', async (t) => {
  keepsItsPromises(t, usageTokens, { options, request, models, bare: { prompt: '' }, more: moreOutput });
});

t.test('a model that the request names', async (t) => {
  keepsItsPromises(t, usageTokens, {
    options: { by: 'model', markup: '0.10', imageTokens: 85 },
    request: multi,
    models,
    bare: { model: 'wide', prompt: '' },
    more: moreText,
  });
});

t.test('defaults are paid for', async (t) => {
  const max_tokens = { ...properties.max_tokens, default: 20_000 };
  const system_prompt = { type: 'string', default: 'Answer as briefly as you can.' };
  keepsItsPromises(t, usageTokens, {
    options,
    request: { required: ['prompt'], properties: { ...properties, max_tokens, system_prompt } },
    models,
    bare: { prompt: '' },
    more: moreText,
  });
});

t.test("the quote is the estimated input and the bounded output at the provider's price and ten percent", async (t) => {
  const price = compiled(usageTokens, options, request, models);
  const costs = (input: Input) => quoteOf(price, request, input);
  // Three digits are a token. 1,000 tokens of text and 8 of a message at 3.30, 4,096 at 16.50 a million.
  t.equal(costs({ prompt: '7'.repeat(3000) }), 70_911n);
  // max_tokens lowers it: 1008 * 3.3 + 100 * 16.5.
  t.equal(costs({ prompt: '7'.repeat(3000), max_tokens: 100 }), 4_977n);
  // The model gives no more than 32,768.
  t.equal(
    costs({ prompt: '7'.repeat(3000), max_tokens: 100_000 }),
    costs({ prompt: '7'.repeat(3000), max_tokens: 32_768 }),
  );
  // A second message, for the system prompt: 1008 + 8 + 10 tokens.
  t.equal(costs({ prompt: '7'.repeat(3000), system_prompt: '7'.repeat(30), max_tokens: 100 }), 5_036n);
});

t.test('messages count as the same text in prompts does, and images by themselves', async (t) => {
  const price = compiled(usageTokens, options, request, models);
  const costs = (input: Input) => quoteOf(price, request, { ...input, max_tokens: 100 });
  const system = { role: 'system', content: '7'.repeat(30) };
  const asked = costs({ prompt: '7'.repeat(3000), system_prompt: '7'.repeat(30) });
  t.equal(costs({ messages: [system, { role: 'user', content: '7'.repeat(3000) }] }), asked);
  const text = { type: 'text', text: '7'.repeat(3000) };
  t.equal(costs({ messages: [system, { role: 'user', content: [text] }] }), asked);
  const image_url = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(9000)}` } };
  // 4,784 tokens at 3.30 a million each.
  t.equal(costs({ messages: [system, { role: 'user', content: [text, image_url, image_url] }] }), asked + 31_575n);
});

t.test('the context window bounds the input', async (t) => {
  const small = { ...k3, contextWindow: 1000 };
  const price = compiled(usageTokens, options, request, [small]);
  // 1000 * 3.3 + 100 * 16.5, however long the prompt is.
  t.equal(quoteOf(price, request, { prompt: 'x'.repeat(40_000), max_tokens: 100 }), 4_950n);
});

t.test('the price goes from a word to a full context window and the longest output', async (t) => {
  const price = compiled(usageTokens, options, request, models);
  // 8 * 3.3 + 1 * 16.5; 8 * 3.3 + 4096 * 16.5; 1000000 * 3.3 + 32768 * 16.5.
  t.strictSame([price.min, price.listed, price.max], [43n, 67_611n, 3_840_672n]);
  const bounded = { properties: { ...properties, max_tokens: { ...properties.max_tokens, maximum: 10_000 } } };
  t.equal(compiled(usageTokens, options, bounded, models).max, 3_465_000n);
});

t.test('is listed at the default model, and without one at the cheapest', async (t) => {
  const listed = (model: object) => {
    const request = {
      required: ['model'],
      properties: { ...properties, model: { ...multi.properties.model, ...model } },
    };
    return compiled(usageTokens, { by: 'model', markup: '0.10' }, request, models).listed;
  };
  // 8 * 0.165 + 8 * 0.66; 8 * 3.3 + 4096 * 16.5.
  t.equal(listed({}), 7n);
  t.equal(listed({ default: 'vendor5-k3' }), 67_611n);
});

t.test('the most that a request costs is a full body and its defaults, where no context window ends it', async (t) => {
  const max = (properties: object, imageTokens: number, limit: number) =>
    compiled(usageTokens, { model: 'dear', markup: '0', imageTokens }, { properties }, [dear], limit).max;
  const dear = { ...unbounded, name: 'dear', cost: { input: '1000000', output: '1000000' } };
  const { prompt } = properties;
  // A dollar a token: 8 a byte or 80 with images, 8 of no message, 30 digits and 8 of a default, 8 of output.
  t.equal(max({ prompt }, 160, 100), 816_000_000n);
  t.equal(max({ prompt }, 1600, 100), 8_016_000_000n);
  t.equal(max({ prompt: { type: 'string', default: '7'.repeat(30) } }, 160, 100), 826_000_000n);
});

t.test(
  'the output is the default where requests cannot bound it, and the longest where they do without end',
  async (t) => {
    const bounds = (max_tokens?: object) => {
      const request = { properties: { prompt: properties.prompt, ...(max_tokens && { max_tokens }) } };
      const price = compiled(usageTokens, options, request, models, 10);
      return [price.min, price.max];
    };
    // 8 and 2,408 tokens at 3.30 a million, and 1, 20, 4,096 or 32,768 at 16.50.
    t.strictSame(bounds(), [67_611n, 75_531n]);
    t.strictSame(bounds({ type: 'integer', minimum: 1 }), [43n, 548_619n]);
    t.strictSame(bounds({ type: 'integer', minimum: 20, maximum: 8192 }), [357n, 143_115n]);
  },
);

t.test('no body under the limit is quoted above max', async (t) => {
  const limit = 60_000;
  const price = compiled(usageTokens, { ...options, model: 'wide' }, request, models, limit);
  const fill = (unit: string): unknown[] => JSON.parse(`[${Array(Math.floor(limit / (unit.length + 1))).fill(unit)}]`);
  const within = (input: Input) => t.ok(price.quote(input) <= price.max);
  within({ prompt: ' 7'.repeat(limit / 2) });
  within({ prompt: '\u{13000}'.repeat(limit / 4) });
  within({ messages: fill('{}') });
  within({ messages: fill('1e20') });
  within({ messages: [{ role: 'user', content: fill('{"type":"image_url"}') }] });
  within({ messages: [{ role: 'user', content: fill('1e20') }] });
});

t.test('each model has its own price', async (t) => {
  const price = compiled(usageTokens, { by: 'model', markup: '0.10' }, multi, models);
  const costs = (model: string) => quoteOf(price, multi, { model, prompt: '7'.repeat(3000), max_tokens: 1000 });
  // 1008 * 3.3 + 1000 * 16.5; 1008 * 1.1 + 1000 * 6.6; 1008 * 0.165 + 8 * 0.66.
  t.equal(costs('vendor5-k3'), 19_827n);
  t.equal(costs('vendor3-5.6-luna'), 7_709n);
  t.equal(costs('wide'), 172n);
});

t.test('what is charged in the end is what the tokens cost', async (t) => {
  const price = compiled(usageTokens, options, request, models);
  const input = { prompt: '7'.repeat(3000) };
  const quote = price.quote(input);
  const charged = (usage: unknown) => price.actual?.(input, { text: 'salt', usage });
  // 900 * 3.3 + 37 * 16.5 = 3580.5.
  t.equal(charged({ prompt_tokens: 900, completion_tokens: 37, total_tokens: 937 }), 3_581n);
  t.equal(charged({ input_tokens: 900, output_tokens: 37 }), 3_581n);
  t.equal(charged({ prompt_tokens: 0, completion_tokens: 0 }), 1n);
  t.equal(charged({ prompt_tokens: 1_000_000, completion_tokens: 4096 }), quote);
});

t.test('the quote is charged where the result does not say what was used, or says nonsense', async (t) => {
  const price = compiled(usageTokens, options, request, models);
  const input = { prompt: 'hi' };
  const senseless = [
    undefined,
    null,
    {},
    { prompt_tokens: 5 },
    { prompt_tokens: -1, completion_tokens: 5 },
    { prompt_tokens: 1.5, completion_tokens: 5 },
    { prompt_tokens: '5', completion_tokens: 5 },
    { prompt_tokens: Number.NaN, completion_tokens: 5 },
  ];
  for (const usage of senseless) t.equal(price.actual?.(input, { usage }), price.quote(input));
});

t.test('options that do not fit are found', async (t) => {
  const { maxOutput: _, cost: __, ...unpriced } = k3;
  t.strictSame(problemOf(usageTokens, { markup: '0.1' }, request, models), {
    path: [],
    message: 'price needs either model or by',
  });
  t.strictSame(problemOf(usageTokens, { ...options, by: 'model' }, multi, models).path, []);
  t.strictSame(problemOf(usageTokens, { ...options, model: 'vendor5-k9' }, request, models), {
    path: ['model'],
    message: 'no upstream in upstreams.yaml has the model vendor5-k9',
  });
  t.strictSame(problemOf(usageTokens, { by: 'model', markup: '0.1' }, multi, [luna, unpriced, unbounded]), {
    path: ['by'],
    message: 'the model vendor5-k3 is priced by the token, and upstreams.yaml does not say its cost, maxOutput',
  });
  const coarse = { ...k3, cost: { input: '$3', output: '15' } };
  t.strictSame(problemOf(usageTokens, options, request, [coarse]), {
    path: ['model'],
    message: 'upstreams.yaml: cost.input of the model vendor5-k3: "$3" is not an amount',
  });
  t.strictSame(problemOf(usageTokens, { by: 'model', markup: '0.1' }, request, models).path, ['by']);
  const optional = { properties: multi.properties };
  t.strictSame(problemOf(usageTokens, { by: 'model', markup: '0.1' }, optional, models).path, ['by']);
  t.strictSame(problemOf(usageTokens, options, { properties: { model: { type: 'string' } } }, models).path, []);
  t.strictSame(problemOf(usageTokens, options, { properties: { system_prompt: { type: 'string' } } }, models), {
    path: [],
    message: 'the price depends on request.properties.prompt or messages, and the request has neither',
  });
  const withField = (field: object) => ({ properties: { ...properties, ...field } });
  t.match(
    problemOf(usageTokens, options, withField({ max_tokens: { type: 'integer' } }), models).message,
    'max_tokens',
  );
  for (const [field, type] of [
    ['prompt', 'string'],
    ['system_prompt', 'string'],
    ['messages', 'array'],
  ] as const) {
    t.strictSame(problemOf(usageTokens, options, withField({ [field]: { type: 'object' } }), models), {
      path: [],
      message: `the price depends on request.properties.${field}, whose type is not ${type}`,
    });
  }
  for (const text of ['prompt', 'messages'] as const) {
    t.equal(compiled(usageTokens, options, { properties: { [text]: properties[text] } }, models).listed, 67_611n);
  }
});

t.test('what is sold is what the quote pays for', async (t) => {
  const price = compiled(usageTokens, { by: 'model', markup: '0.10' }, multi, models);
  for (const { name: model, maxOutput = 0, defaultOutput } of models) {
    const input = { model, prompt: '7'.repeat(3000) };
    t.same(price.terms?.(input), { maxOutputTokens: defaultOutput });
    t.same(price.terms?.({ ...input, max_tokens: 5 }), { maxOutputTokens: 5 });
    t.same(price.terms?.({ ...input, max_tokens: maxOutput + 1 }), { maxOutputTokens: maxOutput });
    // The estimate of the prompt and all the output that was sold.
    const usage = { prompt_tokens: 1008, completion_tokens: price.terms?.(input).maxOutputTokens };
    t.equal(price.actual?.(input, { usage }), price.quote(input));
  }
});
