/** The registry of tokenized stocks as a list. */
import type { Adapter } from '../../adapter.ts';
import { tokenizedStocks } from './client.ts';

export const xstocksRegistry: Adapter = {
  name: 'xstocks-registry',
  secrets: [],
  options: { type: 'object', properties: {} },
  reads: () => ({ fields: {} }),
  call: async (_input, binding, context) => ({ assets: await tokenizedStocks(binding, context) }),
};
