/** What losses change, and that what was offered before is kept. */
import { join } from 'node:path';
import Database from 'libsql';
import { Challenge } from 'mppx';
import t, { type Test } from 'tap';
import { encodeHeader } from '../../../src/rails/x402/wire.ts';
import { type PaidCall, payV2, sendProof, signProof, signProofV1 } from '../../clients.ts';
import { openEvmWallet } from '../../evm-wallet.ts';
import { type Gateway, startGateway } from '../../gateway.ts';
import {
  ask,
  flows,
  fresh,
  kindOf,
  lose,
  measured,
  mppTerms,
  picturesWith,
  RULES,
  settlesFirst,
  signMpp,
  termsOf,
} from '../../settling-first.ts';

async function start(t: Test, exposure: string): Promise<Gateway> {
  const gateway = await startGateway({ catalogue: picturesWith(t, exposure), networks: ['chain-c'], tempo: true });
  t.teardown(gateway.stop);
  return gateway;
}

interface Payment {
  readonly accepted: { readonly extra?: object };
}

const paymentIn = (proof: Record<string, string>): Payment =>
  JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
const proofOf = (payment: Payment) => ({ 'payment-signature': encodeHeader(payment) });

t.test('what was offered before losses made a network settle first is refused, with what is offered now', async (t) => {
  const gateway = await start(t, '{ lossLimit: "0.05" }');
  const { another } = await openEvmWallet(gateway, 'chain-c');
  const payer = await another(1_000_000n);
  const calls = { v2: fresh(payer), v1: fresh(payer), mpp: fresh(payer, '/mpp') };
  const proofs = {
    v2: await signProof(payer, 'chain-c', calls.v2),
    v1: await signProofV1(payer, 'chain-c', calls.v1),
    mpp: await signMpp(payer, 'chain-c', calls.mpp),
  };
  await lose(t, gateway);
  const later = await measured(payer);
  const [before, earned] = [await gateway.calls(), await gateway.earned('chain-c')];
  for (const name of ['v2', 'v1', 'mpp'] as const) {
    const { url, init } = calls[name];
    const refused = await sendProof({ url: url.replace(gateway.url, later.url), init }, proofs[name]);
    t.equal(refused.status, 402, name);
    t.equal(await kindOf(refused), 'payment-expired', name);
    if (name === 'mpp') {
      const details = Challenge.fromResponseList(refused).map(({ request }) => request.methodDetails);
      t.match(details, [{ paymentFlow: 'upfront' }, { paymentFlow: 'upfront' }]);
      continue;
    }
    const terms = await termsOf(refused);
    t.same([flows(terms.v2), flows(terms.v1)], [['exact upfront'], ['exact upfront']], name);
    t.match(terms.error, /lost/, name);
  }
  t.equal((await gateway.calls()).upstreamCalls, before.upstreamCalls, 'no work');
  t.equal(await gateway.earned('chain-c'), earned, 'no charge');

  t.match(await mppTerms(fresh(later, '/mpp')), {
    evm: { paymentFlow: 'upfront' },
    tempo: { paymentFlow: 'authorization' },
  });
  const again = fresh(later);
  t.ok(
    await settlesFirst(t, later, again, await signProof(later, 'chain-c', again)),
    'a fresh challenge is paid first',
  );
  const overMpp = fresh(later, '/mpp');
  t.ok(await settlesFirst(t, later, overMpp, await signMpp(later, 'chain-c', overMpp)), 'over MPP, too');
});

t.test(
  'what an instance that heard of losses earlier has offered to settle first is taken by one that heard later',
  async (t) => {
    const gateway = await start(t, '{ lossLimit: "0.05" }');
    const { another } = await openEvmWallet(gateway, 'chain-c');
    const payer = await another(1_000_000n);
    const call = fresh(payer);
    const early = paymentIn(await signProof(payer, 'chain-c', call));
    await lose(t, gateway);
    const strict = await measured(payer);
    const { accepted } = paymentIn(await signProof(strict, 'chain-c', fresh(strict)));
    const there = { ...call, url: call.url.replace(payer.url, strict.url) };
    // A challenge as old as one of an instance that measured a moment before, with what that one says.
    t.ok(await settlesFirst(t, strict, there, proofOf({ ...early, accepted })));
  },
);

t.test(
  'what was offered over MPP before a restart to settle after the work is not settled first after it',
  async (t) => {
    const gateway = await start(t, '{ settleUpfront: { above: "1.00" } }');
    const { another } = await openEvmWallet(gateway, 'chain-c');
    const payer = await another(1_000_000n);
    const call = fresh(payer, '/mpp');
    const proof = await signMpp(payer, 'chain-c', call);
    const url = await gateway.startAnother(undefined, picturesWith(t, '{ settleUpfront: { above: "0.05" } }'));
    const earned = await gateway.earned('chain-c');
    const refused = await sendProof({ url: call.url.replace(gateway.url, url), init: call.init }, proof);
    t.equal(refused.status, 402);
    t.equal(await kindOf(refused), 'payment-expired');
    t.equal(await gateway.earned('chain-c'), earned);
    t.equal((await sendProof(call, proof)).status, 200, 'where it was offered it is taken');
    const restarted = { ...payer, url };
    const again = fresh(restarted, '/mpp');
    t.ok(await settlesFirst(t, restarted, again, await signMpp(restarted, 'chain-c', again)));
  },
);

t.test('what was offered to settle first is kept when the losses are over', async (t) => {
  const gateway = await start(t, '{ lossLimit: "0.05" }');
  await lose(t, gateway);
  const strict = await measured(gateway);
  const { another } = await openEvmWallet(gateway, 'chain-c');
  const payer = await another(1_000_000n);
  const [call, overMpp] = [fresh({ ...payer, url: strict.url }), fresh({ ...payer, url: strict.url }, '/mpp')];
  const proof = await signProof(payer, 'chain-c', call);
  const credential = await signMpp(payer, 'chain-c', overMpp);
  const database = new Database(join(gateway.directory, 'turnpike.sqlite'));
  database.exec('PRAGMA busy_timeout = 5000');
  database.exec('UPDATE payments SET lost_at = 1 WHERE lost_at IS NOT NULL');
  database.close();
  const calm = await measured(payer);
  const { v2 } = await termsOf(await ask(fresh(calm)));
  t.same(flows(v2), ['exact undefined']);
  const at = ({ url, init }: PaidCall): PaidCall => ({ url: url.replace(strict.url, calm.url), init });
  t.ok(await settlesFirst(t, calm, at(call), proof));
  t.ok(await settlesFirst(t, calm, at(overMpp), credential));
});

t.test('once too much was lost in an hour, new payers settle first and old ones do not', async (t) => {
  const gateway = await start(t, '{ perHour: "0.06", lossLimit: "1000.00", settleUpfront: { afterFailures: 9 } }');
  const { another } = await openEvmWallet(gateway, 'chain-c');
  const [old, stranger] = [await another(1_000_000n), await another(1_000_000n)];
  t.equal((await payV2(old, 'chain-c', fresh(old))).status, 200);
  const early = { call: fresh(stranger), v1: fresh(stranger) };
  const proofs = {
    call: await signProof(stranger, 'chain-c', early.call),
    v1: await signProofV1(stranger, 'chain-c', early.v1),
  };
  await lose(t, await measured(gateway));
  const { url } = await measured(gateway);
  const [knownLater, strangerLater] = [
    { ...old, url },
    { ...stranger, url },
  ];
  for (const name of ['call', 'v1'] as const) {
    const refused = await sendProof({ ...early[name], url: early[name].url.replace(gateway.url, url) }, proofs[name]);
    t.equal(refused.status, 402, `${name}: the stranger was told otherwise`);
    t.equal(await kindOf(refused), 'payment-expired');
    t.same(flows((await termsOf(refused)).v2), ['exact upfront']);
  }
  const { v2 } = await termsOf(await ask(fresh(strangerLater)));
  t.match(v2, { upfrontFor: { ...RULES, failedSettlements: 9, unprovenAbove: '0', unprovenTogetherAbove: '0.06' } });
  const [first, second] = [fresh(strangerLater), fresh(knownLater)];
  t.ok(await settlesFirst(t, strangerLater, first, await signProof(strangerLater, 'chain-c', first)), 'a stranger');
  t.notOk(await settlesFirst(t, knownLater, second, await signProof(knownLater, 'chain-c', second)), 'an old payer');
});
