import t from 'tap';
import { xstocksRegistry } from '../../../src/upstream/providers/xstocks/adapter.ts';
import { tokenizedStocks } from '../../../src/upstream/providers/xstocks/client.ts';
import { adapterContract, openSetting } from './contract.ts';

const TSLAX = 'XsDoVfqeBukxuZHWhdvWHBhgEHjGNst4MLodqsJHzoB';
const registry = { adapter: xstocksRegistry, upstream: {}, options: {} };
adapterContract(t, 'the registry of tokenized stocks', {
  ...registry,
  input: {},
  result: { properties: { assets: { type: 'array', minItems: 5, items: { required: ['symbol', 'name', 'mint'] } } } },
  refusal: 'failed',
});

t.test('turns every page of the registry', async (t) => {
  const { binding, context, doubles } = await openSetting(t, registry);
  const stocks = await tokenizedStocks(binding, context);
  t.same(stocks[0], { symbol: 'TSLAx', name: 'Tesla xStock', mint: TSLAX });
  t.equal(doubles.calls()['the-upstream'], Math.ceil(stocks.length / 2));
});
