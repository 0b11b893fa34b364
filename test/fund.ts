import { createWalletClient, erc20Abi, type Hex, http, parseEther, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Gateway } from './gateway.ts';

/** Gives an address some of a network's asset, from the sandbox's payer. */
export async function fund({ state }: Pick<Gateway, 'state'>, network: string, to: Hex, amount: bigint): Promise<void> {
  const found = state.evm[network];
  if (!found) throw new Error(`no ${network} in this sandbox`);
  const { chainId: id, rpcUrl, privateKey, asset } = found;
  const nativeCurrency = { name: 'Coin', symbol: 'COIN', decimals: 18 };
  const chain = { id, name: network, nativeCurrency, rpcUrls: { default: { http: [rpcUrl] } } };
  const client = createWalletClient({ chain, account: privateKeyToAccount(privateKey), transport: http() }).extend(
    publicActions,
  );
  const { abi, functionName } = { abi: erc20Abi, functionName: 'transfer' } as const;
  const hash = await client.writeContract({
    address: asset as Hex,
    abi,
    functionName,
    args: [to, amount],
    gas: parseEther('0.0000000000001'),
  });
  await client.waitForTransactionReceipt({ hash });
}
