import { setTimeout as delay } from 'node:timers/promises';
import { Mppx, tempo } from 'mppx/client';
import type { Test } from 'tap';
import { type Address, createClient, http } from 'viem';
import { generatePrivateKey, type LocalAccount, mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';
import { Actions } from 'viem/tempo';
import { tempo as tempoMainnet } from 'viem/tempo/chains';
import { startAnvil } from '../../../src/sandbox/chains/anvil.ts';

export const chainId = 42431;
export const currency = '0x20c0000000000000000000000000000000000000';

const MNEMONIC = 'test test test test test test test test test test test junk';
const ARGUMENTS = ['--network', 'tempo', '--hardfork', 'T4', '--block-time', '1'];

/** A local Tempo chain with a rich account and mppx's own client. */
export async function startTempo(t: Test) {
  const { rpcUrl, rpc, stop } = await startAnvil(chainId, ARGUMENTS);
  t.teardown(stop);
  // The genesis block's time is 1: transactions are valid from the first real block on.
  for (;;) {
    if (Number(await rpc('eth_blockNumber', [])) > 0) break;
    await delay(50);
  }
  const client = createClient({ chain: { ...tempoMainnet, id: chainId }, transport: http(rpcUrl) });
  const balance = async (account: string): Promise<bigint> =>
    (await Actions.token.getBalance(client, { account: account as Address, token: currency })).amount;
  return {
    rpcUrl,
    rpc,
    client,
    balance,
    /** Has more of every token than anyone could spend. */
    rich: mnemonicToAccount(MNEMONIC, { addressIndex: 1 }),
    /** A new account with this much of the currency and nothing else. */
    async funded(amount: bigint): Promise<LocalAccount> {
      const account = privateKeyToAccount(generatePrivateKey());
      const from = mnemonicToAccount(MNEMONIC, { addressIndex: 2 });
      await Actions.token.transferSync(client, { account: from, amount, to: account.address, token: currency });
      return account;
    },
    /** mppx's client, unmodified. */
    wallet: (account: LocalAccount, mode: 'pull' | 'push' = 'pull') =>
      Mppx.create({ polyfill: false, methods: [tempo({ account, mode, getClient: () => client })] }),
  };
}
