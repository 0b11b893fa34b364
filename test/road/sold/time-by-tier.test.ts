/** What sells more takes longer: the time for it is its own, and so is what has to settle first for it. */
import t from 'tap';
import { type PaidCall, request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { stoppedClock } from '../../stopped-clock.ts';

const PATH = '/llm/vendor1-fable-5';
const gateway = await startGateway({ solanaNow: stoppedClock() });
t.teardown(gateway.stop);

const ask = (tier: string): PaidCall => request(gateway, PATH, { prompt: 'Why does fog scatter light?', tier });

interface Offer {
  readonly network: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly paymentFlow?: string };
}

async function offersFor(tier: string) {
  const call = ask(tier);
  const header = (await fetch(call.url, call.init)).headers.get('payment-required') ?? '';
  const { accepts } = JSON.parse(Buffer.from(header, 'base64').toString());
  return (accepts as Offer[]).map(({ network, maxTimeoutSeconds, extra }) => ({
    family: network.split(':')[0],
    maxTimeoutSeconds,
    paymentFlow: extra.paymentFlow,
  }));
}

t.test(
  'a small text settles after the answer everywhere, a large one first where a payment is short-lived',
  async (t) => {
    t.same(await offersFor('small'), [
      { family: 'solana', maxTimeoutSeconds: 60, paymentFlow: undefined },
      { family: 'eip155', maxTimeoutSeconds: 110, paymentFlow: undefined },
    ]);
    t.same(await offersFor('large'), [
      { family: 'eip155', maxTimeoutSeconds: 260, paymentFlow: undefined },
      { family: 'solana', maxTimeoutSeconds: 60, paymentFlow: 'upfront' },
    ]);
  },
);

t.test('both are sold on both networks', async (t) => {
  for (const tier of ['small', 'large']) {
    for (const network of ['chain-a', 'chain-c'] as const) {
      const call = ask(tier);
      const answer = await sendProof(call, await signProof(gateway, network, call));
      t.match(await answer.json(), { tier }, `${tier} on ${network}`);
    }
  }
});

t.test('every document says it before anybody pays', async (t) => {
  const read = async (path: string) => await (await fetch(gateway.url + path)).text();
  const { resources } = JSON.parse(await read('/x402-resources'));
  const listed = resources.find(({ slug }: { slug: string }) => slug === PATH.slice(1));
  t.match(listed.pricing, { network: 'chain-a', upfrontWhere: { tier: ['medium', 'large'] } });
  t.notOk(listed.networks[0].upfrontWhere);
  const line = (await read('/llms.txt')).split('\n').find((each) => each.includes(PATH));
  t.match(line, /Settles first on chain-a-mainnet where tier is medium or large\./);
  const { paths } = JSON.parse(await read('/openapi/x402.json'));
  const [first] = paths[PATH].post['x-payment-info'].offers;
  t.notOk(first.paymentFlow);
  t.match(first.description, /^Settles before the work where tier is medium or large:/);
});
