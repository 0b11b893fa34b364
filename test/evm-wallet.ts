/** What a payer on an EVM network can do besides paying: sign authorizations of its own, and send them itself. */
import { randomBytes } from 'node:crypto';
import { type Address, createPublicClient, createWalletClient, defineChain, type Hex, http, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { type PaidCall, signProof } from './clients.ts';
import type { Gateway } from './gateway.ts';
import { TRANSFER_TYPES } from './transfer-types.ts';

export const tokenAbi = parseAbi([
  'function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)',
  'function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,bytes signature)',
]);

/** An EIP-3009 authorization as it is in an x402 payload. */
export interface SignedTransfer {
  readonly authorization: {
    readonly from: string;
    readonly to: string;
    readonly value: string;
    readonly validAfter: string;
    readonly validBefore: string;
    readonly nonce: string;
  };
  readonly signature: Hex;
}

interface TransferOrder {
  /** Atomic units. */
  readonly value: bigint;
  /** Default: the gateway. */
  readonly to?: string;
  /** 32 bytes in hex. Default: a random one. */
  readonly nonce?: Hex;
  /** Seconds since the epoch. Default: in the far future. */
  readonly validBefore?: number;
}

/** A proof of version 2 for the call that is good however long a machine or a database stands still. */
export async function signLasting(gateway: Gateway, network: string, call: PaidCall): Promise<Record<string, string>> {
  const [[name, value] = ['', '']] = Object.entries(await signProof(gateway, network, call));
  const { sign } = await openEvmWallet(gateway, network);
  const payment = JSON.parse(Buffer.from(value, 'base64').toString());
  payment.payload = await sign({ value: BigInt(payment.accepted.amount) });
  return { [name]: Buffer.from(JSON.stringify(payment)).toString('base64') };
}

/** The sandbox's payer on one network. */
export async function openEvmWallet(gateway: Gateway, network: string) {
  const access = gateway.state.evm[network];
  if (!access) throw new Error(`the sandbox has no wallet on ${network}`);
  const { rpcUrl, chainId } = access;
  const asset = access.asset as Address;
  const account = privateKeyToAccount(access.privateKey);
  const nativeCurrency = { name: 'gas', symbol: 'GAS', decimals: 18 };
  const chain = defineChain({ id: chainId, name: network, nativeCurrency, rpcUrls: { default: { http: [rpcUrl] } } });
  const reader = createPublicClient({ chain, transport: http(rpcUrl), pollingInterval: 20 });
  const wallet = createWalletClient({ account, chain, transport: http(rpcUrl) });
  await reader.request({
    method: 'anvil_setBalance' as never,
    params: [account.address, '0xde0b6b3a7640000'] as never,
  });

  async function sign({ value, to, nonce, validBefore }: TransferOrder): Promise<SignedTransfer> {
    const message = {
      from: account.address,
      to: (to ?? gateway.state.payTo[network]) as Address,
      value,
      validAfter: 0n,
      validBefore: BigInt(validBefore ?? 4_000_000_000),
      nonce: nonce ?? (`0x${randomBytes(32).toString('hex')}` as Hex),
    };
    const signature = await account.signTypedData({
      domain: { name: 'USDC', version: '2', chainId, verifyingContract: asset },
      types: TRANSFER_TYPES,
      primaryType: 'TransferWithAuthorization',
      message,
    });
    const { from, nonce: used } = message;
    return {
      authorization: {
        from,
        to: message.to,
        value: `${value}`,
        validAfter: '0',
        validBefore: `${message.validBefore}`,
        nonce: used,
      },
      signature,
    };
  }

  /** Hands an authorization to the token, as anybody can who has seen it, and waits until it is included: the transaction. */
  async function send({ authorization: { from, to, value, ...rest }, signature }: SignedTransfer): Promise<Hex> {
    const hash = await wallet.writeContract({
      address: asset,
      abi: tokenAbi,
      functionName: 'transferWithAuthorization',
      args: [
        from as Address,
        to as Address,
        BigInt(value),
        BigInt(rest.validAfter),
        BigInt(rest.validBefore),
        rest.nonce as Hex,
        signature,
      ],
    });
    const { status } = await reader.waitForTransactionReceipt({ hash });
    if (status !== 'success') throw new Error('the token refused the authorization');
    return hash;
  }

  return {
    caip2: access.caip2,
    reader,
    sign,
    send,
    /** The same gateway, paid by somebody else who has this much of the asset, in atomic units. */
    async another(value: bigint): Promise<Gateway> {
      const privateKey = generatePrivateKey();
      await send(await sign({ value, to: privateKeyToAddress(privateKey) }));
      const evm = { ...gateway.state.evm, [network]: { ...access, privateKey } };
      return { ...gateway, state: { ...gateway.state, evm } };
    },
  };
}
