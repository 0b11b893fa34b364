/** How much a chain is asked about a payment: however old it is, however often, and whatever its payer does. */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem';
import { type Eip3009Query, findEip3009Settlement } from '../../../src/payment/authorizations/eip3009.ts';
import { findPermit2Settlement, type Permit2Query } from '../../../src/payment/authorizations/permit2.ts';
import {
  firstBlockSince,
  type LogProgress,
  logsIn,
  readBlock,
  TRANSFER,
} from '../../../src/payment/chains/evm-logs.ts';
import { openLooks } from '../../../src/payment/chains/looks.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { mine } from '../../mine.ts';
import { baseSepolia } from '../facilitators/networks.ts';
import { signV2 } from '../facilitators/payments.ts';
import { countedNode } from './counted-node.ts';

const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
/** A look at something old: where its time is in the chain, and what happened then. */
const MOST = 40;

const chains = await startChains({ networks: [baseSepolia], tempo: true });
t.teardown(chains.stop);
const access = chains.evm[baseSepolia.id];
if (!access) throw new Error('the chain was not started');
const { rpcUrl } = access;
const rpc = createRpc(rpcUrl);
const asset = baseSepolia.sandbox.asset.address;
const payer = chains.wallets.evm.payer.address;
const payTo = chains.payTo[baseSepolia.id] as Hex;

const chainTime = async (): Promise<number> => {
  const block = (await rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  return Number(block.timestamp);
};
/** As many blocks as a laptop makes in a moment, and far more than one look may search where ranges are small. */
const mineADay = () => mine(rpc, 600, 144);

/** A node that answers for small ranges only, as public ones do. */
const meanNode = (t: Test) =>
  countedNode(t, rpcUrl, (method, [filter]) => {
    if (method !== 'eth_getLogs') return undefined;
    const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
    if (Number(toBlock) - Number(fromBlock) >= 10) throw new Error('the range is too large');
    return undefined;
  });

/** A clock that has moved on between two looks. */
function looksOfALater(): { looks: ReturnType<typeof openLooks<LogProgress>>; later(): void } {
  let time = 0;
  return {
    looks: openLooks<LogProgress>(() => time),
    later: () => {
      time += 60_000;
    },
  };
}

/** A permit that its payer makes void, as nobody but the payer can. */
async function voidPermit(goodFor: number): Promise<Omit<Permit2Query, 'rpcUrl'>> {
  const nonce = BigInt(`0x${randomBytes(32).toString('hex')}`);
  const abi = parseAbi(['function invalidateUnorderedNonces(uint256 wordPos, uint256 mask)']);
  const data = encodeFunctionData({ abi, args: [nonce >> 8n, 1n << (nonce & 0xffn)] });
  const now = await chainTime();
  await actAs(rpc, payer, [{ to: PERMIT2, data }]);
  return { asset, payer, payTo, nonce: nonce.toString(), deadline: now + goodFor, since: now - 120 };
}

t.test('a settlement of a day ago is found in the time in which its authorization was good', async (t) => {
  const node = await meanNode(t);
  const since = await chainTime();
  const payment = await signV2(chains, baseSepolia, { amount: '321' });
  const { authorization } = payment.payload.payload as {
    authorization: Record<'nonce' | 'value' | 'validBefore', string>;
  };
  const { nonce, value, validBefore } = authorization;
  const query: Eip3009Query = {
    rpcUrl: node.url,
    asset,
    payer,
    payTo,
    nonce,
    value,
    validBefore: Number(validBefore),
    since,
  };
  t.match(await findEip3009Settlement(query), { state: 'unknown' });
  t.equal(node.taken().total, 2, 'unused: nothing is searched');
  const settled = await localFacilitator(chains.facilitatorOptions).settle(payment.payload, payment.requirements);
  const transaction = settled.state === 'settled' ? settled.transaction : 'none';
  await mineADay();
  t.same(await findEip3009Settlement(query), { state: 'settled', transaction, amount: 321n });
  const { total, methods } = node.taken();
  t.ok(total <= MOST, `${total} calls`);
  t.ok((methods.eth_getLogs ?? 0) <= 12, 'of a day only a moment is searched');
});

t.test('a void permit is open until its deadline, and refused after it, however long ago that was', async (t) => {
  const node = await meanNode(t);
  const permit = await voidPermit(60);
  const { looks, later } = looksOfALater();
  const look = () => findPermit2Settlement({ ...permit, rpcUrl: node.url }, looks);
  t.match(await look(), { state: 'unknown', reason: /no transfer of it to us/ });
  await mineADay();
  node.taken();
  later();
  t.match(await look(), { state: 'refused', reason: /expired without a transfer/ });
  node.taken();
  t.match(await findPermit2Settlement({ ...permit, rpcUrl: node.url }), { state: 'refused' });
  const { total, methods } = node.taken();
  t.ok(total <= MOST, `${total} calls of who never looked before`);
  t.ok((methods.eth_getLogs ?? 0) <= 12, 'only the time in which it was good is searched');
});

t.test('a permit that is good for a year is searched once, not at every look', async (t) => {
  const node = await meanNode(t);
  const permit = await voidPermit(31_536_000);
  await mineADay();
  const { looks, later } = looksOfALater();
  const look = () => findPermit2Settlement({ ...permit, rpcUrl: node.url }, looks);
  for (let looked = 1; looked <= 3; looked += 1) {
    t.match(await look(), { state: 'unknown' });
    t.ok(node.taken().total <= 60, `look ${looked} is bounded`);
    t.match(await look(), { state: 'unknown' }, 'asked again at once');
    t.equal(node.taken().total, 0, 'the answer is the last one');
    later();
  }
  t.match(await look(), { state: 'unknown', reason: /no transfer of it to us/ });
  t.ok(node.taken().total <= 25, 'the day was searched: only blocks that may still be replaced are left');
});

t.test('payments of the payer that are not this one are looked at once each', async (t) => {
  const node = await countedNode(t, rpcUrl);
  const permit = await voidPermit(86_400);
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payTo, 1n] });
  await actAs(
    rpc,
    payer,
    Array.from({ length: 100 }, () => ({ to: asset, data: transfer })),
  );
  await mine(rpc, 100, 1);
  const { looks, later } = looksOfALater();
  const look = () => findPermit2Settlement({ ...permit, rpcUrl: node.url }, looks);
  const asked: number[] = [];
  for (const _ of [1, 2, 3]) {
    t.match(await look(), { state: 'unknown' });
    asked.push(node.taken().methods.eth_getTransactionByHash ?? 0);
    later();
  }
  t.ok(asked.every((count) => count <= 60));
  t.equal(
    asked.reduce((sum, count) => sum + count, 0),
    100,
  );
});

t.test('who asks while a look is under way gets its answer', async (t) => {
  const node = await countedNode(t, rpcUrl);
  const permit = await voidPermit(60);
  const { looks } = looksOfALater();
  await Promise.all(Array.from({ length: 20 }, () => findPermit2Settlement({ ...permit, rpcUrl: node.url }, looks)));
  t.equal(node.taken().methods.eth_call, 1);
});

t.test('a node that answers for small ranges only is searched in as many looks as it needs', async (t) => {
  const node = await meanNode(t);
  const permit = await voidPermit(80_000);
  await mineADay();
  const { looks, later } = looksOfALater();
  const look = () => findPermit2Settlement({ ...permit, rpcUrl: node.url }, looks);
  let found = await look();
  let looked = 1;
  for (; found.state === 'unknown' && looked < 20; looked += 1) {
    later();
    found = await look();
    t.ok(node.taken().total <= 120);
  }
  t.match(found, { state: 'refused', reason: /expired without a transfer/ });
  t.ok(looked > 1, 'not in one look');
});

t.test('the first block that is not older than a time is found to the block, however far back', async (t) => {
  await mine(rpc, 300, 7);
  const latest = await readBlock(rpc, 'latest');
  const at = (back: number) => readBlock(rpc, `0x${(latest.number - back).toString(16)}`);
  const made = await Promise.all(Array.from({ length: 300 }, (_, back) => at(back)));
  // A block that the chain makes by itself meanwhile, every ten seconds, has the time of the one before.
  const first = (since: number) =>
    Math.min(latest.number + 1, ...made.flatMap(({ number, timestamp }) => (timestamp >= since ? [number] : [])));
  for (const back of [0, 1, 2, 63, 64, 65, 250]) {
    const { timestamp } = await at(back);
    for (const since of [timestamp, timestamp - 1, timestamp + 1]) {
      t.equal(await firstBlockSince(rpc, since, latest), first(since), `${back} blocks back`);
    }
  }
  t.equal(await firstBlockSince(rpc, 0, latest), 0, 'all of them');
});

t.test('each transfer of a period is read once, also from a node of small ranges', async (t) => {
  const first = (await readBlock(rpc, 'latest')).number + 1;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payTo, 1n] });
  for (let made = 0; made < 3; made += 1) {
    await actAs(rpc, payer as Hex, [{ to: asset as Hex, data }]);
    await mine(rpc, 9, 1);
  }
  const { number: last } = await readBlock(rpc, 'latest');
  const filter = { address: asset, topics: [TRANSFER] };
  const node = await meanNode(t);
  for (const one of [rpc, createRpc(node.url)]) {
    const found: unknown[] = [];
    for await (const { transactionHash } of logsIn(one, filter, first, last)) found.push(transactionHash);
    t.equal(new Set(found).size, 3);
    t.equal(found.length, 3);
  }
});
