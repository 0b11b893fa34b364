/** Contract wallets that may not exist yet (ERC-6492), of a factory on a local chain. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import type { ClientEvmSigner } from '@x402/evm';
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import {
  type Address,
  concat,
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  maxUint256,
  serializeErc6492Signature,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { PERMIT2 } from '../src/payment/authorizations/permit2.ts';
import { createRpc } from '../src/payment/chains/rpc.ts';
import { actAs } from '../src/sandbox/chains/contract.ts';
import type { PaidCall } from './clients.ts';
import { contractOf } from './contract.ts';

const source = readFileSync(new URL('WalletFactory.sol', import.meta.url), 'utf8');
const { abi, deployedBytecode } = contractOf('WalletFactory', source);

/** What a wallet does besides; its order is that of the contract. */
const TEMPERS = ['plain', 'fickle', 'generous', 'dear'] as const;
type Temper = (typeof TEMPERS)[number];

interface Access {
  readonly rpcUrl: string;
  /** The token's address. */
  readonly asset: string;
  /** Has the token. */
  readonly bank: string;
}

export const placeFactory = ({ rpcUrl }: Pick<Access, 'rpcUrl'>, address: string): Promise<unknown> =>
  createRpc(rpcUrl)('anvil_setCode', [address, deployedBytecode]);

type SignTypedData = ClientEvmSigner['signTypedData'];

export interface SmartWallet {
  readonly address: Address;
  /** What its factory is called with. */
  readonly calldata: Hex;
  exists(): Promise<boolean>;
  balance(): Promise<bigint>;
  /** What the wallet takes for signed. */
  readonly sign: SignTypedData;
  /** The same, with what deploys it. */
  readonly wrap: SignTypedData;
  /** Has the factory deploy it, at somebody else's cost. */
  deploy(): Promise<void>;
  /** Gives it so many atomic units. */
  fill(value: bigint): Promise<void>;
  /** Moves what it has away, as its owner could. */
  empty(): Promise<void>;
}

/** Moves so many atomic units, as who holds them could. */
export const moveTokens = (
  { rpcUrl, asset }: Omit<Access, 'bank'>,
  from: string,
  to: string,
  units: bigint,
): Promise<void> =>
  actAs(createRpc(rpcUrl), from, [
    { to: asset, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Address, units] }) },
  ]);

/** Lets Permit2 move what the address has, as its owner could. */
export async function approvePermit2({ rpcUrl, asset }: Omit<Access, 'bank'>, from: string): Promise<void> {
  const rpc = createRpc(rpcUrl);
  await rpc('anvil_setBalance', [from, '0xde0b6b3a7640000']);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [PERMIT2, maxUint256] });
  await actAs(rpc, from, [{ to: asset, data }]);
}

/** A wallet with so many atomic units that is not deployed. */
export async function newSmartWallet(
  { rpcUrl, asset, bank }: Access,
  factory: string,
  { temper = 'plain', value = 1_000_000n }: { temper?: Temper; value?: bigint } = {},
): Promise<SmartWallet> {
  const reader = createPublicClient({ transport: http(rpcUrl) });
  const rpc = createRpc(rpcUrl);
  const owner = privateKeyToAccount(generatePrivateKey());
  const salt: Hex = `0x${randomBytes(32).toString('hex')}`;
  const args = [owner.address, TEMPERS.indexOf(temper), asset, salt];
  const address = (await reader.readContract({
    address: factory as Address,
    abi,
    functionName: 'addressOf',
    args,
  })) as Address;
  const calldata = encodeFunctionData({ abi, functionName: 'create', args });
  const pay = (from: string, to: string, units: bigint) => moveTokens({ rpcUrl, asset }, from, to, units);
  const balance = () =>
    reader.readContract({ address: asset as Address, abi: erc20Abi, functionName: 'balanceOf', args: [address] });
  const sign: SignTypedData = async (message) =>
    concat(['0x00', await owner.signTypedData(message as Parameters<typeof owner.signTypedData>[0])]);
  const fill = (units: bigint) => pay(bank, address, units);
  if (value > 0n) await fill(value);
  return {
    address,
    calldata,
    exists: async () => ((await reader.getCode({ address })) ?? '0x') !== '0x',
    balance,
    sign,
    wrap: async (message) =>
      serializeErc6492Signature({ address: factory as Address, data: calldata, signature: await sign(message) }),
    deploy: () => actAs(rpc, bank, [{ to: factory, data: calldata }]),
    fill,
    async empty() {
      await rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
      await pay(address, bank, await balance());
    },
  };
}

const openSchemes = {
  exact: (signer: ClientEvmSigner) => new ExactEvmScheme(signer),
  upto: (signer: ClientEvmSigner) => new UptoEvmScheme(signer),
  'auth-capture': (signer: ClientEvmSigner) => new AuthCaptureEvmScheme(signer),
  // Vouchers are signed by a key: one that a contract wallet names for its channel.
  'batch-settlement': (signer: ClientEvmSigner) =>
    new BatchSettlementEvmScheme(signer, { voucherSigner: privateKeyToAccount(generatePrivateKey()) }),
} as const;

/** A version 2 proof by the published client; `signTypedData` is one of the wallet's. */
export async function signProofBy(
  { address }: Pick<SmartWallet, 'address'>,
  signTypedData: SignTypedData,
  { url, init }: PaidCall,
  wanted: keyof typeof openSchemes = 'exact',
  chain = 'eip155:',
): Promise<Record<string, string>> {
  const client = new x402Client((_version, accepts) => {
    const [chosen] = accepts.filter(({ scheme, network }) => scheme === wanted && network.startsWith(chain));
    if (!chosen) throw new Error(`${wanted} is not offered`);
    return chosen;
  });
  const scheme = openSchemes[wanted]({ address, signTypedData });
  const signer = new x402HTTPClient(client.setSpendControls(false).register('eip155:*', scheme));
  const unpaid = await fetch(url, init);
  const challenge = signer.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
  return signer.encodePaymentSignatureHeader(await signer.createPaymentPayload(challenge));
}
