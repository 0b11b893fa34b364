/** A hold that was left behind is ended: taken where its work was done, given back where it was not. */
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { newEvmWallet } from '../../../src/sandbox/chains/wallets.ts';
import { type PaidCall, request, sendProof } from '../../clients.ts';
import { accessIn } from '../../deploying-gateway.ts';
import { type Gateway, startGateway } from '../../gateway.ts';
import { signHold } from '../../holds.ts';
import { json, serve } from '../../payment/facilitators/front.ts';
import { fresh, picturesWith } from '../../settling-first.ts';

const PRICE = 60_000n;
const DEAD_MS = 100_000;

const gateway = await startGateway({
  catalogue: picturesWith(
    t,
    '{ hold: true, settleUpfront: { above: "0.01" } }\nlimits: { payer: { wastedPerHour: 2 } }',
  ),
  networks: ['chain-c'],
  intervals: { reconcileEveryMs: 100, lookAgainMs: { least: 50, most: 200 } },
});
t.teardown(gateway.stop);

/** Until what the wallet holds is that much again. */
async function backTo(spendable: bigint): Promise<void> {
  while ((await gateway.spendable('chain-c')) !== spendable) await delay(50);
}

t.test('work is done and taking its money fails: it is taken later, and the payer gets the answer then', async (t) => {
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  const [earned, { upstreamCalls }] = [await gateway.earned('chain-c'), await gateway.calls()];
  await gateway.fault({ settlement: 'chain-c', fault: '500' });
  const first = await sendProof(call, proof);
  t.equal(first.status, 409);
  t.match(await first.json(), { error: { code: 'settlement_pending' } });
  let answer = first;
  while (answer.status === 409) {
    await delay(50);
    answer = await sendProof(call, proof);
  }
  t.equal(answer.status, 200);
  t.equal((await gateway.earned('chain-c')) - earned, PRICE);
  t.equal((await gateway.calls()).upstreamCalls, upstreamCalls + 1, 'the work was done once');
});

t.test('work fails and giving the money back fails: it is given back later', async (t) => {
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  const spendable = await gateway.spendable('chain-c');
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  await gateway.fault({ settlement: 'chain-c', fault: '500' });
  t.equal((await sendProof(call, proof)).status, 500);
  await backTo(spendable);
  let again = await sendProof(call, proof);
  while (again.status === 409) {
    await delay(50);
    again = await sendProof(call, proof);
  }
  t.equal(again.status, 402, 'it buys nothing any more');
});

t.test('an instance dies at its work: another gives the money back', async (t) => {
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  const spendable = await gateway.spendable('chain-c');
  const { upstreamCalls } = await gateway.calls();
  await gateway.fault({ upstream: 'predictions', fault: 'timeout' });
  const answer = sendProof(call, proof);
  while ((await gateway.calls()).upstreamCalls === upstreamCalls) await delay(5);
  t.equal(await gateway.spendable('chain-c'), spendable - PRICE, 'locked while it is worked for');
  let ahead = DEAD_MS;
  await gateway.startAnother(() => Date.now() + ahead);
  await backTo(spendable);
  t.not((await answer).status, 200, 'who worked on it notices');
  t.equal(await gateway.spendable('chain-c'), spendable);
  // It takes what others are at for left behind only here.
  ahead = 0;
});

t.test('whose calls fail, so that money goes there and back at our cost, has to wait after a few', async (t) => {
  const statuses: number[] = [];
  for (let made = 0; made < 3; made += 1) {
    const call = fresh(gateway);
    await gateway.fault({ upstream: 'predictions', fault: '500' });
    statuses.push((await sendProof(call, await signHold(gateway, call))).status);
  }
  const first = statuses.indexOf(429);
  t.ok(first > 0, `${statuses}`);
  t.ok(statuses.slice(first).every((status) => status === 429));
});

t.test('a lock refused at the second try is given back where the first got through', async (t) => {
  const { address, privateKey } = newEvmWallet();
  /** What the node says of transactions that it passes to no block. */
  let said: string | undefined = 'the pool is busy';
  let inBlocks = async () => 0;
  const gateway = await startGateway({
    catalogue: picturesWith(t, '{ hold: true, settleUpfront: { above: "0.01" } }', 'llm/vendor3-5.6-terra'),
    networks: ['chain-c'],
    intervals: { reconcileEveryMs: 100, lookAgainMs: { least: 50, most: 200 } },
    between: async ({ state }) => {
      const { rpcUrl, caip2, chainId } = accessIn(state as Gateway['state']);
      const rpc = createRpc(rpcUrl);
      await rpc('anvil_setBalance', [address, '0x8ac7230489e80000']);
      inBlocks = async () => Number(await rpc('eth_getTransactionCount', [address, 'latest']));
      const node = await serve(async (_, response, body) => {
        const { id, method } = JSON.parse(body);
        if (method === 'eth_sendRawTransaction' && said !== undefined) {
          return void json(response, 200, { jsonrpc: '2.0', id, error: { code: -32_000, message: said } });
        }
        const headers = { 'content-type': 'application/json' };
        // The chain may be gone before who asks is.
        const asked = await fetch(rpcUrl, { method: 'POST', headers, body }).catch(() => undefined);
        if (!asked) return void response.destroy();
        response.writeHead(200, headers).end(await asked.text());
      });
      t.teardown(node.stop);
      const network = { caip2, chainId, rpcUrl: node.url, privateKey, nativeValue: 0n };
      const facilitator = localFacilitator({
        evm: [network],
        solana: [],
        confirmationTimeoutMs: 500,
        resendAfterMs: 500,
      });
      t.teardown(facilitator.close);
      return { facilitators: [{ name: 'own', facilitator: { ...facilitator, leastPrices: async () => new Map() } }] };
    },
  });
  t.teardown(gateway.stop);
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  const spendable = await gateway.spendable('chain-c');
  t.equal((await sendProof(call, proof)).status, 409);
  said = 'insufficient funds for gas * price + value';
  t.equal((await sendProof(call, proof)).status, 409, 'what was sent first may be in a block yet');
  said = undefined;
  while ((await inBlocks()) < 2) await delay(50);
  t.equal(await gateway.spendable('chain-c'), spendable, 'it was locked, and is given back');
});

t.test('a hold whose key is not there any more is told of, and taken once it is there again', async (t) => {
  const lines: { msg: string; reason?: string }[] = [];
  let isGone = false;
  const gateway = await startGateway({
    catalogue: picturesWith(t, '{ hold: true, settleUpfront: { above: "0.01" } }'),
    networks: ['chain-c'],
    intervals: { reconcileEveryMs: 100, lookAgainMs: { least: 50, most: 200 } },
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    between: async ({ facilitators }) => ({
      facilitators: facilitators.map(({ name, facilitator }) => ({
        name,
        facilitator: {
          ...facilitator,
          ...(facilitator.escrow && {
            escrow: async (network: string) => (isGone ? undefined : facilitator.escrow?.(network)),
          }),
        },
      })),
    }),
  });
  t.teardown(gateway.stop);
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  await gateway.fault({ settlement: 'chain-c', fault: '500', count: 1_000_000 });
  t.equal((await sendProof(call, proof)).status, 409);
  isGone = true;
  await gateway.fault({ settlement: 'chain-c', fault: '500', count: 0 });
  const isTold = () =>
    lines.some(({ msg, reason }) => /hold is not ended/.test(msg) && /drives the escrow/.test(reason ?? ''));
  while (!isTold()) await delay(50);
  isGone = false;
  let answer = await sendProof(call, proof);
  while (answer.status === 409) {
    await delay(50);
    answer = await sendProof(call, proof);
  }
  t.equal(answer.status, 200);
});

t.test('what nobody could take before its deadline is given back, though its work was done', async (t) => {
  const gateway = await startGateway({
    catalogue: picturesWith(t, '{ hold: true, settleUpfront: { above: "0.01" } }'),
    networks: ['chain-c'],
    intervals: { reconcileEveryMs: 100, lookAgainMs: { least: 50, most: 200 } },
  });
  t.teardown(gateway.stop);
  const spendable = await gateway.spendable('chain-c');
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  await gateway.fault({ settlement: 'chain-c', fault: '500', count: 1_000_000 });
  t.equal((await sendProof(call, proof)).status, 409);
  t.equal(await gateway.spendable('chain-c'), spendable - PRICE);
  const rpc = createRpc(accessIn(gateway.state).rpcUrl);
  await rpc('evm_increaseTime', [4 * 3_600]);
  await rpc('anvil_mine', ['0x1']);
  await gateway.fault({ settlement: 'chain-c', fault: '500', count: 0 });
  while ((await gateway.spendable('chain-c')) !== spendable) await delay(50);
  let again = await sendProof(call, proof);
  while (again.status === 409) {
    await delay(50);
    again = await sendProof(call, proof);
  }
  t.equal(again.status, 402, 'nothing was charged, and it buys nothing any more');
  t.match(await again.text(), /the payer has the money back/);
});

t.test(
  'who has much locked of which next to nothing is charged has to wait after a few, and who pays the whole need not',
  async (t) => {
    const limits = 'limits: { payer: { wastedPerHour: 2 } }';
    const gateway = await startGateway({
      catalogue: picturesWith(
        t,
        `{ hold: true, settleUpfront: { above: "0.01" } }\n${limits}`,
        'llm/vendor3-5.6-terra',
      ),
      networks: ['chain-c'],
      between: async ({ facilitators, state }) => {
        const leastPrices = async () => new Map([[accessIn(state as Gateway['state']).caip2, 5_000n]]);
        return {
          facilitators: facilitators.map(({ name, facilitator }) => ({
            name,
            facilitator: { ...facilitator, leastPrices },
          })),
        };
      },
    });
    t.teardown(gateway.stop);
    const statusOf = async (call: PaidCall): Promise<number> => {
      const answer = await sendProof(call, await signHold(gateway, call));
      await answer.text();
      return answer.status;
    };
    for (let made = 0; made < 4; made += 1) t.equal(await statusOf(fresh(gateway)), 200);
    const statuses: number[] = [];
    for (let made = 0; made < 4; made += 1) {
      statuses.push(await statusOf(request(gateway, '/llm/vendor3-5.6-terra', { prompt: `hi, number ${made}` })));
    }
    t.same(statuses, [200, 200, 429, 429]);
  },
);
