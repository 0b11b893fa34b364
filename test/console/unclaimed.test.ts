/** What was drawn from deposits and waits in the contract is told beside the network it is on. */
import t from 'tap';
import type { NetworkRow } from '../../src/console/figures.ts';
import { openChannel } from '../channels.ts';
import { request } from '../clients.ts';
import { picturesWith } from '../settling-first.ts';
import { startConsole } from './client.ts';

t.test('what calls were charged to channels is to be claimed, in dollars', async (t) => {
  const catalogue = picturesWith(t, '{ channels: true }');
  const { gateway, get } = await startConsole({ catalogue, networks: ['chain-a', 'chain-c'] });
  t.teardown(gateway.stop);
  const unclaimed = async () =>
    Object.fromEntries((await get<NetworkRow[]>('networks')).map((network) => [network.id, network.unclaimed]));

  t.match(await unclaimed(), { 'chain-a': '0', 'chain-c': '0' });
  const payer = openChannel(gateway);
  for (const prompt of ['a lighthouse', 'a storm']) {
    t.equal((await payer.buy(request(gateway, '/image/family-e-2', { prompt }))).status, 200);
  }
  t.match(await unclaimed(), { 'chain-a': '0', 'chain-c': '0.12' });
});
