import t from 'tap';
import type { Network } from '../../src/catalogue/types.ts';
import { assetsOf, fromAtomic } from '../../src/payment/assets.ts';

const bound = (address: string) => ({ caip2: 'eip155:1', asset: { symbol: 'USDG', address, decimals: 18 } });
const network: Network = {
  id: 'chain',
  family: 'evm',
  listedAs: 'chain',
  live: bound('0xAbCd'),
  sandbox: bound('0xEf01'),
  authorizationLastsMs: undefined,
};
const assetOf = assetsOf([network]);

t.test('an asset is known by its address in either mode, however that is spelt; any other has six decimals', (t) => {
  for (const address of ['0xAbCd', '0xabcd', '0xEF01'])
    t.match(assetOf(address), { symbol: 'USDG', decimals: 18 }, address);
  t.same(assetOf('0x1234'), { symbol: 'USD', decimals: 6 });
  t.end();
});

t.test('atomic units are money of six decimals, and what is finer is left out', (t) => {
  t.equal(fromAtomic('1999999999999', { decimals: 18 }), 1n);
  t.equal(fromAtomic('60000', { decimals: 6 }), 60_000n);
  t.equal(fromAtomic('6', { decimals: 2 }), 60_000n);
  t.end();
});
