import t from 'tap';
import { jupiterData } from '../../../src/upstream/providers/jupiter/adapter.ts';
import { prices } from '../../../src/upstream/providers/jupiter/client.ts';
import { adapterContract, openSetting, problemOf } from './contract.ts';

const JUP = 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN';
const TSLAX = 'XsDoVfqeBukxuZHWhdvWHBhgEHjGNst4MLodqsJHzoB';
const jupiter = (operation: string) => ({ adapter: jupiterData, upstream: {}, options: { operation } });
const tokens = {
  type: 'object',
  properties: { tokens: { type: 'array', minItems: 1, items: { required: ['id', 'name', 'symbol', 'usdPrice'] } } },
  required: ['tokens'],
};

adapterContract(t, 'prices', {
  ...jupiter('prices'),
  input: { mints: [JUP] },
  result: {
    properties: { prices: { required: [JUP], additionalProperties: { required: ['usdPrice'] } } },
    required: ['prices'],
  },
  refusal: 'failed',
});
adapterContract(t, 'a token search', {
  ...jupiter('search'),
  input: { query: 'bonk' },
  result: tokens,
  refusal: 'failed',
});
adapterContract(t, 'top tokens', {
  ...jupiter('top'),
  input: { ranking: 'toptrending', interval: '1h' },
  result: tokens,
  refusal: 'failed',
});
adapterContract(t, 'tagged tokens', { ...jupiter('tagged'), input: { tag: 'lst' }, result: tokens, refusal: 'failed' });

t.test('asks for prices in chunks and leaves out what has none', async (t) => {
  const { binding, context, doubles } = await openSetting(t, jupiter('prices'));
  const mints = [...Array.from({ length: 120 }, (_, index) => `unknown${index}`), TSLAX];
  const found = await prices(binding, mints, context);
  t.same([...found.keys()], [TSLAX]);
  t.same(doubles.calls(), { 'the-upstream': 3 });
});

t.test('words that a search does not take are the caller’s fault', async (t) => {
  const { binding, context } = await openSetting(t, jupiter('search'));
  const options = { operation: 'search' } as const;
  t.match(await problemOf(jupiterData.call({ query: '' }, { ...binding, options }, context)), {
    failure: 'invalid-input',
    publicMessage: /search/,
    providerMessage: /query/,
  });
});
