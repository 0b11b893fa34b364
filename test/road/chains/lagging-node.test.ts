/** A node that is behind its chain, as one of several at an address may be, says of what was paid that it was not. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import type { SandboxState } from '../../../src/rails/paying-client.ts';
import { request, sendProof, signProof } from '../../clients.ts';
import { catalogueOf } from '../../few-endpoints.ts';
import { startGateway } from '../../gateway.ts';
import { mine } from '../../mine.ts';
import { json, serve } from '../../payment/facilitators/front.ts';

const PRICE = 60_000n;
const AUTHORIZATION_STATE = '0xe94a0102';
const UNUSED = `0x${'0'.repeat(64)}`;

/** The newest block that it knows; undefined: the chain's own. */
let behindAt: string | undefined;
let chain = '';

const node = await serve(async (_request, response, body) => {
  const { id, method, params } = JSON.parse(body);
  if (behindAt !== undefined && method === 'eth_call' && String(params[0].data).startsWith(AUTHORIZATION_STATE))
    return json(response, 200, { jsonrpc: '2.0', id, result: UNUSED });
  const asked = behindAt === undefined ? body : body.replaceAll('"latest"', `"${behindAt}"`);
  const answer = await fetch(chain, { method: 'POST', headers: { 'content-type': 'application/json' }, body: asked });
  json(response, answer.status, await answer.json());
});
t.teardown(node.stop);

/** Its payments are good for longer than a node lags. */
const catalogue = catalogueOf(t, ['image/family-e-2']);
const endpoint = join(catalogue, 'endpoints/image/family-e-2.yaml');
writeFileSync(endpoint, readFileSync(endpoint, 'utf8').replace(/^deadline: .*$/m, 'deadline: 10m'));

const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
/** How far Solana's clock is ahead of ours, in milliseconds. */
let solanaAhead = 0;
/** The clock's account when Solana's node came to stand still; undefined: it goes with its chain. */
let stoodAt: unknown;
let solanaChain = '';

/** Where it stands still, it knows neither the payment nor its blockhash. */
const solanaNode = await serve(async (_request, response, body) => {
  const { id, method, params } = JSON.parse(body);
  const answer = (result: unknown) => json(response, 200, { jsonrpc: '2.0', id, result });
  if (stoodAt !== undefined) {
    if (method === 'getSignaturesForAddress') return answer([]);
    if (method === 'isBlockhashValid') return answer({ context: { slot: 1 }, value: false });
    if (method === 'getAccountInfo' && params[0] === CLOCK) return answer(stoodAt);
  }
  answer(await createRpc(solanaChain)(method, params));
});
t.teardown(solanaNode.stop);

/** While true, nobody settles anywhere. */
let isGone = false;

const gateway = await startGateway({
  catalogue,
  networks: ['chain-a', 'chain-c'],
  solanaNow: () => Date.now() + solanaAhead,
  // Who has asked before remembers how far it looked: who is asked last has not.
  intervals: { reconcileEveryMs: 3_600_000 },
  between: async (sandbox) => {
    const { evm, solana } = sandbox.state as SandboxState;
    chain = evm['chain-c']?.rpcUrl ?? '';
    solanaChain = solana?.rpcUrl ?? '';
    return {
      rpcUrl: ({ id }) =>
        new Map([
          ['chain-a', solanaNode.url],
          ['chain-c', node.url],
        ]).get(id),
      // The facilitator asks the same nodes: what it found good once, it finds good still.
      facilitators: sandbox.facilitators.map(({ name, facilitator }) => {
        let found: ReturnType<typeof facilitator.verify> | undefined;
        const verify: typeof facilitator.verify = (...payment) => {
          found ??= facilitator.verify(...payment);
          return found;
        };
        const supported: typeof facilitator.supported = async () => (isGone ? [] : facilitator.supported());
        return { name, facilitator: { ...facilitator, supported, verify } };
      }),
    };
  },
});
t.teardown(gateway.stop);
const ask = createRpc(chain);
const rare = { reconcileEveryMs: 3_600_000 };

t.test(
  'what was settled before its payer came back is found, however late the node and whoever settles again',
  async (t) => {
    const earned = await gateway.earned('chain-c');
    const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse' });
    const proof = await signProof(gateway, 'chain-c', call);
    behindAt = String(await ask('eth_blockNumber', []));

    await gateway.fault({ settlement: 'chain-c', fault: 'unknown' });
    t.equal((await sendProof(call, proof)).status, 409);
    t.equal((await gateway.earned('chain-c')) - earned, PRICE, 'it has settled, and nobody heard of it');
    const at = async (ahead: number) => {
      const url = await gateway.startAnother(() => Date.now() + ahead, undefined, undefined, rare);
      return { ...call, url: call.url.replace(gateway.url, url) };
    };
    await gateway.fault({ settlement: 'chain-c', fault: '500' });
    const again = await sendProof(await at(250_000), proof);
    t.equal(again.status, 409, 'minutes later it is tried again');

    behindAt = undefined;
    // The authorization is over: what is not found now is not looked for any more.
    await mine(ask, 1_024, 1);
    const answer = await sendProof(await at(0), proof);
    t.equal(answer.status, 200, 'an instance that has just started finds it');
    t.equal((await gateway.earned('chain-c')) - earned, PRICE, 'paid once');
    t.equal((await gateway.calls()).upstreamCalls, 1, 'worked for once');
  },
);

t.test(
  "what was settled on Solana is not given up while its node is behind, whatever the gateway's clock says",
  async (t) => {
    const earned = await gateway.earned('chain-a');
    const { upstreamCalls } = await gateway.calls();
    const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse at night' });
    const proof = await signProof(gateway, 'chain-a', call);
    stoodAt = await createRpc(solanaChain)('getAccountInfo', [CLOCK, { encoding: 'base64' }]);
    await gateway.fault({ settlement: 'chain-a', fault: 'unknown' });
    t.equal((await sendProof(call, proof)).status, 409);
    t.equal((await gateway.earned('chain-a')) - earned, PRICE, 'it has settled, and nobody heard of it');

    solanaAhead = 250_000;
    const url = await gateway.startAnother(() => Date.now() + solanaAhead, undefined, undefined, rare);
    const later = { ...call, url: call.url.replace(gateway.url, url) };
    t.equal((await sendProof(later, proof)).status, 409, 'minutes later nobody knows yet');
    stoodAt = undefined;
    t.equal((await sendProof(later, proof)).status, 200, 'the node has caught up');
    t.equal((await gateway.earned('chain-a')) - earned, PRICE, 'paid once');
    t.equal((await gateway.calls()).upstreamCalls - upstreamCalls, 1, 'worked for once');
  },
);

t.test('what was settled is found although nobody settles on its network any more', async (t) => {
  const earned = await gateway.earned('chain-a');
  const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse at dawn' });
  const proof = await signProof(gateway, 'chain-a', call);
  stoodAt = await createRpc(solanaChain)('getAccountInfo', [CLOCK, { encoding: 'base64' }]);
  await gateway.fault({ settlement: 'chain-a', fault: 'unknown' });
  t.equal((await sendProof(call, proof)).status, 409);
  t.equal((await gateway.earned('chain-a')) - earned, PRICE, 'it has settled, and nobody heard of it');
  [stoodAt, isGone] = [undefined, true];
  const url = await gateway.startAnother(undefined, undefined, undefined, rare);
  const again = await sendProof({ ...call, url: call.url.replace(gateway.url, url) }, proof);
  t.equal(again.status, 200, 'the chain can be asked all the same');
});
