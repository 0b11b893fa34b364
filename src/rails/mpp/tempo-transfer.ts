/**
 * Signs a TIP-20 transfer of our own. In a file of its own because its imports take a second: they are loaded with the
 * first one.
 */
import { createClient, custom } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { prepareTransactionRequest, signTransaction } from 'viem/actions';
import { Actions } from 'viem/tempo';
import { tempo } from 'viem/tempo/chains';
import type { Rpc } from '../../payment/chains/rpc.ts';

type Hex = `0x${string}`;

interface Transfer {
  readonly chainId: number;
  /** Into no log or error. */
  readonly privateKey: string;
  readonly currency: string;
  readonly to: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** 32 bytes in hex, of this transfer alone: they are what makes two that are otherwise the same differ. */
  readonly memo: string;
  /** Seconds since the epoch, at most half a minute ahead: the chain takes it no later. */
  readonly validBefore: number;
}

export const addressOf = (privateKey: string): string => privateKeyToAccount(privateKey as Hex).address;

/** The signed transaction, in hex. Rejects with what the chain says of it. */
export async function signTransfer(rpc: Rpc, transfer: Transfer): Promise<string> {
  const { chainId, privateKey, currency, to, amount, memo, validBefore } = transfer;
  const [prepare, phases] = tempo.prepareTransactionRequest;
  const client = createClient({
    // An expiring transaction may have any nonce, and before TIP-1106 it had none but 0.
    chain: {
      ...tempo,
      id: chainId,
      prepareTransactionRequest: [(request, options) => prepare({ ...request, nonce: 0 }, options), phases],
    },
    transport: custom(
      { request: ({ method, params }: { method: string; params?: unknown[] }) => rpc(method, params ?? []) },
      { retryCount: 0 },
    ),
  });
  const call = Actions.token.transfer.call(client, {
    amount,
    memo: memo as Hex,
    to: to as Hex,
    token: currency as Hex,
  });
  const prepared = await prepareTransactionRequest(client, {
    account: privateKeyToAccount(privateKey as Hex),
    calls: [call],
    nonceKey: 'expiring',
    validBefore,
  } as unknown as Parameters<typeof prepareTransactionRequest>[1]);
  return await signTransaction(client, prepared as unknown as Parameters<typeof signTransaction>[1]);
}
