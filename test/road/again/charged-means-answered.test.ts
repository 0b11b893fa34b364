/** Whoever was charged gets the answer, whoever moved the money and whatever was lost on the way. */
import t from 'tap';
import { type PaidCall, receiptOf, request, sendProof, signProof } from '../../clients.ts';
import { openEvmWallet, type SignedTransfer } from '../../evm-wallet.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';

/** Once set, the first instance's clock stands still: it renews no lease any more. */
let stoppedAt: number | undefined;
const gateway = await startRelayedGateway({ networks: ['chain-c'], now: () => stoppedAt ?? Date.now() });
t.teardown(gateway.stop);
let ahead = 0;
const other = await gateway.startAnother(() => Date.now() + ahead);
const wallet = await openEvmWallet(gateway, 'chain-c');

const PRICE = 60_000n;
let made = 0;
const fresh = () => {
  made += 1;
  return request(gateway, '/image/family-e-2', { prompt: `a lighthouse, number ${made}` });
};
const toOther = (call: PaidCall): PaidCall => ({ ...call, url: call.url.replace(gateway.url, other) });

/** The authorization in a proof: whoever sees it can hand it to the token. */
const transferIn = (proof: Record<string, string>): SignedTransfer =>
  JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString()).payload;

t.test('a payment that somebody else handed to the token while the upstream worked buys the answer', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  const [earned, before] = [await gateway.earned('chain-c'), await gateway.calls()];
  const work = gateway.upstreams.gate.holdNext();
  const answered = sendProof(call, proof);
  await work.reached;
  const transaction = await wallet.send(transferIn(proof));
  work.release();
  const answer = await answered;
  t.equal(answer.status, 200, await answer.clone().text());
  t.match(receiptOf(answer), { success: true, transaction });
  t.equal((await gateway.earned('chain-c')) - earned, PRICE);
  const after = await gateway.calls();
  t.equal(after.upstreamCalls - before.upstreamCalls, 1);
  t.equal(after.settlementCount, before.settlementCount, 'it was not settled a second time');
});

t.test('a payment that looks spent stays open until the chain can be asked by whom', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  const [earned, before] = [await gateway.earned('chain-c'), await gateway.calls()];
  const work = gateway.upstreams.gate.holdNext();
  const answered = sendProof(call, proof);
  await work.reached;
  const transaction = await wallet.send(transferIn(proof));
  gateway.node.isDown = true;
  work.release();
  for (const answer of [await answered, await sendProof(call, proof)]) {
    t.equal(answer.status, 409);
    t.match(await answer.json(), { error: { code: 'settlement_pending' } });
  }
  gateway.node.isDown = false;
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200, await answer.clone().text());
  t.match(receiptOf(answer), { success: true, transaction });
  t.equal((await gateway.earned('chain-c')) - earned, PRICE);
  t.equal((await gateway.calls()).upstreamCalls - before.upstreamCalls, 1);
});

t.test('a settlement is tried again only once its chain shows that it is open', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  const [earned, before] = [await gateway.earned('chain-c'), await gateway.calls()];
  await gateway.fault({ settlement: 'chain-c', fault: 'timeout' });
  gateway.node.isDown = true;
  for (const answer of [await sendProof(call, proof), await sendProof(call, proof)]) {
    t.equal(answer.status, 409);
    t.match(await answer.json(), { error: { code: 'settlement_pending' } });
  }
  t.equal((await gateway.calls()).settlementCount, before.settlementCount);
  gateway.node.isDown = false;
  t.equal((await sendProof(toOther(call), proof)).status, 200, 'by whichever instance the payer comes to');
  t.equal((await gateway.earned('chain-c')) - earned, PRICE);
  t.equal((await gateway.calls()).upstreamCalls - before.upstreamCalls, 1);
});

t.test('who takes over from an instance that died while it settled never asks for a second payment', async (t) => {
  const call = fresh();
  const proof = await signProof(gateway, 'chain-c', call);
  const [earned, before] = [await gateway.earned('chain-c'), await gateway.calls()];
  const settlement = gateway.settlements.holdNext();
  const lost = sendProof(call, proof);
  await settlement.reached;
  t.equal((await gateway.earned('chain-c')) - earned, PRICE, 'the money has moved');
  stoppedAt = Date.now();
  ahead = 40_000;
  gateway.node.isDown = true;
  const open = await sendProof(toOther(call), proof);
  t.equal(open.status, 409, await open.clone().text());
  t.match(await open.json(), { error: { code: 'settlement_pending' } });
  gateway.node.isDown = false;
  const answer = await sendProof(toOther(call), proof);
  const body = await answer.text();
  t.equal(answer.status, 200, body);
  const again = await sendProof(toOther(call), proof);
  t.equal(again.headers.get('idempotency-replayed'), 'true', 'and its end is kept');
  t.equal(await again.text(), body);
  t.equal(receiptOf(again).transaction, receiptOf(answer).transaction);
  t.equal((await gateway.earned('chain-c')) - earned, PRICE);
  const after = await gateway.calls();
  t.equal(after.upstreamCalls - before.upstreamCalls, 1);
  t.equal(after.settlementCount - before.settlementCount, 1);
  settlement.release();
  await lost;
});
