import { decodePaymentResponseHeader } from '@x402/fetch';
import t, { type Test } from 'tap';
import { decodeXPaymentResponse } from 'x402-fetch';
import { receiptOf, request, sendProof, signProof, signProofV1 } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { picturesWith } from '../../settling-first.ts';
import { stoppedClock } from '../../stopped-clock.ts';

// However much these tests lose, payments go on settling after the work.
const exposure =
  '{ perPayer: "1000.00", new: "1000.00", perHour: "1000.00", lossLimit: "1000.00", settleUpfront: { afterFailures: 99 } }';
const gateway = await startGateway({
  catalogue: picturesWith(t, exposure, 'llm/vendor3-5.6-luna', 'video/family-h-2.5'),
  solanaNow: stoppedClock(),
});
t.teardown(gateway.stop);

let made = 0;
const nextNumber = () => {
  made += 1;
  return made;
};
const image = () => request(gateway, '/image/family-e-2', { prompt: `a harbour, number ${nextNumber()}` });
/** Done while a payment is still good, on every network. */
const text = () =>
  request(gateway, '/llm/vendor3-5.6-luna', { prompt: `Tell me of harbour number ${nextNumber()}.`, max_tokens: 200 });
const video = () =>
  request(gateway, '/video/family-h-2.5', {
    prompt: `a wave, number ${nextNumber()}`,
    duration: 4,
    resolution: '480p',
  });

interface ErrorBody {
  error: { code: string; message: string; requestId: string };
}

for (const network of ['chain-c', 'chain-a']) {
  for (const [fault, code] of [
    ['500', 'upstream_failed'],
    ['429', 'upstream_failed'],
    ['malformed', 'upstream_invalid_result'],
    ['refuse', 'content_refused'],
  ] as const) {
    t.test(`nothing is charged on ${network} when the upstream answers with the fault ${fault}`, async (t) => {
      const call = text();
      const proof = await signProof(gateway, network, call);
      const [earned, spendable] = [await gateway.earned(network), await gateway.spendable(network)];
      await gateway.fault({ upstream: 'chat', fault });
      const answer = await sendProof(call, proof);
      const body = (await answer.json()) as ErrorBody;
      t.equal(answer.status, fault === 'refuse' ? 400 : 500);
      t.equal(body.error.code, code);
      t.match(body.error, { requestId: /.+/ });
      t.notMatch(JSON.stringify(body), /"chat"|openrouter|127\.0\.0\.1|sandbox-/, 'nothing internal is told');
      t.equal(answer.headers.get('payment-response'), null);
      t.equal(await gateway.earned(network), earned);
      t.equal(await gateway.spendable(network), spendable);
    });
  }
}

t.test('a refused settlement of a version 1 payment has a response in its own header', async (t) => {
  const call = image();
  const proof = await signProofV1(gateway, 'chain-c', call);
  await gateway.fault({ settlement: 'chain-c', fault: 'refuse' });
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 402);
  t.equal(answer.headers.get('payment-response'), null);
  const response = decodeXPaymentResponse(answer.headers.get('x-payment-response') ?? '');
  t.match(response, {
    success: false,
    errorReason: /./,
    network: 'base-sepolia',
    payer: gateway.sandbox.payer('chain-c'),
  });
});

t.test('a settlement that is refused withholds the result and asks anew', async (t) => {
  const call = image();
  const proof = await signProof(gateway, 'chain-c', call);
  const earned = await gateway.earned('chain-c');
  await gateway.fault({ settlement: 'chain-c', fault: 'refuse' });
  const answer = await sendProof(call, proof);
  const body = (await answer.json()) as { detail: string; image_url?: string };
  t.equal(answer.status, 402);
  t.match(body.detail, /not settled/);
  t.equal(body.image_url, undefined);
  t.ok(answer.headers.get('payment-required'));
  const response = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
  const payer = gateway.sandbox.payer('chain-c');
  const failed = { success: false, errorReason: /./, errorMessage: /./, transaction: '', network: /^eip155:/, payer };
  t.match(response, failed);
  t.equal(await gateway.earned('chain-c'), earned);
  const before = await gateway.calls();
  const again = await sendProof(call, proof);
  t.equal(again.status, 402, 'for good');
  t.match(await again.json(), { detail: /could not be settled \(the sandbox was told to refuse.*\): sign a new one/ });
  t.ok(again.headers.get('payment-required'), 'with a fresh challenge');
  t.same(await gateway.calls(), before);
});

for (const network of ['chain-c', 'chain-a']) {
  t.test(`a settlement on ${network} whose answer was lost is found on the chain and charged once`, async (t) => {
    const call = image();
    const proof = await signProof(gateway, network, call);
    const [earned, before] = [await gateway.earned(network), await gateway.calls()];
    await gateway.fault({ settlement: network, fault: 'unknown' });
    const answer = await sendProof(call, proof);
    t.equal(answer.status, 200, await answer.clone().text());
    t.match(receiptOf(answer), { success: true, transaction: /.{20,}/ });
    const again = await sendProof(call, proof);
    t.equal(again.status, 200);
    t.equal(receiptOf(again).transaction, receiptOf(answer).transaction);
    t.equal((await gateway.earned(network)) - earned, 60_000n);
    t.equal((await gateway.calls()).upstreamCalls - before.upstreamCalls, 1);
  });
}

async function isPending(t: Test, answer: Response) {
  t.equal(answer.status, 409);
  t.match(await answer.json(), { error: { code: 'settlement_pending' } });
  t.ok(answer.headers.get('retry-after'));
}

for (const network of ['chain-c', 'chain-a']) {
  t.test(`a settlement that never reached ${network} is tried again once its payer returns`, async (t) => {
    const call = image();
    const proof = await signProof(gateway, network, call);
    const [earned, before] = [await gateway.earned(network), await gateway.calls()];
    await gateway.fault({ settlement: network, fault: 'timeout' });
    await isPending(t, await sendProof(call, proof));
    t.equal(await gateway.earned(network), earned, 'the result is withheld');
    const answers = await Promise.all([1, 2, 3].map(() => sendProof(call, proof)));
    for (const answer of answers) t.equal(answer.status, 200, await answer.clone().text());
    t.equal(new Set(await Promise.all(answers.map((answer) => answer.text()))).size, 1);
    t.equal((await gateway.earned(network)) - earned, 60_000n, 'charged once');
    t.equal((await gateway.calls()).upstreamCalls - before.upstreamCalls, 1, 'for the answer that was kept');
  });

  t.test(`nobody is told to sign again while an earlier settlement on ${network} may still come`, async (t) => {
    const call = image();
    const proof = await signProof(gateway, network, call);
    const earned = await gateway.earned(network);
    await gateway.fault({ settlement: network, fault: 'timeout' });
    await isPending(t, await sendProof(call, proof));
    await gateway.fault({ settlement: network, fault: 'refuse' });
    await isPending(t, await sendProof(call, proof));
    t.equal((await sendProof(call, proof)).status, 200);
    t.equal((await gateway.earned(network)) - earned, 60_000n);
  });
}

t.test('a settlement that comes first and never reached its chain is tried again before the work', async (t) => {
  const call = video();
  const proof = await signProof(gateway, 'chain-a', call);
  const [earned, before] = [await gateway.earned('chain-a'), await gateway.calls()];
  await gateway.fault({ settlement: 'chain-a', fault: 'timeout' });
  await isPending(t, await sendProof(call, proof));
  t.same(await gateway.calls(), before, 'nothing was worked for');
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200, await answer.clone().text());
  t.equal((await gateway.earned('chain-a')) - earned, 480_000n);
});

t.test(
  'video on Solana settles first, and what failed then is owed: the same proof gets it without a new charge',
  async (t) => {
    const call = video();
    const unpaid = await fetch(call.url, call.init);
    const challenge = JSON.parse(Buffer.from(unpaid.headers.get('payment-required') ?? '', 'base64').toString());
    const flows = Object.fromEntries(
      challenge.accepts.map((offer: { network: string; extra: { paymentFlow?: string } }) => [
        offer.network.split(':')[0],
        offer.extra.paymentFlow,
      ]),
    );
    t.same(flows, { solana: 'upfront', eip155: undefined });

    const proof = await signProof(gateway, 'chain-a', call);
    const earned = await gateway.earned('chain-a');
    await gateway.fault({ upstream: 'predictions', fault: '500' });
    const failed = await sendProof(call, proof);
    t.equal(failed.status, 500);
    t.match(await failed.json(), { error: { code: 'result_owed' } });
    t.equal((await gateway.earned('chain-a')) - earned, 480_000n);

    const answer = await sendProof(call, proof);
    t.equal(answer.status, 200);
    t.match(await answer.json(), { video_url: /\.mp4$/, duration: 4 });
    t.equal((await gateway.earned('chain-a')) - earned, 480_000n);
  },
);

t.test('the same video on an EVM network settles after, and its failure is not charged', async (t) => {
  const call = video();
  const proof = await signProof(gateway, 'chain-c', call);
  const earned = await gateway.earned('chain-c');
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  t.equal((await sendProof(call, proof)).status, 500);
  t.equal(await gateway.earned('chain-c'), earned);
});

t.test('a provider that refuses the content after payment is not asked again: the refund is due', async (t) => {
  const call = video();
  const proof = await signProof(gateway, 'chain-a', call);
  const earned = await gateway.earned('chain-a');
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  const problemOf = async () => {
    const answer = await sendProof(call, proof);
    return { status: answer.status, ...((await answer.json()) as ErrorBody).error };
  };
  t.match(await problemOf(), { status: 500, code: 'result_owed', message: /content_refused.*refund/ });
  const before = await gateway.calls();
  for (let again = 0; again < 3; again += 1) {
    t.match(await problemOf(), { status: 500, code: 'result_owed', message: /content_refused.*refund/ });
  }
  t.same(await gateway.calls(), before);
  t.equal((await gateway.earned('chain-a')) - earned, 480_000n);
});

t.test('what is owed for good names what was paid however often it is asked for', async (t) => {
  const call = video();
  const proof = await signProof(gateway, 'chain-a', call);
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  const first = receiptOf(await sendProof(call, proof));
  t.match(first, { success: true, transaction: /.+/, amount: '480000' });
  const again = await sendProof(call, proof);
  t.equal(again.status, 500);
  t.same(receiptOf(again), first);
});

t.test('what is owed is tried twenty times, and then the payer is told at once to turn to the operator', async (t) => {
  const call = video();
  const proof = await signProof(gateway, 'chain-a', call);
  const earned = await gateway.earned('chain-a');
  await gateway.fault({ upstream: 'predictions', fault: '500', count: 20 });
  const problemOf = async () => {
    const answer = await sendProof(call, proof);
    return { status: answer.status, ...((await answer.json()) as ErrorBody).error };
  };
  for (let attempt = 1; attempt <= 20; attempt += 1) {
    t.match(await problemOf(), {
      status: 500,
      code: 'result_owed',
      message: /send the same request with the same payment/,
    });
  }
  const before = await gateway.calls();
  t.match(await problemOf(), { status: 500, code: 'result_owed', message: /the operator .* has to give it back/ });
  t.same(await gateway.calls(), before);
  t.equal((await gateway.earned('chain-a')) - earned, 480_000n);
});
