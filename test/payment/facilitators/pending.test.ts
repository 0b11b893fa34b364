/** One authorization is one settlement, whatever its signature looks like. */
import { randomBytes } from 'node:crypto';
import { mock } from 'node:test';
import t from 'tap';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { newEvmWallet } from '../../../src/sandbox/chains/wallets.ts';
import { baseSepolia } from './networks.ts';
import { signV2 } from './payments.ts';

const chains = await startChains({ networks: [baseSepolia] });
t.teardown(chains.stop);
const [evm] = chains.facilitatorOptions.evm;
if (!evm) throw new Error('no EVM network was started');
const rpc = createRpc(evm.rpcUrl);

/** Takes every signature (ERC-1271): answers with the selector. */
const TAKES_ANYTHING: Hex = '0x631626ba7e60e01b60005260206000f3';

t.test('a wallet that takes the same signature for two authorizations is answered for both', async (t) => {
  const wallet = newEvmWallet().address;
  await rpc('anvil_setCode', [wallet, TAKES_ANYTHING]);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [wallet as Hex, 1_000_000n] });
  await actAs(rpc, chains.wallets.evm.payer.address, [{ to: baseSepolia.sandbox.asset.address, data }]);
  const { payload, requirements } = await signV2(chains, baseSepolia, { amount: '10' });
  const { authorization } = payload.payload as { authorization: object };
  const withNonce = (nonce: string) => ({
    ...payload,
    payload: { signature: `0x${'00'.repeat(70)}`, authorization: { ...authorization, from: wallet, nonce } },
  });
  const [first, second] = [1, 2].map(() => withNonce(`0x${randomBytes(32).toString('hex')}`));
  if (!first || !second) throw new Error('nothing was signed');

  const facilitator = localFacilitator({ evm: [evm], solana: [], confirmationTimeoutMs: 50 });
  await rpc('evm_setIntervalMining', [0]);
  await rpc('evm_setAutomine', [false]);
  t.match(await facilitator.settle(first, requirements), { state: 'unknown', reason: /not confirmed/ });
  await rpc('evm_mine', []);
  await rpc('evm_setAutomine', [true]);

  /** Asks again while the block is not there in time. */
  const settled = async (payload: object) => {
    for (;;) {
      const answer = await facilitator.settle(payload, requirements);
      if (answer.state !== 'unknown') return answer;
    }
  };
  const answers = [await settled(second), await settled(first)];
  t.match(answers, [{ state: 'settled' }, { state: 'settled' }]);
  const transactions = answers.map((answer) => (answer.state === 'settled' ? answer.transaction : ''));
  t.equal(new Set(transactions).size, 2, 'each by a transaction of its own');
  t.equal(await chains.balance(baseSepolia.id, wallet), 1_000_000n - 20n);
});

t.test(
  'what no block takes is waited for no longer where the clock of the machine is set back meanwhile',
  async (t) => {
    const { payload, requirements } = await signV2(chains, baseSepolia, { amount: '10' });
    const facilitator = localFacilitator({ evm: [evm], solana: [], confirmationTimeoutMs: 1_000 });
    await rpc('evm_setAutomine', [false]);
    const settled = facilitator.settle(payload, requirements);
    const isSent = async () => Number(((await rpc('txpool_status', [])) as { pending: string }).pending) > 0;
    while (!(await isSent()));
    const { now } = Date;
    const clock = mock.method(Date, 'now', () => now() - 7_200_000);
    t.teardown(() => clock.mock.restore());
    t.match(await settled, { state: 'unknown', reason: /not confirmed/ });
  },
);
