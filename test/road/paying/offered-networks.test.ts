import t from 'tap';
import { sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { callOf } from '../../walk/wire.ts';

const gateway = await startGateway({ networks: ['chain-a', 'chain-c', 'chain-d'] });
t.teardown(gateway.stop);

const CHAIN_D = 'eip155:4663';

interface Challenge {
  accepts: { network: string }[];
  offers: { network: string; amount: string }[];
  invalidParams?: { path: string }[];
}

async function challenged(path: string, body: Readonly<Record<string, unknown>>) {
  const answer = await fetch(gateway.url + path, callOf(gateway, 'POST', path, body).init);
  const required = Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString('utf8');
  return { challenge: (await answer.json()) as Challenge, header: JSON.parse(required) as Pick<Challenge, 'accepts'> };
}

t.test('the body names every network, also those that version 1 has no name for', async (t) => {
  const { challenge, header } = await challenged('/shop/search', { query: 'lantern' });
  t.same(challenge.offers, header.accepts);
  t.match(challenge.offers, [{}, { network: 'eip155:84532' }, { network: CHAIN_D, amount: '20000' }]);
  t.same(
    challenge.accepts.map(({ network }) => network),
    ['solana-devnet', 'base-sepolia'],
    'a client of version 1 refuses names that it does not know',
  );
});

t.test(
  'who pays by version 1 what the body shows on a network without a name there is told which version pays',
  async (t) => {
    const [path, body] = ['/chain-d/stock/signal', { ticker: 'AAPL' }] as const;
    const { challenge } = await challenged(path, body);
    t.match(challenge.accepts, [{ network: CHAIN_D }], 'all that is offered');
    const call = callOf(gateway, 'POST', path, body);
    const [proof] = Object.values(await signProof(gateway, 'chain-d', call));
    const { payload } = JSON.parse(Buffer.from(proof ?? '', 'base64').toString());
    const payment = { x402Version: 1, scheme: 'exact', network: CHAIN_D, payload };
    const refused = await sendProof(call, { 'x-payment': Buffer.from(JSON.stringify(payment)).toString('base64') });
    t.equal(refused.status, 402);
    t.match(await refused.json(), { detail: `x402 version 1 knows no network ${CHAIN_D}: pay by version 2` });
  },
);

for (const path of ['/stock/research', '/stock/signal']) {
  t.test(`${path} is not offered on chain-d for a stock without a token there`, async (t) => {
    const networks = async (ticker: string) =>
      (await challenged(path, { ticker })).challenge.offers.map(({ network }) => network);
    t.ok((await networks('AAPL')).includes(CHAIN_D));
    t.ok((await networks('NFLX')).includes(CHAIN_D), 'other stocks are answered without the block of the token');
    for (const ticker of ['SPY', 'spyx', 'QQQ']) {
      const offered = await networks(ticker);
      t.notOk(offered.includes(CHAIN_D), ticker);
      t.equal(offered.length, 1);
    }
    t.match((await challenged(`/chain-d${path}`, { ticker: 'QQQ' })).challenge.invalidParams, [
      { path: '/ticker', expected: /chain-d/ },
    ]);
  });
}

t.test('a payment on a network that is not offered for the request moves nothing', async (t) => {
  const proof = await signProof(gateway, 'chain-d', callOf(gateway, 'POST', '/stock/signal', { ticker: 'AAPL' }));
  const earned = await gateway.earned('chain-d');
  const answer = await sendProof(callOf(gateway, 'POST', '/stock/signal', { ticker: 'SPY' }), proof);
  t.equal(answer.status, 402);
  t.equal(await gateway.earned('chain-d'), earned);
});
