/** x402's extension `payment-identifier`, with the package that clients use for it. */
import type { x402HTTPClient } from '@x402/core/client';
import {
  appendPaymentIdentifierToExtensions,
  generatePaymentId,
  PAYMENT_IDENTIFIER,
  validatePaymentIdentifier,
} from '@x402/extensions/payment-identifier';
import t from 'tap';
import { openWallet } from '../../../src/rails/x402/payer.ts';
import { type PaidCall, receiptOf, request, sendProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';

const gateway = await startGateway({ networks: ['chain-c'] });
t.teardown(gateway.stop);

let made = 0;
const fresh = () => {
  made += 1;
  return request(gateway, '/image/family-e-2', { prompt: `a buoy, number ${made}` });
};
const client: x402HTTPClient = await openWallet(gateway.state, gateway.state.evm['chain-c']?.caip2);

/** Pays a fresh challenge of the call under an id. */
async function signAs(id: string, { url, init }: PaidCall): Promise<Record<string, string>> {
  const unpaid = await fetch(url, init);
  const challenge = client.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
  t.same(validatePaymentIdentifier(challenge.extensions?.[PAYMENT_IDENTIFIER]), { valid: true });
  appendPaymentIdentifierToExtensions(challenge.extensions ?? {}, id);
  return client.encodePaymentSignatureHeader(await client.createPaymentPayload(challenge));
}

t.test('the same id with the same payment gets the same answer and receipt', async (t) => {
  const call = fresh();
  const proof = await signAs(generatePaymentId(), call);
  const [first, second] = [await sendProof(call, proof), await sendProof(call, proof)];
  t.equal(first.status, 200);
  t.equal(second.headers.get('idempotency-replayed'), 'true');
  t.same(receiptOf(second), receiptOf(first));
  t.same(await second.json(), await first.json());
});

t.test('the same id with another payment is a conflict, and costs nothing', async (t) => {
  const id = generatePaymentId();
  const call = fresh();
  t.equal((await sendProof(call, await signAs(id, call))).status, 200);
  const [earned, calls] = [await gateway.earned('chain-c'), await gateway.calls()];
  for (const again of [call, fresh()]) {
    const proof = await signAs(id, again);
    const answer = await sendProof(again, proof);
    t.equal(answer.status, 409);
    t.match(await answer.json(), { error: { code: 'identifier_taken' } });
    const withKey = { ...proof, 'idempotency-key': 'a key as well' };
    t.equal((await sendProof(again, withKey)).status, 409);
  }
  t.same(await gateway.calls(), calls);
  t.equal(await gateway.earned('chain-c'), earned);
});

t.test('of several payments that come at once under one id, one buys', async (t) => {
  const id = generatePaymentId();
  const call = fresh();
  const proofs = await Promise.all(Array.from({ length: 4 }, () => signAs(id, call)));
  const before = await gateway.earned('chain-c');
  const answers = await Promise.all(proofs.map((proof) => sendProof(call, proof)));
  t.same(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  t.equal((await gateway.earned('chain-c')) - before, 60_000n);
});

t.test('a payment that bought nothing leaves its id to the next', async (t) => {
  const id = generatePaymentId();
  const call = fresh();
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  t.equal((await sendProof(call, await signAs(id, call))).status, 500);
  t.equal((await sendProof(call, await signAs(id, call))).status, 200);
});

t.test('an id of another form is refused with the reason', async (t) => {
  const call = fresh();
  const proof = await signAs(generatePaymentId(), call);
  const payment = JSON.parse(Buffer.from(proof['PAYMENT-SIGNATURE'] ?? '', 'base64').toString());
  payment.extensions[PAYMENT_IDENTIFIER].info.id = 'too short';
  const header = Buffer.from(JSON.stringify(payment)).toString('base64');
  const answer = await sendProof(call, { 'payment-signature': header });
  t.equal(answer.status, 402);
  t.match(await answer.json(), { type: /malformed-credential$/, detail: /payment-identifier must be 16 to 128/ });
});
