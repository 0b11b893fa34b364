/** What is not taken from files alone: a price is so many units of a token, and paid to a wallet. Their chains say what they are. */
import t from 'tap';
import type { Network } from '../../src/catalogue/types.ts';
import { createLog } from '../../src/log.ts';
import { tokenAccountOf } from '../../src/payment/chains/solana-token-account.ts';
import { createPayableNetworks } from '../../src/payment/networks.ts';
import { startChains } from '../../src/sandbox/chains/index.ts';
import { TOKEN_PROGRAM } from '../../src/sandbox/chains/spl.ts';
import { loadSound } from '../load-catalogue.ts';

const { networks } = loadSound(process.env.TURNPIKE_CATALOGUE ?? 'catalogue');
const sold = [...networks.values()].filter(({ id }) => ['chain-a', 'chain-c', 'chain-d'].includes(id));
const chains = await startChains({ networks: sold });
t.teardown(chains.stop);
const { localFacilitator } = await import('../../src/payment/facilitators/local.ts');
const facilitator = localFacilitator(chains.facilitatorOptions);
t.teardown(() => facilitator.close());

interface Mistake {
  readonly decimals?: number;
  /** By network. */
  readonly payTo?: Readonly<Record<string, string>>;
}

async function offered({ decimals, payTo = {} }: Mistake = {}) {
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
      payTo: payTo[network.id] ?? chains.payTo[network.id],
      rpcUrl: network.family === 'solana' ? chains.solana?.rpcUrl : chains.evm[network.id]?.rpcUrl,
    })),
    [{ name: 'a facilitator', facilitator }],
    { ...createLog('silent'), warn },
  );
  await payable.refresh();
  return { ids: payable.all().map(({ id }) => id), reasons };
}

t.test('a network is not offered whose file says other decimals than its token has', async (t) => {
  t.same(await offered(), { ids: sold.map(({ id }) => id), reasons: [] });
  // What is a ten-thousandth of a dollar would be taken for one.
  const { ids, reasons } = await offered({ decimals: 2 });
  t.same(ids, []);
  const addresses = sold.map(({ sandbox }) => sandbox.asset.address);
  t.same(
    reasons,
    addresses.map(
      (address) => `its token ${address} has 6 decimals on its chain, not 2: correct decimals in networks.yaml`,
    ),
  );
});

t.test(
  'Solana is not offered where the account of tokens is to be paid, and not the wallet that owns it',
  async (t) => {
    const { solana } = chains;
    const solanaIds = sold.flatMap(({ id, family }) => (family === 'solana' ? [id] : []));
    if (!solana) throw new Error('there is no Solana here');
    const account = await tokenAccountOf(chains.wallets.solana.payer.address, solana.mint, TOKEN_PROGRAM);
    const { ids, reasons } = await offered({ payTo: Object.fromEntries(solanaIds.map((id) => [id, account])) });
    t.same(
      ids,
      sold.flatMap(({ id, family }) => (family === 'solana' ? [] : [id])),
    );
    t.equal(reasons.length, solanaIds.length);
    for (const reason of reasons)
      t.match(reason, `${account} is a token account, and what is paid to one is lost: give the wallet`);
  },
);
