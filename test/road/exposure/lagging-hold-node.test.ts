/** Holds through an address behind which a node does not have the newest block yet. */
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { request, sendProof } from '../../clients.ts';
import { accessIn } from '../../deploying-gateway.ts';
import { type Gateway, startGateway } from '../../gateway.ts';
import { signHold } from '../../holds.ts';
import { json, serve } from '../../payment/facilitators/front.ts';
import { picturesWith } from '../../settling-first.ts';

let chain = '';
/** The newest block of the node that is behind. */
let knownTo = '0x0';
/** For so many estimates more it is. */
let behindFor = 0;
let isBehind: (method: string) => boolean = () => true;

/** At which place the block is that a question is about. */
const BLOCK_AT: Record<string, number> = { eth_call: 1, eth_estimateGas: 1, eth_getBlockByNumber: 0 };

const node = await serve(async (_request, response, body) => {
  const { id, method, params = [] } = JSON.parse(body);
  const at = BLOCK_AT[method];
  const asked = [...params];
  if (behindFor > 0 && at !== undefined && isBehind(method)) asked[at] = knownTo;
  if (method === 'eth_estimateGas') behindFor -= 1;
  const found = await fetch(chain, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: asked }),
  });
  json(response, 200, await found.json());
});
t.teardown(node.stop);

const signer = generatePrivateKey();
const gateway = await startGateway({
  catalogue: picturesWith(t, '{ hold: true, settleUpfront: { above: "0.01" } }', 'llm/vendor3-5.6-terra'),
  networks: ['chain-c'],
  intervals: { reconcileEveryMs: 100, lookAgainMs: { least: 50, most: 200 } },
  between: async ({ state }) => {
    const { rpcUrl, caip2, chainId } = accessIn(state as Gateway['state']);
    chain = rpcUrl;
    await createRpc(chain)('anvil_setBalance', [privateKeyToAccount(signer).address, '0xde0b6b3a7640000']);
    const evm = [{ caip2, chainId, rpcUrl: node.url, privateKey: signer, nativeValue: 0n }];
    const facilitator = localFacilitator({ evm, solana: [] });
    t.teardown(facilitator.close);
    return { facilitators: [{ name: 'own', facilitator }] };
  },
});
t.teardown(gateway.stop);

const nodes: Record<string, typeof isBehind> = {
  'whatever is asked': () => true,
  'what a transaction takes': (method) => method === 'eth_estimateGas',
};
for (const [asked, behind] of Object.entries(nodes)) {
  t.test(
    `work that is charged by use is paid for, where a node that is behind the lock answers ${asked}`,
    async (t) => {
      const call = request(gateway, '/llm/vendor3-5.6-terra', { prompt: `why does fog lift? ${asked}` });
      const proof = await signHold(gateway, call);
      const [earned, spendable] = [await gateway.earned('chain-c'), await gateway.spendable('chain-c')];
      knownTo = String(await createRpc(chain)('eth_blockNumber', []));
      isBehind = behind;
      // The lock is rehearsed and sent; then what the work has cost is to be taken.
      behindFor = 3;
      const answer = await sendProof(call, proof);
      t.equal(answer.status, 200, await answer.clone().text());
      const charged = (await gateway.earned('chain-c')) - earned;
      t.ok(charged > 0n, `${charged} atomic units`);
      t.equal(spendable - (await gateway.spendable('chain-c')), charged, 'the rest is back');
    },
  );
}
