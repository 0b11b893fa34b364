/** Who settles first is said before anybody signs, and what was offered is kept. */
import '../payment/facilitators/own-fetch.ts';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { Challenge } from 'mppx';
import t, { type Test } from 'tap';
import { privateKeyToAddress } from 'viem/accounts';
import { openPayer as openMppPayer } from '../../src/rails/mpp/payer.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { type PaidCall, payV1, payV2, request, sendProof, signProof, signProofV1, signUpto } from '../clients.ts';
import { openEvmWallet } from '../evm-wallet.ts';
import { type Gateway, startGateway } from '../gateway.ts';

const PRICE = 60_000n;
const RULES = { contracts: true, failedSettlements: 2, newUnsettledAbove: '0.5', unsettledAbove: '2' };
/** An ERC-1271 wallet that finds every signature good. */
const AGREEABLE = '0x631626ba7e60e01b60005260206000f3';

/** The catalogue with an exposure of its own. */
function catalogueWith(t: Test, exposure: string): string {
  const directory = join(t.testdir({ catalogue: {} }), 'catalogue');
  cpSync('catalogue', directory, { recursive: true });
  const service = join(directory, 'service.yaml');
  writeFileSync(service, `${readFileSync(service, 'utf8')}\nexposure: ${exposure}\n`);
  return directory;
}

async function start(t: Test, exposure = '{}'): Promise<Gateway> {
  const gateway = await startGateway({ catalogue: catalogueWith(t, exposure), networks: ['chain-c'], tempo: true });
  t.teardown(gateway.stop);
  return gateway;
}

let made = 0;
const fresh = (gateway: Gateway, prefix = ''): PaidCall => {
  made += 1;
  return request(gateway, `${prefix}/image/family-e-2`, { prompt: `a lighthouse, number ${made}` });
};

interface Terms {
  readonly accepts: { readonly scheme: string; readonly network: string; readonly extra: { paymentFlow?: string } }[];
  readonly upfrontFor: unknown;
}

/** What version 2's header says of a 402, and version 1's body. */
async function termsOf(unpaid: Response): Promise<{ v2: Terms; v1: Terms; headerBytes: number; error: string }> {
  const header = unpaid.headers.get('payment-required') ?? '';
  const { accepts, extensions, error } = JSON.parse(Buffer.from(header, 'base64').toString());
  const body = (await unpaid.json()) as Terms;
  const { upfrontFor } = extensions.challenge.info;
  return { v2: { accepts, upfrontFor }, v1: body, headerBytes: header.length, error };
}
const ask = ({ url, init }: PaidCall) => fetch(url, init);
const flows = ({ accepts }: Terms) => accepts.map(({ scheme, extra }) => `${scheme} ${extra.paymentFlow}`);

interface MppDetails {
  readonly paymentFlow: string;
  readonly upfrontFor?: object;
}
async function mppTerms(call: PaidCall): Promise<Record<string, MppDetails>> {
  const challenges = Challenge.fromResponseList(await ask(call));
  return Object.fromEntries(
    challenges.map(({ method, request }) => [method, (request as { methodDetails: MppDetails }).methodDetails]),
  );
}
async function signMpp(gateway: Gateway, network: string, call: PaidCall): Promise<Record<string, string>> {
  return openMppPayer(gateway.state, network).sign(await ask(call));
}

const kindOf = async (answer: Response): Promise<string> =>
  String(((await answer.clone().json()) as { type: unknown }).type).replace(/^.*\//, '');
const codeOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { error: { code: string } }).error.code;

/** The work is done, and its settlement fails. */
async function lose(t: Test, gateway: Gateway): Promise<void> {
  await gateway.fault({ settlement: 'chain-c', fault: 'refuse' });
  const call = fresh(gateway);
  t.equal((await sendProof(call, await signProof(gateway, 'chain-c', call))).status, 402, 'the result is withheld');
}

/** Another instance over the same store: it has measured the losses when it begins. */
const measured = async (gateway: Gateway): Promise<Gateway> => ({ ...gateway, url: await gateway.startAnother() });

/** Whether a payment settles before the work: an upstream that fails charges it then, and only then. */
async function settlesFirst(t: Test, gateway: Gateway, call: PaidCall, proof: Record<string, string>) {
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  const earned = await gateway.earned('chain-c');
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 500);
  const charged = (await gateway.earned('chain-c')) - earned;
  t.equal(await codeOf(answer), charged === 0n ? 'upstream_failed' : 'result_owed');
  return charged === PRICE;
}

t.test('a challenge says which payers settle first although its offers settle after', async (t) => {
  const gateway = await start(t);
  const { v2, v1, headerBytes } = await termsOf(await ask(fresh(gateway)));
  t.same(v2.upfrontFor, RULES);
  t.same(v1.upfrontFor, RULES);
  t.ok(headerBytes < 8_192);
  const { tempo, evm } = await mppTerms(fresh(gateway, '/mpp'));
  t.match(evm, { paymentFlow: 'authorization', upfrontFor: RULES });
  t.match(tempo, { paymentFlow: 'authorization', upfrontFor: { ...RULES, secondsLeftBelow: 23 } });

  t.equal((await payV2(gateway, 'chain-c', fresh(gateway))).status, 200, 'version 2 pays it');
  t.equal((await payV1(gateway, 'chain-c', fresh(gateway))).status, 200, 'version 1 pays it');
  for (const network of ['chain-c', 'tempo']) {
    const call = fresh(gateway, '/mpp');
    t.equal((await sendProof(call, await signMpp(gateway, network, call))).status, 200, `MPP pays it on ${network}`);
  }
});

t.test('where everybody settles first the challenge says so, and no rule besides', async (t) => {
  const gateway = await start(t, '{ settleUpfront: { above: "0.01" } }');
  const { v2, v1 } = await termsOf(await ask(fresh(gateway)));
  t.same([flows(v2), flows(v1)], [['exact upfront'], ['exact upfront']]);
  t.same([v2.upfrontFor, v1.upfrontFor], [undefined, undefined]);
  const details = await mppTerms(fresh(gateway, '/mpp'));
  for (const { paymentFlow, upfrontFor } of Object.values(details)) {
    t.same([paymentFlow, upfrontFor], ['upfront', undefined]);
  }
  const call = fresh(gateway, '/mpp');
  t.ok(await settlesFirst(t, gateway, call, await signMpp(gateway, 'chain-c', call)), 'MPP keeps to it');
});

t.test('the flow of an MPP challenge cannot be changed by who pays it', async (t) => {
  const gateway = await start(t);
  const call = fresh(gateway, '/mpp');
  const { authorization = '' } = await signMpp(gateway, 'chain-c', call);
  const credential = JSON.parse(Buffer.from(authorization.replace(/^Payment /, ''), 'base64url').toString());
  const asked = JSON.parse(Buffer.from(credential.challenge.request, 'base64url').toString());
  asked.methodDetails.upfrontFor.contracts = false;
  credential.challenge.request = Buffer.from(JSON.stringify(asked)).toString('base64url');
  const changed = `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`;
  const answer = await sendProof(call, { authorization: changed });
  t.equal(answer.status, 402);
  t.equal(await kindOf(answer), 'invalid-challenge');
});

t.test('a payer whose settlements failed is offered what it can pay, and why: exact, to settle first', async (t) => {
  const gateway = await start(t);
  for (let time = 0; time < 2; time += 1) await lose(t, gateway);
  const metered = request(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 300 });
  const { v2: before } = await termsOf(await ask(metered));
  t.ok(before.accepts.some(({ scheme }) => scheme === 'upto'));
  const calls = await gateway.calls();
  const refused = await sendProof(metered, await signUpto(gateway, 'chain-c', metered));
  t.equal(refused.status, 402);
  const { v2, v1, error } = await termsOf(refused);
  t.same(new Set([...flows(v2), ...flows(v1)]), new Set(['exact upfront']));
  t.match(error, /settlements of this payer failed after the work.*exact/);
  t.equal((await gateway.calls()).upstreamCalls, calls.upstreamCalls, 'no work for it');
  t.equal((await payV2(gateway, 'chain-c', metered)).status, 200, 'and can pay by exact');
});

t.test('a contract wallet, who was told, settles first over each protocol', async (t) => {
  const gateway = await start(t);
  const { reader, another } = await openEvmWallet(gateway, 'chain-c');
  const payer = await another(1_000_000n);
  const address = privateKeyToAddress(payer.state.evm['chain-c']?.privateKey ?? '0x');
  await reader.request({ method: 'anvil_setCode' as never, params: [address, AGREEABLE] as never });
  const [v2, v1, mpp] = [fresh(payer), fresh(payer), fresh(payer, '/mpp')];
  t.ok(await settlesFirst(t, payer, v2, await signProof(payer, 'chain-c', v2)), 'version 2');
  t.ok(await settlesFirst(t, payer, v1, await signProofV1(payer, 'chain-c', v1)), 'version 1');
  t.ok(await settlesFirst(t, payer, mpp, await signMpp(payer, 'chain-c', mpp)), 'MPP');
});

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
  const gateway = await start(t, '{ perHour: "0.05", lossLimit: "1000.00", settleUpfront: { afterFailures: 9 } }');
  const { another } = await openEvmWallet(gateway, 'chain-c');
  const [old, stranger] = [await another(1_000_000n), await another(1_000_000n)];
  t.equal((await payV2(old, 'chain-c', fresh(old))).status, 200);
  const early = { call: fresh(stranger), v1: fresh(stranger) };
  const proofs = {
    call: await signProof(stranger, 'chain-c', early.call),
    v1: await signProofV1(stranger, 'chain-c', early.v1),
  };
  await lose(t, gateway);
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
  t.match(v2, { upfrontFor: { ...RULES, failedSettlements: 9, newUnsettledAbove: '0' } });
  const [first, second] = [fresh(strangerLater), fresh(knownLater)];
  t.ok(await settlesFirst(t, strangerLater, first, await signProof(strangerLater, 'chain-c', first)), 'a stranger');
  t.notOk(await settlesFirst(t, knownLater, second, await signProof(knownLater, 'chain-c', second)), 'an old payer');
});

t.test('a Tempo payment that was tried before does not settle first because its time runs out', async (t) => {
  let ahead = 0;
  const gateway = await startGateway({ networks: ['chain-c'], tempo: true, now: () => Date.now() + ahead });
  t.teardown(gateway.stop);
  const call = fresh(gateway, '/mpp');
  const credential = await signMpp(gateway, 'tempo', call);
  const earned = await gateway.earned('tempo');
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  t.equal((await sendProof(call, credential)).status, 500);
  ahead = 10_000;
  const refused = await sendProof(call, credential);
  t.equal(refused.status, 402);
  t.equal(await kindOf(refused), 'payment-expired');
  t.equal(await gateway.earned('tempo'), earned);
});

t.test('an answer that is not kept any more is an error like every other, with the receipt', async (t) => {
  const gateway = await start(t);
  const call = fresh(gateway);
  const proof = await signProof(gateway, 'chain-c', call);
  t.equal((await sendProof(call, proof)).status, 200);
  const store = openSqliteStore(join(gateway.directory, 'turnpike.sqlite'));
  await store.forget({ values: 0, payments: Date.now() + 1_000 });
  await store.close();
  const gone = await sendProof(call, proof);
  t.equal(gone.status, 410);
  t.ok(gone.headers.get('payment-response'));
  t.match(await gone.json(), {
    error: { code: 'answer_gone', message: /not kept any more/, requestId: gone.headers.get('request-id') },
  });
});
