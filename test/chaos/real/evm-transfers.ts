/** What an address got on an EVM chain, read from its logs and from the calls that made them. */
import { x402UptoPermit2ProxyABI, x402UptoPermit2ProxyAddress } from '@x402/evm';
import { type Address, createPublicClient, decodeFunctionData, http, isAddressEqual, parseAbiItem } from 'viem';
import type { EvmAccess } from '../../../src/sandbox/chains/index.ts';
import type { Transfer } from '../ledger.ts';
import { eip3009Name, permit2Name } from '../names.ts';

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');
const USED = parseAbiItem('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)');

export async function readEvmTransfers({ rpcUrl, caip2, asset }: EvmAccess, payTo: string): Promise<Transfer[]> {
  const reader = createPublicClient({ transport: http(rpcUrl) });
  const token = asset.address as Address;
  const all = { address: token, fromBlock: 0n, strict: true } as const;
  const transfers = await reader.getLogs({ ...all, event: TRANSFER, args: { to: payTo as Address } });
  const uses = await reader.getLogs({ ...all, event: USED });
  // The token logs the use of an authorization right before its transfer.
  const nonces = new Map(
    uses.map(({ transactionHash, logIndex, args }) => [`${transactionHash} ${logIndex + 1}`, args]),
  );

  async function nameOf({ transactionHash, logIndex, args: { from } }: (typeof transfers)[number]): Promise<string> {
    const used = nonces.get(`${transactionHash} ${logIndex}`);
    if (used && isAddressEqual(used.authorizer, from)) return eip3009Name(caip2, token, from, used.nonce);
    const { to, input } = await reader.getTransaction({ hash: transactionHash });
    if (!to || !isAddressEqual(to, x402UptoPermit2ProxyAddress)) return `a transfer of ${from} by itself`;
    const { functionName, args } = decodeFunctionData({ abi: x402UptoPermit2ProxyABI, data: input });
    if (functionName !== 'settle') return `a transfer of ${from} by ${functionName}`;
    const [permit, , owner] = args;
    return permit2Name(caip2, owner, permit.nonce.toString());
  }

  return Promise.all(
    transfers.map(async (log) => ({
      payment: await nameOf(log),
      transaction: log.transactionHash,
      moved: log.args.value,
    })),
  );
}
