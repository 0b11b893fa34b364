import { once } from 'node:events';
import t from 'tap';
import { generatePrivateKey } from 'viem/accounts';
import { gasAccounts } from '../../../src/payment/facilitators/gas-accounts.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { rpcNode } from './rpc-node.ts';

t.test('a node that says nothing for long hides no other network’s account', async (t) => {
  const privateKey = generatePrivateKey();
  const [one, other] = [rpcNode(t, 1), rpcNode(t, 2)];
  const evm = [one, other].map(({ url: rpcUrl }, place) => ({
    ...{ caip2: `eip155:${place + 1}`, chainId: place + 1, rpcUrl, privateKey, nativeValue: 0n },
  }));
  const facilitator = localFacilitator({ evm, solana: [] });
  t.teardown(() => facilitator.close?.());
  const named = [{ name: 'own signer', facilitator }];
  t.same([...(await gasAccounts(named)).keys()], ['eip155:1', 'eip155:2']);
  const over = new AbortController();
  t.teardown(() => over.abort());
  other.answers.eth_getBalance = () => once(over.signal, 'abort').then(() => '0x0');
  t.same([...(await gasAccounts(named)).keys()], ['eip155:1']);
});
