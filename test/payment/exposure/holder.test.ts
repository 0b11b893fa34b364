/** What a payer is and what it can pay with, by what nodes answer (Ethereum JSON-RPC, ERC-20; Solana JSON-RPC). */
import t, { type Test } from 'tap';
import { createEvmHolders, solanaHolder } from '../../../src/payment/exposure/holder.ts';
import { json, serve } from '../facilitators/front.ts';

const ASSET = '0x00000000000000000000000000000000000000a5';
const PAYER = '0xABCDEF0000000000000000000000000000000001';
const SPENDER = '0x5bE4de0000000000000000000000000000000002';

type Answer = (params: readonly unknown[]) => unknown;

/** A node that knows these methods, and what it was asked. A method that throws is answered with an error. */
async function nodeOf(t: Test, methods: Readonly<Record<string, Answer>>) {
  const asked: unknown[][] = [];
  const { url, stop } = await serve((_request, response, body) => {
    const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: readonly unknown[] };
    asked.push([method, ...params]);
    try {
      json(response, 200, { jsonrpc: '2.0', id, result: methods[method]?.(params) ?? null });
    } catch {
      json(response, 200, { jsonrpc: '2.0', id, error: { code: -32000, message: 'the node is behind' } });
    }
  });
  t.teardown(stop);
  return { url, asked };
}

const failing = () => {
  throw new Error('down');
};

/** Payers on a chain where each address has the code that the test says. */
async function payersWhoseCode(t: Test, codeOf: (address: string) => string, mostKept?: number) {
  const { url, asked } = await nodeOf(t, { eth_getCode: ([address]) => codeOf(String(address)) });
  const clock = { now: 1_000_000 };
  return { asked, clock, payer: createEvmHolders(url, ASSET, () => clock.now, mostKept) };
}

t.test('a wallet with code is a contract, and so is one that its chain says nothing of', async (t) => {
  for (const [code, isContract, isDelegated] of [
    [() => '0x', false, false],
    [() => '0x6001', true, false],
    [() => `0xef0100${SPENDER.slice(2)}`, true, true],
    [failing, true, false],
  ] as const) {
    const { payer, asked } = await payersWhoseCode(t, code);
    const found = await payer(PAYER);
    t.equal(found.isContract, isContract);
    t.equal(found.isDelegated ?? false, isDelegated);
    t.same(asked, [['eth_getCode', PAYER.toLowerCase(), 'latest']]);
  }
});

t.test('a wallet that is to come is a contract, whatever its chain has there now', async (t) => {
  const { payer, asked } = await payersWhoseCode(t, () => '0x');
  t.equal((await payer(PAYER, { isCounterfactual: true })).isContract, true);
  t.same(asked, []);
  t.equal((await payer(PAYER, { isCounterfactual: false })).isContract, false);
});

t.test('an address without code is remembered for a minute, however it is spelt', async (t) => {
  const code = { is: '0x' };
  const { payer, asked, clock } = await payersWhoseCode(t, () => code.is);
  await payer(PAYER);
  code.is = '0x60';
  clock.now += 59_999;
  t.equal((await payer(PAYER.toLowerCase())).isContract, false);
  t.equal(asked.length, 1);
  clock.now += 1;
  t.equal((await payer(PAYER)).isContract, true);
  t.equal((await payer(PAYER)).isContract, true);
  t.equal(asked.length, 3, 'and one with code is not');
});

t.test('no more addresses are remembered than there is room for', async (t) => {
  const { payer, asked } = await payersWhoseCode(t, () => '0x', 2);
  for (const address of ['0x1', '0x2', '0x1', '0x2']) await payer(address);
  t.equal(asked.length, 2, 'two have room');
  for (const address of ['0x3', '0x3', '0x1', '0x2']) await payer(address);
  t.equal(asked.length, 5, 'for a third the first two are forgotten, and for the second of them the others');
});

const padded = (address: string) => address.slice(2).toLowerCase().padStart(64, '0');
const BALANCE_CALL = `0x70a08231${padded(PAYER)}`;
const ALLOWANCE_CALL = `0xdd62ed3e${padded(PAYER)}${padded(SPENDER)}`;

t.test('a payer can pay with what it holds, and who moves that with what it may move of it', async (t) => {
  for (const [held, allowance, approved, isSpent, balance] of [
    [500, 100, undefined, false, 500n],
    [500, 100, undefined, true, 100n],
    [100, 500, undefined, true, 100n],
    [500, 0, 30n, true, 30n],
    [20, 0, 30n, true, 20n],
  ] as const) {
    const call: Answer = ([called]) => {
      const { data } = called as { data: string };
      return `0x${(data === BALANCE_CALL ? held : allowance).toString(16)}`;
    };
    const { url, asked } = await nodeOf(t, { eth_getCode: () => '0x', eth_call: call });
    const spender = { address: SPENDER, approved };
    const payer = await createEvmHolders(url, ASSET, () => 0)(PAYER, isSpent ? { spender } : {});
    t.equal(await payer.balance(), balance);
    const data = [BALANCE_CALL, ...(isSpent && approved === undefined ? [ALLOWANCE_CALL] : [])];
    t.same(
      asked.filter(([method]) => method === 'eth_call'),
      data.map((data) => ['eth_call', { to: ASSET, data }, 'latest']),
    );
  }
});

t.test('a balance that the chain cannot be asked for is nobody’s guess', async (t) => {
  const { url } = await nodeOf(t, { eth_getCode: () => '0x', eth_call: failing });
  const payer = await createEvmHolders(url, ASSET, () => 0)(PAYER);
  await t.rejects(payer.balance(), { name: 'ChainProblem' });
});

t.test('on Solana nobody is a contract, and the balance is that of the token account', async (t) => {
  const { url, asked } = await nodeOf(t, { getTokenAccountBalance: () => ({ value: { amount: '123', decimals: 6 } }) });
  const payer = solanaHolder(url, 'account');
  t.equal(payer.isContract, false);
  t.equal(await payer.balance(), 123n);
  t.same(asked, [['getTokenAccountBalance', 'account', { commitment: 'confirmed' }]]);
  for (const answer of [null, '5', {}, { value: null }, { value: { amount: 5 } }, { value: {} }]) {
    const other = await nodeOf(t, { getTokenAccountBalance: () => answer });
    const message = 'the node does not tell the balance of the payer';
    await t.rejects(solanaHolder(other.url, 'account').balance(), { message });
  }
});
