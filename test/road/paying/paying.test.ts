import t from 'tap';
import { sniffMediaType } from '../../../src/upstream/media/type.ts';
import { payV1, payV2, receiptOf, request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { stoppedClock } from '../../stopped-clock.ts';

const gateway = await startGateway({ networks: ['chain-a', 'chain-c', 'chain-e'], solanaNow: stoppedClock() });
t.teardown(gateway.stop);

const image = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse in fog', resolution: '2k' });

t.test('an unpaid call is told the exact price in both protocol versions', async (t) => {
  const answer = await fetch(image.url, image.init);
  const body = (await answer.json()) as { accepts: object[]; challengeId: string };
  t.equal(answer.status, 402);
  t.equal(answer.headers.get('content-type'), 'application/problem+json');
  t.equal(answer.headers.get('turnpike-mode'), 'sandbox');
  const challenge = JSON.parse(Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString());
  t.equal(challenge.x402Version, 2);
  for (const offer of challenge.accepts) t.equal(offer.amount, '100000');
  t.match(body, { type: /payment-required$/, status: 402, x402Version: 1 });
  t.ok(body.challengeId);
  for (const offer of body.accepts) t.match(offer, { maxAmountRequired: '100000', amount: '100000' });
});

for (const [network, client, pay] of [
  ['chain-c', 'a version 2 client', payV2],
  ['chain-a', 'a version 2 client', payV2],
  ['chain-c', 'a version 1 client', payV1],
  ['chain-a', 'a version 1 client', payV1],
] as const) {
  t.test(`${client} pays on ${network}, and exactly the price moves`, async (t) => {
    const [earned, spendable] = [await gateway.earned(network), await gateway.spendable(network)];
    const answer = await pay(gateway, network, image);
    const result = await answer.json();
    t.equal(answer.status, 200, JSON.stringify(result));
    t.match(result, { image_url: /^http.*\.jpg$/, metadata: { resolution: '2k', sandbox: true } });
    t.match(receiptOf(answer), { success: true, transaction: /.+/ });
    t.equal((await gateway.earned(network)) - earned, 100_000n);
    t.equal(spendable - (await gateway.spendable(network)), 100_000n);
  });
}

for (const network of ['chain-a', 'chain-c']) {
  t.test(`X-PAYMENT takes a payment of version 2 on ${network}`, async (t) => {
    const proof = (await signProof(gateway, network, image))['PAYMENT-SIGNATURE'] ?? '';
    const earned = await gateway.earned(network);
    const answer = await sendProof(image, { 'x-payment': proof });
    t.equal(answer.status, 200);
    t.match(receiptOf(answer), { success: true });
    t.equal((await gateway.earned(network)) - earned, 100_000n);
  });
}

t.test('a mirror is paid on its own network, at its own price', async (t) => {
  const earned = await gateway.earned('chain-e');
  const answer = await payV2(
    gateway,
    'chain-e',
    request(gateway, '/chain-e/image/family-a-2-pro', { prompt: 'a harbour' }),
  );
  t.equal(answer.status, 200);
  t.equal((await gateway.earned('chain-e')) - earned, 60_000n);
});

t.test('a GET endpoint is paid like a POST endpoint', async (t) => {
  const answer = await payV2(gateway, 'chain-a', request(gateway, '/stock/arb?sort=premium'));
  t.equal(answer.status, 200);
  t.match(await answer.json(), { opportunities: [{ ticker: /.+/ }] });
});

t.test('generated files are served with their type, for a long time', async (t) => {
  const result = (await (await payV2(gateway, 'chain-c', image)).json()) as { image_url: string };
  const file = await fetch(result.image_url);
  t.equal(file.headers.get('content-type'), 'image/jpeg');
  t.match(file.headers.get('cache-control'), /max-age=31536000/);
  t.equal(sniffMediaType(Buffer.from(await file.arrayBuffer()))?.type, 'image/jpeg');
});

t.test('no proxy keeps an answer for others: paid ones are private, and nothing else is stored', async (t) => {
  const cacheControl = ({ status, headers }: Response) => [status, headers.get('cache-control')];
  const proof = await signProof(gateway, 'chain-c', image);
  t.same(cacheControl(await fetch(image.url, image.init)), [402, 'no-store']);
  t.same(cacheControl(await sendProof(image, proof)), [200, 'private']);
  t.same(cacheControl(await sendProof(image, proof)), [200, 'private'], 'again');
  t.same(cacheControl(await sendProof(request(gateway, '/image/family-e-2', {}), proof)), [400, 'no-store']);
});
