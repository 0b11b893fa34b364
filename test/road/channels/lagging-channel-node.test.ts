/** Deposits and claims through an address behind which some nodes are behind their chain. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { usualIntervals } from '../../../src/payment/intervals.ts';
import type { SandboxState } from '../../../src/rails/paying-client.ts';
import { CHANNELS_ON, openChannel, toldOf } from '../../channels.ts';
import { sendProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { json, serve } from '../../payment/facilitators/front.ts';
import { fresh, picturesWith } from '../../settling-first.ts';

const PRICE = 60_000n;
const AUTHORIZATION_STATE = '0xe94a0102';

let chain = '';
/** The newest block of the node that is behind. */
let knownTo = 0n;
/** Which questions it is asked. */
let isBehind: (method: string, data: string) => boolean = () => false;

const node = await serve(async (_request, response, body) => {
  const { id, method, params = [] } = JSON.parse(body);
  const answer = (rest: object) => json(response, 200, { jsonrpc: '2.0', id, ...rest });
  const known = isBehind(method, String(params[0]?.data)) ? `0x${knownTo.toString(16)}` : undefined;
  if (known && method === 'eth_blockNumber') return answer({ result: known });
  if (known && method === 'eth_call' && BigInt(Number(params[1]) || 0) > knownTo)
    return answer({ error: { code: -32_000, message: 'header not found' } });
  const asked = known ? body.replaceAll(/"(?:latest|pending)"/g, `"${known}"`) : body;
  const found = await fetch(chain, { method: 'POST', headers: { 'content-type': 'application/json' }, body: asked });
  const told = await found.json();
  const isNewer = method === 'eth_getTransactionReceipt' && BigInt(told.result?.blockNumber ?? 0) > knownTo;
  answer(known && isNewer ? { result: null } : told);
});
t.teardown(node.stop);

const signer = generatePrivateKey();
const gateway = await startGateway({
  catalogue: picturesWith(t, '{ channels: true }'),
  networks: ['chain-c'],
  between: async (sandbox) => {
    chain = (sandbox.state as SandboxState).evm['chain-c']?.rpcUrl ?? '';
    await createRpc(chain)('anvil_setBalance', [privateKeyToAccount(signer).address, '0xde0b6b3a7640000']);
    const [caip2, chainId] = [CHANNELS_ON, Number(CHANNELS_ON.split(':')[1])];
    const evm = [{ caip2, chainId, rpcUrl: node.url, privateKey: signer, nativeValue: 0n }];
    const facilitator = localFacilitator({ evm, solana: [], confirmationTimeoutMs: 2_000 });
    return { facilitators: [{ name: 'own', facilitator }], rpcUrl: () => node.url };
  },
});
t.teardown(gateway.stop);

let opened = 0;
/** A payer that has signed its first call and deposit, and the node from then on. */
async function scene(behind: typeof isBehind, options = {}) {
  opened += 1;
  const payer = openChannel(gateway, { salt: `0x${opened.toString(16).padStart(64, '0')}`, ...options });
  const call = fresh(gateway);
  const proof = await payer.sign(call);
  knownTo = BigInt(String(await createRpc(chain)('eth_blockNumber', [])));
  isBehind = behind;
  return { payer, call, proof, send: () => sendProof(call, proof) };
}
const caughtUp = () => {
  isBehind = () => false;
};
t.afterEach(caughtUp);

const isRead = (method: string) => method === 'eth_call' || method === 'eth_blockNumber';
t.test('a claim is made once, though a node that is behind does not show it', async (t) => {
  t.teardown(gateway.stopOthers);
  const [one, other] = [await scene(() => false), await scene(() => false)];
  for (const { send } of [one, other]) t.equal((await send()).status, 200);
  const [rpc, { address }] = [createRpc(chain), privateKeyToAccount(signer)];
  const sent = async () => Number(await rpc('eth_getTransactionCount', [address, 'latest']));
  const [before, earned] = [await sent(), await gateway.earned('chain-c')];
  const isEarned = async (amount: bigint) => {
    while ((await gateway.earned('chain-c')) - earned < amount) await delay(20);
  };
  knownTo = BigInt(String(await rpc('eth_blockNumber', [])));
  isBehind = isRead;
  const claims = { ...usualIntervals.claims, everyMs: 20, afterMs: 0 };
  await gateway.startAnother(undefined, undefined, undefined, { claims });
  await isEarned(2n * PRICE);
  t.equal((await other.payer.buy(fresh(gateway))).status, 200);
  await isEarned(3n * PRICE);
  t.equal((await sent()) - before, 2, 'what was charged since is claimed by the second, and by no third');
});

let turn = 0;
const nodes: Record<string, [before: typeof isBehind, after: typeof isBehind]> = {
  'all reads': [isRead, isRead],
  'all but one': [isRead, (method, data) => isRead(method) && !data.startsWith(AUTHORIZATION_STATE)],
  'one alone': [isRead, (_, data) => data.startsWith(AUTHORIZATION_STATE)],
  'every second': [
    isRead,
    () => {
      turn += 1;
      return turn % 2 === 0;
    },
  ],
};
for (const [name, [before, after]] of Object.entries(nodes)) {
  t.test(`nobody is asked for a deposit that is made, where a node that is behind answers ${name}`, async (t) => {
    const { upstreamCalls } = await gateway.calls();
    const { payer, send } = await scene(before);
    const first = await send();
    t.match([first.status, await first.json()], [409, { error: { code: 'settlement_pending' } }]);
    isBehind = after;
    const again = await send();
    t.equal(again.status, 200, await again.clone().text());
    const { channelId, balance } = toldOf(again).extra.channelState;
    t.match(await payer.onChain(channelId), { balance: 10n * PRICE });
    t.equal(balance, String(10n * PRICE), 'its payer is told of all that it has deposited');
    t.equal((await gateway.calls()).upstreamCalls - upstreamCalls, 1);
  });
}

t.test('who signs for another deposit because it was told to wait does not make it', async (t) => {
  const { payer, call, send } = await scene(isRead, { hasNode: false });
  t.equal((await send()).status, 409);
  const again = await sendProof(call, await payer.sign(call));
  t.equal(again.status, 200, await again.clone().text());
  t.match(await payer.onChain(toldOf(again).extra.channelState.channelId), { balance: 10n * PRICE });
});

t.test('where nobody has seen the block of a deposit yet, its payer waits', async (t) => {
  const { payer, send } = await scene((method) => method !== 'eth_sendRawTransaction');
  const waits = async (name: string) => {
    const waiting = await send();
    t.match([waiting.status, await waiting.json()], [409, { error: { code: 'settlement_pending' } }], name);
  };
  await waits('it is on its way');
  isBehind = (method, data) => isRead(method) && !data.startsWith(AUTHORIZATION_STATE);
  await waits('the token has it, and the channel does not show it');
  let isFirst = true;
  isBehind = (method, data) => {
    const wasFirst = isFirst;
    if (data.startsWith(AUTHORIZATION_STATE)) isFirst = false;
    return method === 'eth_blockNumber' || (wasFirst && !isFirst);
  };
  await waits('the token takes it no second time, as it says only then');
  caughtUp();
  const answer = await send();
  t.equal(answer.status, 200, await answer.clone().text());
  t.match(await payer.onChain(toldOf(answer).extra.channelState.channelId), { balance: 10n * PRICE });
});
