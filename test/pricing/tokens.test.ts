import t from 'tap';
import type { Model } from '../../src/catalogue/types.ts';
import { rate } from '../../src/money.ts';
import { chatTokens } from '../../src/pricing/estimate.ts';
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

t.test('output is bounded by what is asked for, the default, and the model', async (t) => {
  t.equal(outputBound(priced, undefined), 500);
  t.equal(outputBound(priced, 20), 20);
  t.equal(outputBound(priced, 20_000), 1000);
  t.equal(outputBound(priced, 19.5), 20);
});

t.test('whatever the model reads is counted, also what is no message', async (t) => {
  const messages = [{ role: 'user', content: 'What is the time in Ulm?' }];
  const tools = [{ type: 'function', function: { name: 'clock', parameters: { type: 'object' } } }];
  const call = { id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{"city":"Ulm"}' } };
  const alone = chatTokens({ messages }, 1600);
  t.equal(alone, 6 + 8);
  t.ok(chatTokens({ messages, tools }, 1600) > alone);
  const called = chatTokens(
    { messages: [...messages, { role: 'assistant', content: null, tool_calls: [call] }] },
    1600,
  );
  t.ok(called > chatTokens({ messages: [...messages, { role: 'assistant', content: null }] }, 1600));
  t.equal(
    upperBound(priced, { messages, tools }, 20),
    tokenCost(priced, { promptTokens: chatTokens({ messages, tools }, 1600), completionTokens: 20 }),
  );
});
