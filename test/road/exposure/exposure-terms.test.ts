/** Who settles first is said before anybody signs. */
import { join } from 'node:path';
import t from 'tap';
import { privateKeyToAddress } from 'viem/accounts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { payV1, payV2, request, sendProof, signProof, signProofV1, signUpto } from '../../clients.ts';
import { openEvmWallet } from '../../evm-wallet.ts';
import { startGateway } from '../../gateway.ts';
import { callTool } from '../../mcp/tool-client.ts';
import {
  ask,
  flows,
  fresh,
  kindOf,
  lose,
  mppTerms,
  picturesWith,
  RULES,
  settlesFirst,
  signMpp,
  termsOf,
} from '../../settling-first.ts';
import { mcpDoor } from '../doors.ts';

/** An ERC-1271 wallet that finds every signature good. */
const AGREEABLE = '0x631626ba7e60e01b60005260206000f3';

// The gateway's time stands still between what the tests do: on Tempo a payment is good for a few seconds alone.
let time = Date.now();
const gateway = await startGateway({
  catalogue: picturesWith(t, '{}', 'llm/vendor5-k3'),
  networks: ['chain-c'],
  tempo: true,
  now: () => time,
});
t.teardown(gateway.stop);

t.test('a challenge says which payers settle first although its offers settle after', async (t) => {
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

t.test('the flow of an MPP challenge cannot be changed by who pays it', async (t) => {
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

t.test('a contract wallet, who was told, settles first over each protocol', async (t) => {
  const { reader, another } = await openEvmWallet(gateway, 'chain-c');
  const payer = await another(1_000_000n);
  const address = privateKeyToAddress(payer.state.evm['chain-c']?.privateKey ?? '0x');
  await reader.request({ method: 'anvil_setCode' as never, params: [address, AGREEABLE] as never });
  const [v2, v1, mpp] = [fresh(payer), fresh(payer), fresh(payer, '/mpp')];
  t.ok(await settlesFirst(t, payer, v2, await signProof(payer, 'chain-c', v2)), 'version 2');
  t.ok(await settlesFirst(t, payer, v1, await signProofV1(payer, 'chain-c', v1)), 'version 1');
  t.ok(await settlesFirst(t, payer, mpp, await signMpp(payer, 'chain-c', mpp)), 'MPP');
});

t.test('a Tempo payment that was tried before does not settle first because its time runs out', async (t) => {
  const call = fresh(gateway, '/mpp');
  time = Date.now();
  const credential = await signMpp(gateway, 'tempo', call);
  const signedAt = Date.now();
  const earned = await gateway.earned('tempo');
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  t.equal((await sendProof(call, credential)).status, 500);
  time = signedAt + 10_000;
  const refused = await sendProof(call, credential);
  t.equal(refused.status, 402);
  t.equal(await kindOf(refused), 'payment-expired');
  t.equal(await gateway.earned('tempo'), earned);
  time = Date.now();
});

t.test('an answer that is not kept any more is an error like others, with its receipt over x402 alone', async (t) => {
  const [x402, mpp, door] = [fresh(gateway), fresh(gateway, '/mpp'), mcpDoor(gateway)];
  const [overX402, overMpp] = [await signProof(gateway, 'chain-c', x402), await signMpp(gateway, 'chain-c', mpp)];
  t.equal((await sendProof(x402, overX402)).status, 200);
  t.equal((await sendProof(mpp, overMpp)).status, 200);
  const rails = ['x402', 'mpp'] as const;
  const input = (rail: string) => ({ prompt: `a lighthouse, by a tool over ${rail}` });
  const tools = await Promise.all(
    rails.map(async (rail) => {
      const proof = await door.sign({ rail, network: 'chain-c' }, '/image/family-e-2', input(rail));
      const call = () => callTool(gateway, 'image_family-e-2', input(rail), proof);
      t.notOk((await call()).isError, rail);
      return call;
    }),
  );
  const store = openSqliteStore(join(gateway.directory, 'turnpike.sqlite'));
  await store.forget({ values: 0, answers: Date.now() + 1_000, payments: undefined });
  await store.close();

  const error = { code: 'answer_gone', message: /not kept any more/, requestId: /.+/ };
  const byHeader = await sendProof(x402, overX402);
  t.ok(byHeader.headers.get('payment-response'));
  const inItsWords = await sendProof(mpp, overMpp);
  t.notOk(inItsWords.headers.has('payment-receipt'), 'MPP has receipts on success alone');
  t.equal(inItsWords.headers.get('content-type'), 'application/problem+json');
  for (const gone of [byHeader, inItsWords]) {
    t.equal(gone.status, 410);
    t.equal(gone.headers.get('cache-control'), 'no-store');
    t.match(await gone.json(), { error: { ...error, requestId: gone.headers.get('request-id') } });
  }
  const [byX402, byMpp] = await Promise.all(tools.map((call) => call()));
  t.match(byX402, {
    isError: true,
    structuredContent: { error },
    _meta: { 'x402/payment-response': { success: true } },
  });
  t.match(byMpp, { isError: true, structuredContent: { error } });
  t.notMatch(byMpp, { _meta: { 'org.paymentauth/receipt': {} } });
});

t.test('a payer whose settlements failed is offered what it can pay, and why: exact, to settle first', async (t) => {
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

t.test('where everybody settles first the challenge says so, and no rule besides', async (t) => {
  const catalogue = picturesWith(t, '{ settleUpfront: { above: "0.01" } }', 'llm/vendor5-k3');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'], tempo: true });
  t.teardown(gateway.stop);
  const { v2, v1 } = await termsOf(await ask(fresh(gateway)));
  t.same([flows(v2), flows(v1)], [['exact upfront'], ['exact upfront']]);
  t.same([v2.upfrontFor, v1.upfrontFor], [undefined, undefined]);
  const details = await mppTerms(fresh(gateway, '/mpp'));
  for (const { paymentFlow, upfrontFor } of Object.values(details)) {
    t.same([paymentFlow, upfrontFor], ['upfront', undefined]);
  }
  const call = fresh(gateway, '/mpp');
  t.ok(await settlesFirst(t, gateway, call, await signMpp(gateway, 'chain-c', call)), 'MPP keeps to it');

  const read = async (path: string) => (await fetch(`${gateway.url}${path}`)).text();
  const flowsIn = (offers: readonly { paymentFlow?: string }[]) => new Set(offers.map((offer) => offer.paymentFlow));
  const { resources } = JSON.parse(await read('/x402-resources'));
  const { pricing, networks = [] } = resources.find(({ slug }: { slug: string }) => slug === 'image/family-e-2');
  t.same(flowsIn([pricing, ...networks]), new Set(['upfront']), 'the list of resources');
  for (const [document, path] of [
    ['/openapi/x402.json', '/image/family-e-2'],
    ['/openapi.json', '/mpp/image/family-e-2'],
  ] as const) {
    const { offers } = JSON.parse(await read(document)).paths[path].post['x-payment-info'];
    t.same(flowsIn(offers), new Set(['upfront']), document);
  }
  const lines = (await read('/llms.txt')).split('\n');
  t.match(
    lines.find((line) => line.startsWith('- /image/family-e-2:')),
    /Settles first on .*chain-c/,
  );
  t.match(
    lines.find((line) => line.startsWith('- /mpp/image/family-e-2:')),
    /Settles first with the method .*evm/,
  );
});

t.test('what costs more than anybody may have under way is offered to settle first alone', async (t) => {
  const catalogue = picturesWith(t, '{ perPayer: "0.001" }', 'llm/vendor5-k3');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'], tempo: true });
  t.teardown(gateway.stop);
  const metered = request(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 300 });
  for (const call of [fresh(gateway), metered]) {
    const { v2, v1 } = await termsOf(await ask(call));
    t.same(new Set([...flows(v2), ...flows(v1)]), new Set(['exact upfront']), 'and by no scheme that is refused then');
    t.same([v2.upfrontFor, v1.upfrontFor], [undefined, undefined]);
  }
  const details = Object.values(await mppTerms(fresh(gateway, '/mpp')));
  t.same(new Set(details.map(({ paymentFlow }) => paymentFlow)), new Set(['upfront']));
  const text = await (await fetch(`${gateway.url}/llms.txt`)).text();
  t.match(text.replaceAll('\n', ' '), 'so do payments of more than 0.001 USD');
});
