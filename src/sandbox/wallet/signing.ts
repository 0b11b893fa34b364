/**
 * The sandbox's own wallet: signs with the payer's keys, which stay here. JSON-RPC in the words of wallets: EIP-1193's
 * methods for EVM chains, and `solana_accounts` and `solana_signTransaction` for Solana.
 */
import {
  createKeyPairFromBytes,
  getBase58Encoder,
  getTransactionDecoder,
  getTransactionEncoder,
  partiallySignTransaction,
} from '@solana/kit';
import { type Hex, type TypedDataDefinition, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { isJsonObject } from '../../json.ts';
import { decodeBase58 } from '../../on-chain/base58.ts';
import { createRpc } from '../../payment/chains/rpc.ts';
import type { Chains } from '../chains/index.ts';

/** EIP-1193 and EIP-1474. */
const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;
const UNAUTHORIZED = 4100;
const UNKNOWN_CHAIN = 4902;

/** What the wallet refuses, with the code that wallets use. */
class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface WalletRequest {
  readonly method: string;
  readonly params: readonly unknown[];
  /** The chain that the page has chosen, in hex, where the method reads one. */
  readonly chainId: unknown;
}

/** A JSON-RPC answer: `{result}` or `{error: {code, message}}`. */
export type SandboxWallet = (request: unknown) => Promise<object>;

function readRequest(request: unknown): WalletRequest {
  if (!isJsonObject(request) || typeof request.method !== 'string')
    throw new Refusal(-32600, 'send {"method": "eth_accounts", "params": []}');
  const { method, params = [], chainId } = request;
  if (!Array.isArray(params)) throw new Refusal(INVALID_PARAMS, 'params must be a list');
  return { method, params, chainId };
}

function typedDataOf(text: unknown): TypedDataDefinition {
  try {
    const data: unknown = JSON.parse(String(text));
    if (isJsonObject(data) && isJsonObject(data.domain) && isJsonObject(data.types))
      return data as unknown as TypedDataDefinition;
  } catch {
    // Said below.
  }
  throw new Refusal(INVALID_PARAMS, 'params must be the address, and the typed data of EIP-712 as JSON');
}

export function openSandboxWallet({ wallets, evm, solana }: Pick<Chains, 'wallets' | 'evm' | 'solana'>): SandboxWallet {
  const account = privateKeyToAccount(wallets.evm.payer.privateKey);
  const chains = new Map(Object.values(evm).map(({ chainId, rpcUrl }) => [toHex(chainId), createRpc(rpcUrl)]));
  const accounts = () => [account.address];

  function chainOf(chainId: unknown) {
    const rpc = chains.get(String(chainId).toLowerCase() as Hex);
    if (rpc) return rpc;
    throw new Refusal(UNKNOWN_CHAIN, `the sandbox has no chain ${chainId}: it has ${[...chains.keys()].join(', ')}`);
  }

  async function signTypedData([address, text]: readonly unknown[]): Promise<Hex> {
    if (String(address).toLowerCase() !== account.address.toLowerCase())
      throw new Refusal(UNAUTHORIZED, `this wallet has ${account.address} alone`);
    const data = typedDataOf(text);
    chainOf(toHex(Number(data.domain?.chainId ?? 0)));
    return account.signTypedData(data);
  }

  /** Base64 in, base64 out. */
  async function signTransaction([text]: readonly unknown[]): Promise<string> {
    const keys = await createKeyPairFromBytes(getBase58Encoder().encode(wallets.solana.payer.secretKey));
    const transaction = getTransactionDecoder().decode(Buffer.from(String(text), 'base64'));
    const signed = await partiallySignTransaction([keys], transaction);
    return Buffer.from(getTransactionEncoder().encode(signed)).toString('base64');
  }

  function solanaAccounts(): object[] {
    if (!solana) return [];
    const { address } = wallets.solana.payer;
    return [{ address, publicKey: Buffer.from(decodeBase58(address)).toString('base64') }];
  }

  const methods: Readonly<Record<string, (request: WalletRequest) => unknown>> = {
    eth_accounts: accounts,
    eth_requestAccounts: accounts,
    wallet_switchEthereumChain: ({ params: [wanted] }) => {
      chainOf(isJsonObject(wanted) ? wanted.chainId : undefined);
      return null;
    },
    eth_call: ({ params: [call], chainId }) => chainOf(chainId)('eth_call', [call, 'latest']),
    eth_signTypedData_v4: ({ params }) => signTypedData(params),
    solana_accounts: solanaAccounts,
    solana_signTransaction: ({ params }) => signTransaction(params),
  };

  return async (body) => {
    try {
      const request = readRequest(body);
      const method = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
      if (!method) throw new Refusal(METHOD_NOT_FOUND, `this wallet answers ${Object.keys(methods).join(', ')}`);
      return { result: await method(request) };
    } catch (error) {
      if (error instanceof Refusal) return { error: { code: error.code, message: error.message } };
      return {
        error: { code: INVALID_PARAMS, message: 'the wallet cannot sign this: it is not what a wallet is given' },
      };
    }
  };
}
