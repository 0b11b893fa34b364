import { Mppx, tempo } from 'mppx/client';
import type { Test } from 'tap';
import { type Address, createClient, http } from 'viem';
import { generatePrivateKey, type LocalAccount, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { Actions } from 'viem/tempo';
import { tempo as tempoMainnet } from 'viem/tempo/chains';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { startTempoChain } from '../../../src/sandbox/chains/tempo.ts';

/** pathUSD, in which fees are paid. */
export const feeToken = '0x20c0000000000000000000000000000000000000';

/** A local Tempo chain with payers and mppx's own client. */
export async function startTempo(t: Test) {
  const sponsorKey = generatePrivateKey();
  const [rich, treasury] = [privateKeyToAccount(generatePrivateKey()), privateKeyToAccount(generatePrivateKey())];
  const chain = await startTempoChain([rich.address, treasury.address, privateKeyToAddress(sponsorKey)]);
  t.teardown(chain.stop);
  const client = createClient({
    chain: { ...tempoMainnet, id: chain.chainId },
    transport: http(chain.rpcUrl),
    pollingInterval: 100,
  });
  return {
    ...chain,
    rpc: createRpc(chain.rpcUrl),
    rich,
    sponsorKey,
    /** Atomic units of a token; of the currency unless said otherwise. */
    balance: async (account: string, token: string = chain.currency): Promise<bigint> =>
      (await Actions.token.getBalance(client, { account: account as Address, token: token as Address })).amount,
    /** A new account with this much of one token and nothing else. */
    async funded(amount: bigint, token: Address): Promise<LocalAccount> {
      const account = privateKeyToAccount(generatePrivateKey());
      await Actions.token.transferSync(client, {
        account: treasury,
        amount,
        to: account.address,
        token,
        feeToken,
      });
      return account;
    },
    /** mppx's client, unmodified. */
    wallet: (account: LocalAccount, mode: 'pull' | 'push' = 'pull') =>
      Mppx.create({ polyfill: false, methods: [tempo({ account, mode, getClient: () => client })] }),
  };
}
