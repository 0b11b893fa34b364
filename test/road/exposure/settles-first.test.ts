/** Where a payment settles before the work, everybody reads so before paying. */
import t from 'tap';
import { request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';

const gateway = await startGateway({ networks: ['chain-a', 'chain-c'], tempo: true });
t.teardown(gateway.stop);

const read = async (path: string) => (await fetch(gateway.url + path)).text();

interface Offer {
  network: string;
  extra: { paymentFlow?: string };
}

async function accepts(path: string, body: object): Promise<Offer[]> {
  const { url, init } = request(gateway, path, body);
  const answer = await fetch(url, init);
  t.equal(answer.status, 402);
  const header = answer.headers.get('payment-required') ?? '';
  return (JSON.parse(Buffer.from(header, 'base64').toString()) as { accepts: Offer[] }).accepts;
}

const flows = (offers: readonly Offer[]) =>
  offers.map(({ network, extra }) => [network.split(':')[0], extra.paymentFlow]);

t.test('a challenge offers first what settles after the result', async (t) => {
  const slow = [
    ['eip155', undefined],
    ['solana', 'upfront'],
  ];
  t.strictSame(flows(await accepts('/video/short-generation', { prompt: 'waves' })), slow);
  t.strictSame(flows(await accepts('/image/family-e-2', { prompt: 'a lighthouse' })), slow);
  const quick = await accepts('/tokens-api/search', { q: 'usdc' });
  t.strictSame(flows(quick), [['solana', undefined]]);
});

t.test('the lists for programs say on which networks an endpoint settles first', async (t) => {
  const { resources } = JSON.parse(await read('/x402-resources')) as { resources: { slug: string }[] };
  const listed = (slug: string) => resources.find((resource) => resource.slug === slug);
  t.match(listed('video/short-generation'), {
    pricing: { network: 'chain-a-mainnet', paymentFlow: 'upfront' },
    networks: [{ network: 'chain-c-mainnet', paymentFlow: undefined }],
  });
  t.match(listed('tokens-api/search'), { pricing: { network: 'chain-a-mainnet', paymentFlow: undefined } });

  const document = JSON.parse(await read('/openapi/x402.json'));
  t.match(document.paths['/video/short-generation'].post['x-payment-info'].offers, [
    { network: /^eip155/, paymentFlow: undefined },
    { network: /^solana/, paymentFlow: 'upfront', description: /before the work.*refunded/ },
  ]);
});

t.test('so does the text for agents, line by line', async (t) => {
  const lines = (await read('/llms.txt')).split('\n');
  const line = (path: string) => lines.find((each) => each.startsWith(`- ${path}:`));
  t.match(line('/video/short-generation'), /Settles first on chain-a-mainnet\.$/);
  t.notMatch(line('/tokens-api/search'), /Settles first/);
  t.match(lines.join('\n'), /paymentFlow: "upfront"/);
  const [x402 = '', mpp = ''] = lines.join('\n').split('## Paying with MPP');
  for (const paying of [x402, mpp]) t.match(paying, /so do payments of more than\s1\sUSD/);
  t.match(line('/mpp/image/family-e'), /Settles first with the method tempo\.$/);
});

t.test('over MPP, the method that settles after the result comes first', async (t) => {
  const { url, init } = request(gateway, '/mpp/image/family-e', { prompt: 'a lighthouse' });
  const challenges = (await fetch(url, init)).headers.get('www-authenticate') ?? '';
  t.match(challenges, /method="evm".*method="tempo"/s);
  t.match(challenges.slice(challenges.indexOf('method="tempo"')), /settles before the work/);
});
