/** How deep a transaction lies, by what nodes answer (Ethereum JSON-RPC; Solana's getSignatureStatuses). */
import t, { type Test } from 'tap';
import { evmConfirmations, solanaConfirmations } from '../../../src/payment/chains/confirmations.ts';
import type { Rpc } from '../../../src/payment/chains/rpc.ts';
import { openNode } from './node.ts';

/** A node that knows these answers and no other method. */
const nodeOf = async (t: Test, answers: Readonly<Record<string, unknown>>): Promise<Rpc> =>
  (await openNode(t, (method) => answers[method])).rpc;

const TRANSACTION = `0x${'ab'.repeat(32)}`;

t.test("blocks are counted from the transaction's own to the newest, both included", async (t) => {
  const of = async (newest: string, receipt: unknown) =>
    evmConfirmations(await nodeOf(t, { eth_blockNumber: newest, eth_getTransactionReceipt: receipt }), TRANSACTION);
  t.equal(await of('0x14', { status: '0x1', blockNumber: '0x14' }), 1);
  t.equal(await of('0x14', { status: '0x1', blockNumber: '0xa' }), 11);
  t.equal(await of('0x13', { status: '0x1', blockNumber: '0x14' }), 1, 'it came in between the two questions');
});

t.test('one that is not there, or has failed, has none', async (t) => {
  const isWaiting = { status: '0x1', blockNumber: null };
  for (const receipt of [null, 'none', { status: '0x0', blockNumber: '0xa' }, isWaiting]) {
    const rpc = await nodeOf(t, { eth_blockNumber: '0x14', eth_getTransactionReceipt: receipt });
    t.equal(await evmConfirmations(rpc, TRANSACTION), 0);
  }
  for (const value of [
    undefined,
    'none',
    [],
    [null],
    [{ err: { InstructionError: [0, 'Custom'] }, confirmations: 3 }],
  ]) {
    const rpc = await nodeOf(t, { getSignatureStatuses: { value } });
    t.equal(await solanaConfirmations(rpc, 'signature'), 0);
  }
  t.equal(await solanaConfirmations(await nodeOf(t, { getSignatureStatuses: null }), 'signature'), 0);
});

t.test("on Solana the transaction's own block counts, too, and what is final has no end", async (t) => {
  const of = async (confirmations: unknown) => {
    const value = [{ slot: 5, confirmations, err: null }];
    return solanaConfirmations(await nodeOf(t, { getSignatureStatuses: { value } }), 'signature');
  };
  t.equal(await of(0), 1);
  t.equal(await of(31), 32);
  t.equal(await of(null), Number.POSITIVE_INFINITY);
});

t.test('on Solana one that is minutes old is searched for, too', async (t) => {
  const { rpc } = await openNode(t, (_method, [signatures, options]) => {
    const { searchTransactionHistory } = Object(options);
    const final = { slot: 5, confirmations: null, err: null };
    return { value: [signatures].flat().map((of) => (searchTransactionHistory && of === 'old' ? final : null)) };
  });
  t.equal(await solanaConfirmations(rpc, 'old'), Number.POSITIVE_INFINITY);
  t.equal(await solanaConfirmations(rpc, 'unheard of'), 0);
});

t.test('a node that cannot say leaves it open', async (t) => {
  const rpc = await nodeOf(t, {});
  await t.rejects(evmConfirmations(rpc, TRANSACTION), { name: 'ChainProblem', code: -32601 });
  await t.rejects(solanaConfirmations(rpc, 'signature'), { name: 'ChainProblem' });
});

t.end();
