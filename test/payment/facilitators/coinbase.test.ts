import t from 'tap';
import { coinbaseFacilitator } from '../../../src/payment/facilitators/coinbase.ts';

t.test('a key that cannot sign settles nothing and is not told', async (t) => {
  const facilitator = await coinbaseFacilitator('key-id', 'not-a-key');
  t.teardown(() => facilitator.close());
  const error = await facilitator.supported().catch((thrown: Error) => thrown);
  t.match(error, { name: 'FacilitatorUnreachable' });
  t.notMatch(String(error), /not-a-key/);
});
