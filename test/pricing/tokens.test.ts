import t from 'tap';
import type { Model } from '../../src/catalogue/types.ts';
import { rate } from '../../src/money.ts';
import { chatTokens, mostChatTokens } from '../../src/pricing/estimate.ts';
import { tokensOf, tokenWeight } from '../../src/pricing/token-estimate.ts';
import { outputBound, priceModel, tokenCost, upperBound } from '../../src/pricing/tokens.ts';

const sol: Model = {
  name: 'vendor3-5.6-sol',
  id: 'sol',
  cost: { input: '5', output: '30' },
  maxOutput: 1000,
  defaultOutput: 500,
};
const priced = priceModel(new Map([[sol.name, sol]]), sol.name, rate('0.10'), []);

t.test('a million tokens cost the published price', async (t) => {
  t.equal(tokenCost(priced, { promptTokens: 1_000_000, completionTokens: 0 }), 5_500_000n);
  t.equal(tokenCost(priced, { promptTokens: 0, completionTokens: 1_000_000 }), 33_000_000n);
});

t.test('tokens are added up before they are rounded up', async (t) => {
  // 1 * 5.5 + 2 * 33 = 71.5 millionths.
  t.equal(tokenCost(priced, { promptTokens: 1, completionTokens: 2 }), 72n);
  t.equal(tokenCost(priced, { promptTokens: 2, completionTokens: 4 }), 143n);
});

t.test('a model without a price is free', async (t) => {
  const gratis = { ...sol, cost: { input: '0', output: '0' } };
  const free = priceModel(new Map([[sol.name, gratis]]), sol.name, rate('0.10'), []);
  t.equal(tokenCost(free, { promptTokens: 5, completionTokens: 5 }), 0n);
});

t.test('input or output alone may be free, and what is not costs a millionth at least', async (t) => {
  const costs = (input: string, output: string) => {
    const model = { ...sol, cost: { input, output } };
    const half = priceModel(new Map([[sol.name, model]]), sol.name, rate('0.10'), []);
    return [
      tokenCost(half, { promptTokens: 5, completionTokens: 0 }),
      tokenCost(half, { promptTokens: 0, completionTokens: 5 }),
    ];
  };
  t.strictSame(costs('0', '10'), [1n, 55n]);
  t.strictSame(costs('10', '0'), [55n, 1n]);
});

t.test(
  'a prompt that its provider calls long costs what the provider asks for it, with all that is answered',
  async (t) => {
    const stepped = { ...sol, cost: { ...sol.cost, long: { above: 272_000, input: '10', output: '45' } } } as Model;
    const price = priceModel(new Map([[sol.name, stepped]]), sol.name, rate('0.10'), []);
    t.equal(tokenCost(price, { promptTokens: 272_000, completionTokens: 1000 }), 1_529_000n);
    t.equal(tokenCost(price, { promptTokens: 272_001, completionTokens: 1000 }), 3_041_511n);
    const long = 'word '.repeat(400_000);
    t.equal(
      upperBound(price, { prompt: long }, 500),
      tokenCost(price, { promptTokens: chatTokens({ prompt: long }, 0), completionTokens: 500 }),
    );
  },
);

t.test('a long prompt is not cheaper than a short one', async (t) => {
  for (const long of [
    { above: 272_000, input: '4', output: '45' },
    { above: 272_000, input: '10', output: '20' },
  ]) {
    const stepped = { ...sol, cost: { ...sol.cost, long } } as Model;
    t.throws(() => priceModel(new Map([[sol.name, stepped]]), sol.name, rate('0.10'), []), /cost\.long .*less than/);
  }
});

t.test('a model that lacks one of its figures has no price', async (t) => {
  for (const missing of ['cost', 'maxOutput', 'defaultOutput'] as const) {
    const models = new Map([[sol.name, { ...sol, [missing]: undefined }]]);
    t.throws(() => priceModel(models, sol.name, rate('0.10'), []), new RegExp(`does not say its ${missing}$`));
  }
});

t.test('output is bounded by what is asked for, the default, and the model', async (t) => {
  t.equal(outputBound(priced, undefined), 500);
  t.equal(outputBound(priced, 20), 20);
  t.equal(outputBound(priced, 20_000), 1000);
  t.equal(outputBound(priced, 19.5), 20);
});

t.test('whatever the model reads is counted, also what is no message', async (t) => {
  const messages = [{ role: 'user', content: 'What is the time in Ulm?' }];
  const clock = { name: 'clock', parameters: { type: 'object' } };
  const tools = [{ type: 'function', function: clock }];
  const response_format = { type: 'json_object' };
  const call = { id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{"city":"Ulm"}' } };
  const assistant = { role: 'assistant', content: null };
  const tokens = (count: number, ...more: unknown[]): number => {
    const texts = [messages[0]?.content ?? '', ...more.map((value) => JSON.stringify(value))];
    return tokensOf(texts.reduce((sum, text) => sum + tokenWeight(text), 0)) + 8 * count;
  };
  t.equal(chatTokens({ messages }, 1600), tokens(1));
  t.equal(chatTokens({ messages, tools }, 1600), tokens(1, tools));
  t.equal(chatTokens({ messages, functions: [clock] }, 1600), tokens(1, [clock]));
  t.equal(chatTokens({ messages, response_format }, 1600), tokens(1, response_format));
  const all = { tools, functions: [clock], response_format, stop: ['the end'], logit_bias: { 5: 1 } };
  t.equal(chatTokens({ messages, ...all }, 1600), tokens(1, ...Object.values(all)));
  t.equal(chatTokens({ messages: [...messages, assistant] }, 1600), tokens(2));
  t.equal(chatTokens({ messages: [...messages, { ...assistant, tool_calls: [call] }] }, 1600), tokens(2, [call]));
  t.equal(chatTokens({ messages: [...messages, { ...assistant, name: 'ada' }] }, 1600), tokens(2, 'ada'));
});

t.test('parts of a message count as text, as images, or by their JSON', async (t) => {
  const weigh = (...texts: readonly string[]): number =>
    tokensOf(texts.reduce((sum, text) => sum + tokenWeight(text), 0));
  const image = { type: 'image_url', image_url: { url: 'https://pictures.example/fog.png' } };
  const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
  const content = (...content: readonly unknown[]) => chatTokens({ messages: [{ role: 'user', content }] }, 1600);
  t.equal(content(), 8);
  t.equal(content({ type: 'text', text: 'Where is it?' }), weigh('Where is it?') + 8);
  t.equal(content(image), 1608);
  t.equal(content(image, { type: 'text', text: 'Where is it?' }, image), 3208 + weigh('Where is it?'));
  t.equal(content(sound), weigh(JSON.stringify(sound)) + 8);
  t.equal(content('Where', null), weigh('"Where"', 'null') + 8);
  t.equal(content({ type: 'text' }), 8);
  const messages = [
    { role: 'user', content: [image] },
    { role: 'user', content: [image] },
  ];
  t.equal(chatTokens({ messages }, 1600), 3216);
});

t.test('what has no form of a message counts by its JSON', async (t) => {
  const alone = (...messages: readonly unknown[]) => chatTokens({ messages }, 1600) - 8 * messages.length;
  const weigh = (text: string) => tokensOf(tokenWeight(text));
  t.equal(alone('hello'), weigh('"hello"'));
  t.equal(alone(null), weigh('null'));
  t.equal(alone(17), weigh('17'));
  t.equal(alone({ role: 'assistant' }), 0);
  t.equal(alone({ role: 'user', content: 17 }), weigh('17'));
  t.equal(alone({ role: 'user', content: { said: 'hello' } }), weigh('{"said":"hello"}'));
  t.equal(chatTokens({ messages: 'hello' }, 1600), 8);
});

t.test('prompts count as a message each, and nothing as one', async (t) => {
  const digits = '7'.repeat(30);
  t.equal(chatTokens({}, 1600), 8);
  t.equal(chatTokens({ prompt: digits }, 1600), 18);
  t.equal(chatTokens({ prompt: digits, system_prompt: digits }, 1600), 36);
  t.equal(chatTokens({ system_prompt: digits, messages: [{ role: 'user', content: digits }] }, 1600), 36);
});

t.test('digits count one by one for a model whose vocabulary has single ones only', async (t) => {
  const digits = '7'.repeat(30);
  const content = `on 2026-01-31, ${digits}`;
  const [text, each] = [undefined, 1].map((digitsPerToken) => chatTokens({ prompt: content }, 1600, digitsPerToken));
  // 8 of the date are 4 tokens, 30 are 10.
  t.equal(Number(each) - Number(text), 24);
  t.equal(chatTokens({ messages: [{ role: 'user', content: digits }] }, 1600, 1), 38);
  t.equal(chatTokens({ messages: [{ role: 'user', content: [{ type: 'text', text: digits }] }] }, 1600, 1), 38);
  const single = priceModel(new Map([[sol.name, { ...sol, digitsPerToken: 1 }]]), sol.name, rate('0.10'), []);
  // 38 tokens at 5.50 and one at 33 dollars a million.
  t.equal(upperBound(single, { prompt: digits }, 1), 242n);
});

t.test('no body is estimated at more than its densest: one of empty messages, or of images', async (t) => {
  t.equal(mostChatTokens(1600, 6000), 480_000);
  t.equal(mostChatTokens(161, 6000), 54_000);
  t.equal(mostChatTokens(160, 6000), 48_000);
  t.equal(mostChatTokens(1, 6000), 48_000);
});

t.test('a call costs at most its estimated input and all the output that it may have', async (t) => {
  const messages = [{ role: 'user', content: '7'.repeat(3000) }];
  // 1,008 tokens at 5.50 and the output at 33 dollars a million: 5,544 millionths and 33 for each token.
  t.equal(upperBound(priced, { messages }, 20), 6_204n);
  t.equal(upperBound(priced, { messages }, undefined), 22_044n);
  t.equal(upperBound(priced, { messages }, 20_000), 38_544n);
  const image = { type: 'image_url', image_url: { url: 'https://pictures.example/fog.png' } };
  // 8 tokens and 4,784, or what an image counts for here: 26,356 and 511.5.
  t.equal(upperBound(priced, { messages: [{ role: 'user', content: [image] }] }, 20), 27_016n);
  t.equal(upperBound(priced, { messages: [{ role: 'user', content: [image] }] }, 20, 85), 1_172n);
  // No more is read than the context window holds.
  const small = priceModel(new Map([[sol.name, { ...sol, contextWindow: 100 }]]), sol.name, rate('0.10'), []);
  t.equal(upperBound(small, { messages }, 20), 1_210n);
});
