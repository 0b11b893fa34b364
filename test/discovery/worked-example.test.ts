/** The program in `/llms.txt` is run as it stands, by Node, against the challenges that the gateway writes. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import t from 'tap';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import type { PayableNetwork, PayableNetworks } from '../../src/payment/networks.ts';
import { openX402Rail } from '../../src/rails/x402/rail.ts';
import { encodeHeader } from '../../src/rails/x402/wire.ts';
import { noChannels } from '../payment/channels/none.ts';
import { noExposure } from '../payment/exposure/none.ts';
import { documentsOf, endpoint, networks, parts, payTo, price } from './samples.ts';

const cheap = endpoint('image/cheap', { path: '/image/cheap', price: price('0.002'), networks: ['base'] });
const [cheapRoute] = cheap.routes;
if (!cheapRoute) throw new Error('the sample has no route');

function basePayable(): PayableNetwork {
  const base = networks.get('base');
  if (!base) throw new Error('no sample network base');
  const { caip2, asset } = base.live;
  return {
    id: 'base',
    family: 'evm',
    caip2,
    v1Name: 'base',
    asset,
    payTo: payTo(base),
    authorizationLastsMs: undefined,
    rpcUrl: undefined,
    facilitator: {
      supported: async () => [],
      verify: () => Promise.reject(new Error('not asked here')),
      settle: () => Promise.reject(new Error('not asked here')),
      close: async () => {},
    },
    extra: { name: 'USD Coin', version: '2' },
    upto: undefined,
    takesApprovals: false,
    hold: undefined,
    channels: undefined,
  };
}

t.test('the worked example pays the cheapest call and prints receipt and result', async (t) => {
  const payable = basePayable();
  const paid: { accepted: unknown; payer: string; body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const proof = request.headers['payment-signature'];
    const networks: PayableNetworks = {
      find: () => payable,
      all: () => [payable],
      ids: [payable.id],
      named: () => undefined,
      configured: () => undefined,
      decimals: () => 6,
      version: 1,
      leastPrice: () => 0n,
      refresh: async () => {},
      weigh: async () => {},
    };
    const rail = openX402Rail({
      networks,
      exposure: noExposure,
      channels: noChannels,
      publicUrl,
      challengeKey: '',
      now: Date.now,
    });
    if (typeof proof !== 'string') {
      const raw = {
        transport: 'http' as const,
        method: 'POST',
        path: cheapRoute.path,
        query: '',
        headers: {},
        body: Buffer.concat(chunks),
      };
      const answer = rail.http.challenge(
        rail.challenge({
          route: cheapRoute,
          amount: cheapRoute.listing.price,
          networks: cheapRoute.networks,
          deadlineMs: cheapRoute.deadlineMs,
          isSecret: false,
          request: raw,
        }),
      );
      response.writeHead(answer.status, answer.headers).end(answer.body);
      return;
    }
    const { accepted, payload } = JSON.parse(Buffer.from(proof, 'base64').toString());
    paid.push({ accepted, payer: payload.authorization.from, body: JSON.parse(String(Buffer.concat(chunks))) });
    const receipt = { success: true, transaction: '0xfeed', network: payable.caip2 };
    response.setHeader('payment-response', encodeHeader(receipt)).end(JSON.stringify(cheapRoute.resultExample));
  });
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const documents = documentsOf({ publicUrl, routes: [...parts.routes, cheapRoute] });
  const text = String(documents.get('/llms.txt')?.body);
  const program = /^node .*<<'END'\n([\s\S]*?)^END$/m.exec(text)?.[1] ?? '';
  const directory = t.testdir({ 'pay.mjs': program });
  const key = generatePrivateKey();
  const { stdout } = await promisify(execFile)(process.execPath, [`${directory}/pay.mjs`], {
    env: { ...process.env, EVM_PRIVATE_KEY: key },
  });

  t.match(stdout, '0xfeed', 'the receipt');
  t.match(stdout, 'https://shop.example/media/1.png', 'the result');
  t.match(paid, [
    { accepted: { amount: '2000', network: 'eip155:8453' }, payer: privateKeyToAddress(key), body: cheapRoute.example },
  ]);
});
