/** Calls that are drawn from a deposit, by the published client. */
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { toClientEvmSigner } from '@x402/evm';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { type Address, createPublicClient, createWalletClient, custom, type Hex, http, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia as chain } from 'viem/chains';
import type { ChannelConfig } from '../src/on-chain/channel-config.ts';
import { BATCH_SETTLEMENT } from '../src/on-chain/escrow-contracts.ts';
import type { PaidCall } from './clients.ts';
import type { Gateway } from './gateway.ts';

/** The one network of the sandbox that has channels, as in reality. */
export const CHANNELS_ON = 'eip155:84532';

const abi = parseAbi([
  'function channels(bytes32) view returns (uint128 balance, uint128 totalClaimed)',
  'function receivers(address, address) view returns (uint128 totalClaimed, uint128 totalSettled)',
]);

interface ChannelOptions {
  /** Default: the sandbox's payer. */
  readonly privateKey?: Hex;
  /** Signs the vouchers. Default: the payer's own. */
  readonly voucherKey?: Hex;
  /** 32 bytes in hex: another channel of the same payer. */
  readonly salt?: Hex;
  /** Atomic units of each deposit. Default: what the gateway asks for. */
  readonly deposit?: bigint;
  /** False: it cannot ask the chain. */
  readonly hasNode?: boolean;
}

/** A payer with a channel of its own, and what it has seen. */
export function openChannel(gateway: Gateway, options: ChannelOptions = {}) {
  const access = gateway.state.evm['chain-c'];
  if (!access) throw new Error('the sandbox has no chain-c');
  const account = privateKeyToAccount(options.privateKey ?? access.privateKey);
  const reader = createPublicClient({ transport: http(access.rpcUrl) });
  const signer = toClientEvmSigner(
    account,
    options.hasNode === false ? undefined : (reader as Parameters<typeof toClientEvmSigner>[1]),
  );
  const scheme = new BatchSettlementEvmScheme(signer, {
    ...(options.salt && { salt: options.salt }),
    ...(options.voucherKey && { voucherSigner: toClientEvmSigner(privateKeyToAccount(options.voucherKey)) }),
    ...(options.deposit && { depositStrategy: () => options.deposit }),
  });
  const client = new x402Client().setSpendControls(false).register('eip155:*', scheme);
  const httpClient = new x402HTTPClient(client);
  const paying = wrapFetchWithPayment(fetch, httpClient);
  return {
    scheme,
    account,
    reader,
    client: httpClient,
    /** For whoever brings requests of its own. */
    fetch: paying,
    /** Pays and asks. */
    buy: ({ url, init }: PaidCall): Promise<Response> => paying(url, init),
    /** Signs for a call and does not send it. */
    async sign({ url, init }: PaidCall): Promise<Record<string, string>> {
      const unpaid = await fetch(url, init);
      const challenge = httpClient.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
      return httpClient.encodePaymentSignatureHeader(await httpClient.createPaymentPayload(challenge));
    },
    /** What the chain says of it: atomic units. */
    async onChain(id: string) {
      const [balance, totalClaimed] = await reader.readContract({
        abi,
        address: BATCH_SETTLEMENT as Address,
        functionName: 'channels',
        args: [id as Hex],
      });
      return { balance, totalClaimed };
    },
  };
}

const withdrawing = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'function initiateWithdraw(ChannelConfig config, uint128 amount)',
  'function finalizeWithdraw(ChannelConfig config)',
]);
type Struct = Record<Exclude<keyof ChannelConfig, 'withdrawDelay'>, Hex> & { readonly withdrawDelay: number };
export type Payer = ReturnType<typeof openChannel>;

export const nodeOf = ({ reader }: Payer, method: string, params: unknown[]) =>
  reader.request({ method, params } as never);
export async function isIncluded({ reader }: Payer, hash: Hex): Promise<boolean> {
  return (await reader.waitForTransactionReceipt({ hash, pollingInterval: 20 })).status === 'success';
}

async function call(payer: Payer, functionName: 'initiateWithdraw' | 'finalizeWithdraw', args: readonly unknown[]) {
  const wallet = createWalletClient({ account: payer.account, chain, transport: custom(payer.reader) });
  await nodeOf(payer, 'anvil_setBalance', [payer.account.address, '0xde0b6b3a7640000']);
  const asking = { abi: withdrawing, address: BATCH_SETTLEMENT as Address, functionName, args } as never;
  if (!(await isIncluded(payer, await wallet.writeContract(asking)))) throw new Error(`${functionName} was reverted`);
}

/** The payer asks the contract for so much of the deposit of a channel. */
export const askForDeposit = (payer: Payer, config: ChannelConfig, amount: bigint): Promise<void> =>
  call(payer, 'initiateWithdraw', [config as Struct, amount]);

/** It has it, a day later. */
export async function takeDeposit(payer: Payer, config: ChannelConfig): Promise<void> {
  await nodeOf(payer, 'evm_increaseTime', [config.withdrawDelay]);
  await nodeOf(payer, 'evm_mine', []);
  await call(payer, 'finalizeWithdraw', [config as Struct]);
}

interface Told {
  readonly success: boolean;
  readonly transaction: string;
  readonly amount: string;
  readonly extra: {
    readonly chargedAmount: string;
    readonly channelState: {
      readonly channelId: string;
      readonly balance: string;
      readonly chargedCumulativeAmount: string;
    };
  };
}

/** What an answer says of the channel. */
export function toldOf(answer: Response): Told {
  return JSON.parse(Buffer.from(answer.headers.get('payment-response') ?? '', 'base64').toString());
}
