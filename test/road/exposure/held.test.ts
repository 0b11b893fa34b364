/** Money that is locked before the work is taken after it, or given back. */
import { wrapFetchWithPayment } from '@x402/fetch';
import t, { type Test } from 'tap';
import { openWallet } from '../../../src/rails/x402/payer.ts';
import { type PaidCall, receiptOf, request, sendProof, signAnswer, signUpto } from '../../clients.ts';
import { openEvmWallet } from '../../evm-wallet.ts';
import { startGateway } from '../../gateway.ts';
import { HELD_ON, signHold } from '../../holds.ts';
import { callTool } from '../../mcp/tool-client.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';
import { fresh, kindOf, lose, picturesWith, termsOf } from '../../settling-first.ts';

const PRICE = 60_000n;
const HELD_FIRST = '{ hold: true, settleUpfront: { above: "0.01" } }';

const gateway = await startRelayedGateway({
  catalogue: picturesWith(t, HELD_FIRST, 'llm/vendor3-5.6-terra'),
  networks: ['chain-a', 'chain-c'],
});
t.teardown(gateway.stop);

const ask = ({ url, init }: PaidCall) => fetch(url, init);
const usage = (): PaidCall =>
  request(gateway, '/llm/vendor3-5.6-terra', { prompt: `why does fog lift? ${Math.random()}` });

/** What happens to both wallets meanwhile, in atomic units. */
async function moved(happens: () => Promise<unknown>) {
  const [earned, spendable] = [await gateway.earned('chain-c'), await gateway.spendable('chain-c')];
  await happens();
  return {
    earned: (await gateway.earned('chain-c')) - earned,
    spent: spendable - (await gateway.spendable('chain-c')),
  };
}

t.test('where a payment would settle first it is offered to be locked instead, before that', async (t) => {
  const { v2, v1 } = await termsOf(await ask(fresh(gateway)));
  const onBase = v2.accepts.filter(({ network }) => network === HELD_ON);
  t.match(onBase, [
    {
      scheme: 'auth-capture',
      amount: String(PRICE),
      extra: { captureAuthorizer: /^0x/, captureDeadline: Number, minFeeBps: 0, maxFeeBps: 0, name: 'USDC' },
    },
    { scheme: 'exact', extra: { paymentFlow: 'upfront' } },
  ]);
  t.notOk('paymentFlow' in (onBase[0]?.extra ?? {}), 'published clients would drop an offer that names its flow');
  t.ok(v1.accepts.every(({ scheme }) => scheme === 'exact'));
});

t.test('an unmodified client that can do both locks the money, and it is taken once the work is done', async (t) => {
  const call = fresh(gateway);
  const change = await moved(async () => {
    const paying = wrapFetchWithPayment(fetch, await openWallet(gateway.state, HELD_ON, 'auth-capture'));
    const answer = await paying(call.url, call.init);
    t.equal(answer.status, 200);
    t.match(receiptOf(answer), { success: true, network: HELD_ON, transaction: /^0x[0-9a-f]{64}$/ });
  });
  t.same(change, { earned: PRICE, spent: PRICE });
});

t.test('the same payment with the same request gets the same answer again, and moves nothing', async (t) => {
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  const first = await (await sendProof(call, proof)).text();
  const change = await moved(async () => {
    const again = await sendProof(call, proof);
    t.equal(again.status, 200);
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.equal(await again.text(), first);
  });
  t.same(change, { earned: 0n, spent: 0n });
});

t.test('work that comes to nothing gives the money back before it answers', async (t) => {
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  const change = await moved(async () => {
    const answer = await sendProof(call, proof);
    t.equal(answer.status, 500);
    t.match(await answer.json(), { error: { code: 'upstream_failed' } });
  });
  t.same(change, { earned: 0n, spent: 0n });
  const again = await sendProof(call, proof);
  t.equal(again.status, 402, 'what was given back buys nothing any more');
});

t.test('what is priced by use is locked at the bound, taken at the use, and the rest given back', async (t) => {
  const call = usage();
  const { accepts } = (await termsOf(await ask(call))).v2;
  const bound = BigInt((accepts.find(({ scheme }) => scheme === 'auth-capture') as { amount?: string })?.amount ?? 0);
  const change = await moved(async () => {
    const answer = await sendProof(call, await signHold(gateway, call));
    t.equal(answer.status, 200);
    t.not(answer.headers.get('turnpike-charged'), answer.headers.get('turnpike-quoted'));
  });
  t.ok(change.earned > 0n && change.earned < bound, `${change.earned} of ${bound}`);
  t.equal(change.spent, change.earned);
});

t.test('a capture whose answer is lost is found on the chain: the payer is answered and pays once', async (t) => {
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  await gateway.fault({ settlement: 'chain-c', fault: 'unknown' });
  const change = await moved(async () => t.equal((await sendProof(call, proof)).status, 200));
  t.same(change, { earned: PRICE, spent: PRICE });
});

interface Signed {
  accepted: { extra: Record<string, unknown> };
  payload: { salt: string; signature: string; authorization: { value: string; to: string | undefined } };
}

/** The hold's payload after a change to it. */
async function changed(t: Test, change: (payment: Signed) => void): Promise<Response> {
  const call = fresh(gateway);
  const header = Object.values(await signHold(gateway, call))[0] ?? '';
  const payment = JSON.parse(Buffer.from(header, 'base64').toString());
  change(payment);
  const proof = { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') };
  const upstreams = (await gateway.calls()).upstreamCalls;
  const answer = await sendProof(call, proof);
  t.equal((await gateway.calls()).upstreamCalls, upstreams, 'nobody works for it');
  return answer;
}

const later = (payment: Signed) => {
  const { extra } = payment.accepted;
  extra.captureDeadline = extra.refundDeadline = Number(extra.captureDeadline) + 3_600;
};
const nearer = (payment: Signed) => {
  const { extra } = payment.accepted;
  extra.captureDeadline = extra.refundDeadline = Math.floor(Date.now() / 1000) + 600;
};
const WRONG: Readonly<Record<string, (payment: Signed) => void>> = {
  'a later deadline than was signed': later,
  'a deadline before the work may be done': nearer,
  'another operator': (payment) => {
    payment.accepted.extra.captureAuthorizer = `0x${'11'.repeat(20)}`;
  },
  'a fee for somebody': (payment) => {
    payment.accepted.extra.maxFeeBps = 100;
  },
  'another salt': (payment) => {
    payment.payload.salt = `0x${'22'.repeat(32)}`;
  },
  'a smaller amount': (payment) => {
    payment.payload.authorization.value = '1';
  },
  'somebody else who gets it': (payment) => {
    payment.payload.authorization.to = gateway.state.payTo['chain-c'];
  },
  'a signature of somebody else': (payment) => {
    payment.payload.signature = `0x${'33'.repeat(64)}1b`;
  },
  'a wallet that does not exist yet': (payment) => {
    payment.payload.signature += '6492'.repeat(16);
  },
};
for (const [what, change] of Object.entries(WRONG)) {
  t.test(`${what} is refused before anything is locked or worked for`, async (t) => {
    const movedNow = await moved(async () => {
      const answer = await changed(t, change);
      t.equal(answer.status, 402);
      t.match(
        await kindOf(answer),
        /^(malformed-credential|verification-failed|invalid-challenge|payment-insufficient)$/,
      );
    });
    t.same(movedNow, { earned: 0n, spent: 0n });
  });
}

t.test('who has moved the money away locks nothing, and nobody works for it', async (t) => {
  const payer = await (await openEvmWallet(gateway, 'chain-c')).another(PRICE);
  const call = fresh(payer);
  const proof = await signHold(payer, call);
  const own = await openEvmWallet(payer, 'chain-c');
  await own.send(await own.sign({ value: PRICE, to: `0x${'de'.repeat(20)}` }));
  const upstreams = (await gateway.calls()).upstreamCalls;
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 402);
  t.equal(await kindOf(answer), 'verification-failed');
  t.equal((await gateway.calls()).upstreamCalls, upstreams);
});

t.test('a balance that covers two holds buys two at once: what is locked is not counted twice', async (t) => {
  const payer = await (await openEvmWallet(gateway, 'chain-c')).another(2n * PRICE);
  const [one, other] = [fresh(payer), fresh(payer)];
  const [proof, otherProof] = [await signHold(payer, one), await signHold(payer, other)];
  const earned = await gateway.earned('chain-c');
  const work = gateway.upstreams.gate.holdNext();
  const answering = sendProof(one, proof);
  await work.reached;
  t.equal((await sendProof(other, otherProof)).status, 200, 'while the first is worked for');
  work.release();
  t.equal((await answering).status, 200);
  t.equal((await gateway.earned('chain-c')) - earned, 2n * PRICE);
});

t.test('a balance that covers one hold buys one: what is not locked yet is counted', async (t) => {
  const payer = await (await openEvmWallet(gateway, 'chain-c')).another(PRICE);
  const [one, other] = [fresh(payer), fresh(payer)];
  const [proof, otherProof] = [await signHold(payer, one), await signHold(payer, other)];
  const { upstreamCalls } = await gateway.calls();
  const lock = gateway.locks.holdNext();
  const answering = sendProof(one, proof);
  await lock.reached;
  const refused = await sendProof(other, otherProof);
  t.equal(refused.status, 402);
  t.equal(await kindOf(refused), 'payment-insufficient');
  t.equal((await gateway.calls()).upstreamCalls, upstreamCalls, 'no work for it');
  lock.release();
  t.equal((await answering).status, 200);
});

t.test('a tool call is held and taken as well', async (t) => {
  const client = await openWallet(gateway.state, HELD_ON, 'auth-capture');
  const input = { prompt: 'a lighthouse, by a tool' };
  const unpaid = await callTool(gateway, 'image_family-e-2', input);
  const required = unpaid.structuredContent as unknown as Parameters<typeof client.createPaymentPayload>[0];
  const change = await moved(async () => {
    const payment = await client.createPaymentPayload(required);
    const result = await callTool(gateway, 'image_family-e-2', input, { 'x402/payment': payment });
    t.notOk(result.isError);
    t.match(result._meta?.['x402/payment-response'], { success: true, network: HELD_ON });
  });
  t.same(change, { earned: PRICE, spent: PRICE });
});

t.test('two requests with one hold at once: it is locked once, worked for once and taken once', async (t) => {
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  const { upstreamCalls } = await gateway.calls();
  const change = await moved(async () => {
    const answers = await Promise.all([sendProof(call, proof), sendProof(call, proof)]);
    t.strictSame(
      answers.map(({ status }) => status),
      [200, 200],
    );
  });
  t.same(change, { earned: PRICE, spent: PRICE });
  t.equal((await gateway.calls()).upstreamCalls, upstreamCalls + 1);
});

t.test('a hold buys the request that it was shown with, and no other', async (t) => {
  const proof = await signHold(gateway, fresh(gateway));
  const call = fresh(gateway);
  t.equal((await sendProof(call, proof)).status, 200);
  const change = await moved(async () => {
    t.equal((await sendProof(fresh(gateway), proof)).status, 402);
  });
  t.same(change, { earned: 0n, spent: 0n });
});

t.test('a hold and a transfer that share a nonce are one payment', async (t) => {
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  t.equal((await sendProof(call, proof)).status, 200);
  const payment = JSON.parse(
    Buffer.from(proof['PAYMENT-SIGNATURE'] ?? proof['payment-signature'] ?? '', 'base64').toString(),
  );
  const { v2 } = await termsOf(await ask(call));
  payment.accepted = v2.accepts.find(({ scheme, network }) => scheme === 'exact' && network === HELD_ON);
  delete payment.payload.salt;
  const change = await moved(async () => {
    const header = Buffer.from(JSON.stringify(payment)).toString('base64');
    const again = await sendProof(call, { 'payment-signature': header });
    t.equal(again.headers.get('idempotency-replayed'), 'true');
  });
  t.same(change, { earned: 0n, spent: 0n });
});

t.test('agents read of holds where they read of paying, and of none where none are offered', async (t) => {
  const paying = async (url: string) =>
    /## Paying with x402[\s\S]*?(?=\n## )/.exec(await (await fetch(`${url}/llms.txt`)).text())?.[0];
  t.match(await paying(gateway.url), /scheme `auth-capture`[\s\S]*@x402\/evm\/auth-capture\/client/);
  const another = await startGateway({ networks: ['chain-c'] });
  t.teardown(another.stop);
  t.notMatch(await paying(another.url), /auth-capture/);
});

t.test('who has to settle first is offered to be held in the refusal, and that is kept', async (t) => {
  const catalogue = picturesWith(t, '{ hold: true }', 'llm/vendor5-k3');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'], tempo: true });
  t.teardown(gateway.stop);
  for (let time = 0; time < 2; time += 1) await lose(t, gateway);
  const call = request(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 300 });
  const refused = await sendProof(call, await signUpto(gateway, 'chain-c', call));
  t.equal(refused.status, 402);
  const proof = await signAnswer(gateway, 'chain-c', refused, 'auth-capture');
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200, await answer.text());
});
