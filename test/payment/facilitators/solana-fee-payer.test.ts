/** What a payer can make the fee payer of this process pay, on a real ledger. */

import { AccountRole, address, createKeyPairSignerFromBytes, type Instruction } from '@solana/kit';
import t, { type Test } from 'tap';
import { isJsonObject } from '../../../src/json.ts';
import { decodeBase58 } from '../../../src/on-chain/base58.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { newSolanaWallet } from '../../../src/sandbox/chains/wallets.ts';
import { LIGHTHOUSE, placeLighthouse, takeRent, withInstruction } from '../../hostile-solana.ts';
import { json, serve } from './front.ts';
import { solanaDevnet } from './networks.ts';
import { type Payment, signV1, signV2 } from './payments.ts';

const chains = await startChains({ networks: [solanaDevnet] });
t.teardown(chains.stop);
const rpcUrl = chains.solana?.rpcUrl ?? '';
const rpc = createRpc(rpcUrl);
const feePayer = address(chains.wallets.solana.facilitator.address);
const payer = await createKeyPairSignerFromBytes(decodeBase58(chains.wallets.solana.payer.secretKey));
const mint = address(solanaDevnet.sandbox.asset.address);

const lamports = async (): Promise<number> => {
  const answer = await rpc('getBalance', [feePayer]);
  return isJsonObject(answer) ? Number(answer.value) : Number.NaN;
};

await placeLighthouse(rpc);
const rentTaking = (tag: number) => takeRent(tag, feePayer, mint);

/** The payment with one more instruction, signed again by its payer. */
async function withFurther({ payload, requirements }: Payment, further: Instruction): Promise<Payment> {
  const transaction = await withInstruction(String(payload.payload.transaction), further, payer);
  return { payload: { ...payload, payload: { transaction } }, requirements };
}

for (const [version, sign] of [
  ['1', signV1],
  ['2', signV2],
] as const) {
  const cheap = () => sign(chains, solanaDevnet, { amount: '17' });
  const facilitator = localFacilitator(chains.facilitatorOptions);
  const refuses = async (t: Test, { payload, requirements }: Payment, reason: RegExp) => {
    const before = await lamports();
    t.match(await facilitator.verify(payload, requirements), { valid: false, reason });
    t.match(await facilitator.settle(payload, requirements), { state: 'refused', reason });
    t.equal(await lamports(), before, 'the fee payer keeps every lamport');
  };

  for (const tag of [0, 1]) {
    t.test(
      `an instruction that writes memory at the fee payer's cost is refused (tag ${tag}, version ${version})`,
      async (t) => {
        await refuses(t, await withFurther(await cheap(), await rentTaking(tag)), /Lighthouse/);
      },
    );
  }

  t.test(`the fee payer stands in the accounts of nothing but assertions (version ${version})`, async (t) => {
    const memo = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
    const accounts = [{ address: feePayer, role: AccountRole.READONLY_SIGNER }];
    const signing: Instruction = { programAddress: memo, accounts, data: Buffer.from('I owe you') };
    await refuses(t, await withFurther(await cheap(), signing), /fee payer/);
  });

  t.test(`an assertion about the fee payer is not refused for naming it (version ${version})`, async (t) => {
    const accounts = [{ address: feePayer, role: AccountRole.READONLY }];
    const assertion: Instruction = { programAddress: LIGHTHOUSE, accounts, data: Uint8Array.of(6) };
    const { payload, requirements } = await withFurther(await cheap(), assertion);
    // The code that stands in for Lighthouse knows no tag 6, so only the simulation may fail.
    t.match(await facilitator.verify(payload, requirements), { valid: false, reason: /would fail on the chain/ });
  });

  t.test(`settling costs the fee payer its fee, to the lamport (version ${version})`, async (t) => {
    const before = await lamports();
    const { payload, requirements } = await cheap();
    t.match(await facilitator.settle(payload, requirements), { state: 'settled' });
    t.equal(before - (await lamports()), 10_001);
  });

  t.test(`a transaction that would take one lamport more than its fee is refused (version ${version})`, async (t) => {
    const node = await serve(async (_request, response, body) => {
      const { id, method, params }: { id: unknown; method: string; params: unknown[] } = JSON.parse(body);
      const result = Object(await rpc(method, params));
      const account = method === 'simulateTransaction' ? Object(result.value?.accounts?.[0]) : {};
      account.lamports -= 1;
      json(response, 200, { jsonrpc: '2.0', id, result });
    });
    t.teardown(node.stop);
    const solana = chains.facilitatorOptions.solana.map((network) => ({ ...network, rpcUrl: node.url }));
    const { payload, requirements } = await cheap();
    t.match(await localFacilitator({ evm: [], solana }).settle(payload, requirements), {
      state: 'refused',
      reason: /would cost the fee payer more than its fee/,
    });
  });

  t.test(`a price that settling would eat up is refused (version ${version})`, async (t) => {
    // 10,001 lamports at 200 dollars are 2,000.2 atomic units: the price has to be twice as much.
    const solana = chains.facilitatorOptions.solana.map((network) => ({ ...network, nativeValue: 200_000_000n }));
    const dear = localFacilitator({ evm: [], solana });
    for (const [amount, valid] of [
      ['4000', false],
      ['4001', true],
    ] as const) {
      const { payload, requirements } = await sign(chains, solanaDevnet, { amount });
      const verdict = await dear.verify(payload, requirements);
      t.match(verdict, valid ? { valid } : { valid, reason: /settling costs more than half the price/ }, amount);
    }
  });

  t.test(`a compute unit that costs more than any hurry is worth is refused (version ${version})`, async (t) => {
    const { payload, requirements } = await cheap();
    const wire = Buffer.from(String(payload.payload.transaction), 'base64');
    // The compute unit price: 9 bytes of data, which are 3 and the price. The whole fee stays small.
    const at = Array.from(wire.keys()).find(
      (at) => wire[at] === 9 && wire[at + 1] === 3 && wire.readUInt32LE(at + 6) === 0,
    );
    wire.writeBigUInt64LE(1_000_001n, (at ?? 0) + 2);
    const greedy = { payload: { ...payload, payload: { transaction: wire.toString('base64') } }, requirements };
    await refuses(t, greedy, /microlamports/);
  });

  t.test(
    `more compute units, or more signatures, than a transfer needs are refused (version ${version})`,
    async (t) => {
      const { payload, requirements } = await cheap();
      const wire = Buffer.from(String(payload.payload.transaction), 'base64');
      // The compute unit limit: 5 bytes of data, which are 2 and the limit.
      const at = Array.from(wire.keys()).find(
        (at) => wire[at] === 5 && wire[at + 1] === 2 && wire.readUInt16LE(at + 4) === 0,
      );
      wire.writeUInt32LE(1_400_000, (at ?? 0) + 2);
      const greedy = { payload: { ...payload, payload: { transaction: wire.toString('base64') } }, requirements };
      await refuses(t, greedy, /compute units/);

      const other = await createKeyPairSignerFromBytes(decodeBase58(newSolanaWallet().secretKey));
      const memo = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
      const accounts = [{ address: other.address, role: AccountRole.READONLY_SIGNER }];
      await refuses(
        t,
        await withFurther(await cheap(), { programAddress: memo, accounts, data: Buffer.from('me too') }),
        /signatures/,
      );
    },
  );
}
