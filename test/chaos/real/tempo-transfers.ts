/** What an address got on Tempo, read from the logs of transfers with a memo. */
import { type Address, createPublicClient, http, parseAbiItem } from 'viem';
import type { TempoAccess } from '../../../src/sandbox/chains/index.ts';
import type { Transfer } from '../ledger.ts';
import { tempoName } from '../names.ts';

const TRANSFER_WITH_MEMO = parseAbiItem(
  'event TransferWithMemo(address indexed from, address indexed to, uint256 amount, bytes32 indexed memo)',
);

export async function readTempoTransfers(access: TempoAccess, payTo: string): Promise<Transfer[]> {
  const { rpcUrl, chainId, currency } = access;
  const transfers = await createPublicClient({ transport: http(rpcUrl) }).getLogs({
    address: currency as Address,
    event: TRANSFER_WITH_MEMO,
    args: { to: payTo as Address },
    fromBlock: 0n,
    strict: true,
  });
  return transfers.map(({ transactionHash, args: { memo, amount } }) => ({
    payment: tempoName(`eip155:${chainId}`, memo),
    transaction: transactionHash,
    moved: amount,
  }));
}
