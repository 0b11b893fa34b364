/** A price is so many units of a token: how many a dollar has, its chain says. */
import t from 'tap';
import type { Network } from '../../src/catalogue/types.ts';
import { createLog } from '../../src/log.ts';
import { createPayableNetworks } from '../../src/payment/networks.ts';
import { startChains } from '../../src/sandbox/chains/index.ts';
import { loadSound } from '../load-catalogue.ts';

t.test('a network is not offered whose file says other decimals than its token has', async (t) => {
  const { networks } = loadSound(process.env.TURNPIKE_CATALOGUE ?? 'catalogue');
  const sold = [...networks.values()].filter(({ id }) => ['chain-a', 'chain-c', 'chain-d'].includes(id));
  const chains = await startChains({ networks: sold });
  t.teardown(chains.stop);
  const { localFacilitator } = await import('../../src/payment/facilitators/local.ts');
  const facilitator = localFacilitator(chains.facilitatorOptions);
  t.teardown(() => facilitator.close());

  async function offered(decimals: number | undefined) {
    const reasons: string[] = [];
    const warn = (details: object) => void reasons.push(String(Reflect.get(details, 'reason')));
    const written = ({ sandbox, ...network }: Network): Network => ({
      ...network,
      sandbox: { ...sandbox, asset: { ...sandbox.asset, ...(decimals !== undefined && { decimals }) } },
    });
    const payable = createPayableNetworks(
      sold.map((network) => ({
        network: written(network),
        mode: 'sandbox',
        payTo: chains.payTo[network.id],
        rpcUrl: network.family === 'solana' ? chains.solana?.rpcUrl : chains.evm[network.id]?.rpcUrl,
      })),
      [{ name: 'a facilitator', facilitator }],
      { ...createLog('silent'), warn },
    );
    await payable.refresh();
    return { ids: payable.all().map(({ id }) => id), reasons };
  }

  t.same(await offered(undefined), { ids: sold.map(({ id }) => id), reasons: [] });
  // What is a ten-thousandth of a dollar would be taken for one.
  const { ids, reasons } = await offered(2);
  t.same(ids, []);
  const addresses = sold.map(({ sandbox }) => sandbox.asset.address);
  t.same(
    reasons,
    addresses.map(
      (address) => `its token ${address} has 6 decimals on its chain, not 2: correct decimals in networks.yaml`,
    ),
  );
});
