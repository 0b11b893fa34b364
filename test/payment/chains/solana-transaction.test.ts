/** What is read of a Solana transaction, and how much longer its blockhash is good. */
import { createHash } from 'node:crypto';
import t from 'tap';
import { blockhashGoodForMs } from '../../../src/payment/chains/solana-blockhash.ts';
import { messageHash, readSolanaPayment } from '../../../src/payment/chains/solana-transaction.ts';
import {
  AUTHORITY,
  addressOf,
  BLOCKHASH,
  DESTINATION,
  FEE_PAYER,
  little,
  MINT,
  openSolanaNode,
  SOURCE,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  transferOf,
  type Wire,
  type WireInstruction,
  wireOf,
} from './solana-chain.ts';

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const SYSTEM = '11111111111111111111111111111111';
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

const read = (wire: Wire) => readSolanaPayment(wireOf(wire).toString('base64'));
const readBytes = (bytes: Uint8Array) => readSolanaPayment(Buffer.from(bytes).toString('base64'));
const unitLimit = (units: bigint, data?: Uint8Array): WireInstruction => ({
  program: COMPUTE_BUDGET,
  data: data ?? Buffer.concat([Buffer.of(2), little(units, 4)]),
});
const unitPrice = (price: bigint, data?: Uint8Array): WireInstruction => ({
  program: COMPUTE_BUDGET,
  data: data ?? Buffer.concat([Buffer.of(3), little(price, 8)]),
});
const transfer = transferOf(678n);

for (const version of ['legacy', 0] as const) {
  t.test(`a payment is read as it was written (${version})`, async (t) => {
    const wire = wireOf({ version, instructions: [unitLimit(20_000n), transfer] });
    const { messageHash: hash, instructions, ...payment } = readBytes(wire);
    t.same(payment, {
      blockhash: BLOCKHASH,
      feePayer: FEE_PAYER,
      source: SOURCE,
      mint: MINT,
      destination: DESTINATION,
      tokenProgram: TOKEN_PROGRAM,
      authority: AUTHORITY,
      amount: 678n,
      signatures: 2,
      units: 20_000n,
      unitPrice: 0n,
      fee: 10_000n,
      isDurable: false,
    });
    t.same(instructions, [
      { program: COMPUTE_BUDGET, accounts: [], data: Buffer.concat([Buffer.of(2), little(20_000n, 4)]) },
      { program: TOKEN_PROGRAM, accounts: [SOURCE, MINT, DESTINATION, AUTHORITY], data: Buffer.from(transfer.data) },
    ]);
    // Behind one byte of count and two signatures.
    t.equal(hash, createHash('sha256').update(wire.subarray(129)).digest('hex'));
    t.equal(messageHash(wire), hash);
    t.equal(messageHash(Buffer.from(wire).fill(0, 1, 129)), hash, 'whatever stands in the place of the signatures');
  });

  t.test(
    `a transaction that is cut off, wherever, is not read, nor one with a byte too many (${version})`,
    async (t) => {
      const wire = wireOf({ version });
      const messages = Array.from(wire, (_, length) => {
        try {
          return `${length} bytes are a payment of ${readBytes(wire.subarray(0, length)).amount}`;
        } catch (error) {
          return error instanceof Error ? error.message : 'not an error';
        }
      });
      t.same([...new Set(messages)], ['the transaction is cut off']);
      t.throws(() => readBytes(Buffer.concat([wire, Buffer.of(0)])), { message: 'the transaction is too long' });
    },
  );
}

t.test('the newer token program moves tokens as well', async (t) => {
  t.equal(read({ instructions: [transferOf(5n, { program: TOKEN_2022_PROGRAM })] }).amount, 5n);
  t.equal(read({ instructions: [transferOf(2n ** 64n - 1n)] }).amount, 2n ** 64n - 1n);
});

t.test('a transaction of a version that nobody knows is not read', async (t) => {
  const wire = wireOf({ version: 0 });
  t.equal(wire[129], 0x80);
  wire[129] = 0x81;
  t.throws(() => readBytes(wire), { message: 'the transaction has an unknown version' });
});

t.test('lengths have up to three bytes', async (t) => {
  for (const length of [127, 128, 300, 16_383, 16_384, 40_000]) {
    const note = { program: MEMO, data: new Uint8Array(length).fill(65) };
    const { instructions, amount } = read({ instructions: [note, transfer] });
    t.equal(instructions[0]?.data.length, length);
    t.equal(amount, 678n);
  }
  const fourBytes = Buffer.concat([Buffer.of(0x80, 0x80, 0x80, 0), wireOf().subarray(1)]);
  t.throws(() => readBytes(fourBytes), { message: 'the transaction has a malformed length' });
});

t.test('the fee is for each signature, and for each unit what the payer offers, rounded up', async (t) => {
  const feeOf = (wire: Wire) => {
    const { units, unitPrice: price, fee } = read(wire);
    return { units, price, fee };
  };
  t.same(feeOf({ signatures: 3 }), { units: 1_400_000n, price: 0n, fee: 15_000n });
  for (const [units, price, fee] of [
    [20_000n, 1n, 10_001n],
    [20_000n, 50n, 10_001n],
    [20_000n, 51n, 10_002n],
    [1_000_000n, 3n, 10_003n],
    [0n, 7n, 10_000n],
    [2n ** 32n - 1n, 1_000_000n, 10_000n + 2n ** 32n - 1n],
  ] as const) {
    const wire = { instructions: [unitPrice(price), unitLimit(units), transfer] };
    t.same(feeOf(wire), { units, price, fee });
  }
  t.same(feeOf({ instructions: [transfer, unitPrice(10n)] }), { units: 1_400_000n, price: 10n, fee: 10_014n });
});

t.test('what is no order to the compute budget program sets no fee', async (t) => {
  const none = { units: 1_400_000n, unitPrice: 0n };
  const [limit, price] = [unitLimit(5n), unitPrice(5n)];
  for (const [name, others] of Object.entries({
    'too short': [unitLimit(0n, Buffer.of(2, 5, 0, 0)), unitPrice(0n, Buffer.of(3, 5, 0, 0, 0, 0, 0, 0))],
    'of another program': [
      { ...limit, program: MEMO },
      { ...price, program: MEMO },
    ],
    'another order': [unitLimit(0n, Buffer.of(1, 5, 0, 0, 0)), unitPrice(0n, Buffer.of(4, 5, 0, 0, 0, 0, 0, 0, 0))],
  })) {
    t.match(read({ instructions: [...others, transfer] }), none, name);
  }
});

t.test('exactly one transfer makes a payment', async (t) => {
  const refusal = { message: 'the transaction does not hold exactly one token transfer' };
  const short = transfer.data.subarray(0, 9);
  for (const [name, instructions] of Object.entries({
    none: [],
    two: [transfer, transferOf(1n)],
    'none but of another program': [transferOf(1n, { program: MEMO })],
    'another instruction': [transferOf(1n, { data: Buffer.concat([Buffer.of(13), transfer.data.subarray(1)]) })],
    'one that is too short': [transferOf(1n, { data: short })],
    'one without its accounts': [transferOf(1n, { accounts: [SOURCE, MINT, DESTINATION] })],
  })) {
    t.throws(() => read({ instructions }), refusal, name);
  }
  const others = [
    transferOf(1n, { data: short }),
    transferOf(2n, { program: MEMO }),
    transferOf(3n, { data: Buffer.concat([Buffer.of(13), transfer.data.subarray(1)]) }),
    { program: MEMO, data: Buffer.from('a note of many letters') },
  ];
  t.equal(read({ instructions: [...others, transfer] }).amount, 678n, 'whatever else there is');
  t.equal(read({ instructions: [transferOf(4n, { data: transfer.data.subarray(0, 10) })] }).amount, 678n);
});

t.test('no part of a payment may be out of an address table, where nobody sees it', async (t) => {
  const refusal = { message: 'the transaction does not hold exactly one token transfer' };
  for (const lookedUp of [SOURCE, MINT, DESTINATION, TOKEN_PROGRAM]) {
    t.throws(() => read({ version: 0, lookedUp: [lookedUp] }), refusal, lookedUp);
  }
  const [hidden, account] = [addressOf(60), addressOf(61)];
  t.throws(
    () =>
      read({
        version: 0,
        lookedUp: [account],
        instructions: [transferOf(1n, { accounts: [SOURCE, MINT, DESTINATION, account] })],
      }),
    refusal,
  );
  const other = { program: hidden, accounts: [account, SOURCE], data: Buffer.of(1) };
  const { instructions, amount } = read({ version: 0, lookedUp: [hidden, account], instructions: [transfer, other] });
  t.equal(amount, 678n);
  t.same(instructions[1], { program: undefined, accounts: [undefined, SOURCE], data: Buffer.of(1) });
});

t.test('a nonce that is advanced first makes a transaction durable', async (t) => {
  const advance = { program: SYSTEM, accounts: [addressOf(70)], data: Buffer.of(4, 0, 0, 0) };
  for (const [instructions, isDurable] of [
    [[advance, transfer], true],
    [[{ ...advance, data: Buffer.of(4, 0, 0, 0, 9) }, transfer], true],
    [[transfer, advance], false],
    [[{ ...advance, program: MEMO }, transfer], false],
    [[{ ...advance, data: Buffer.of(4, 0, 0) }, transfer], false],
    [[{ ...advance, data: Buffer.of(2, 0, 0, 0) }, transfer], false],
    [[{ ...advance, data: Buffer.of(4, 1, 0, 0) }, transfer], false],
  ] as const) {
    t.equal(read({ instructions }).isDurable, isDurable, instructions[0].data.join(' '));
  }
});

t.test('a blockhash is good for 150 blocks of 400 ms, its own counted', async (t) => {
  const recentBlockhashes = Array.from({ length: 150 }, (_, age) => addressOf(age + 10));
  const { rpc, asked } = await openSolanaNode(t, { recentBlockhashes });
  for (const [age, milliseconds] of [
    [0, 60_000],
    [1, 59_600],
    [100, 20_000],
    [149, 400],
  ] as const) {
    t.equal(await blockhashGoodForMs(rpc, String(recentBlockhashes[age])), milliseconds, `of ${age} blocks ago`);
  }
  t.ok(asked().every(({ method }) => method === 'getAccountInfo'));
  t.equal(await blockhashGoodForMs(rpc, addressOf(200)), 0, 'it is none of them');
  t.match(asked()[1], { method: 'isBlockhashValid', params: [addressOf(200), { commitment: 'processed' }] });
});

t.test('one that the node does not list is good where the node says so, and for as long as any', async (t) => {
  const newest = addressOf(10);
  for (const account of [null, { value: null }, { value: {} }, { value: { data: {} } }, { value: { data: [7] } }]) {
    const instead = (method: string) => (method === 'getAccountInfo' ? account : undefined);
    const { rpc } = await openSolanaNode(t, { instead, isValid: (hash) => hash === newest });
    t.equal(await blockhashGoodForMs(rpc, newest), 60_000, JSON.stringify(account));
    t.equal(await blockhashGoodForMs(rpc, addressOf(11)), 0);
  }
  for (const valid of [null, {}, { value: 'true' }]) {
    const { rpc } = await openSolanaNode(t, {
      recentBlockhashes: [],
      instead: (method) => (method === 'isBlockhashValid' ? valid : undefined),
    });
    t.equal(await blockhashGoodForMs(rpc, newest), 0, JSON.stringify(valid));
  }
});

t.end();
