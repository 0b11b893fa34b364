import { isJsonObject } from '../../json.ts';
import { startAnvil } from './anvil.ts';
import { readSharedContracts, type SharedContracts } from './permit2.ts';

/** A local Tempo chain: its transactions, and stablecoins in its TIP-20 standard, with 6 decimals. */
export interface TempoChain {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Address of the TIP-20 token that is charged. */
  readonly currency: string;
  /** Contracts that every chain has, for those that start without. */
  readonly shared: SharedContracts;
  /** Atomic units of the currency. */
  balance(address: string): Promise<bigint>;
  stop(): Promise<void>;
}

const CHAIN_ID = 42_431;
/** AlphaUSD is charged; fees are paid in pathUSD unless a transaction says otherwise. Both are in the genesis block. */
const CURRENCY = '0x20c0000000000000000000000000000000000001';
const FEE_CURRENCY = '0x20c0000000000000000000000000000000000000';
const AMOUNT = 1_000_000n * 10n ** 6n;
const BALANCE_OF = '0x70a08231';
const TRANSFER = '0xa9059cbb';
const GAS = '0xf4240';

/** Transactions that a payer signs for the server to send are mined only with a block time. */
const ARGUMENTS = ['--network', 'tempo', '--hardfork', 'T4', '--block-time', '1', '--accounts', '1'];

const word = (hex: string): string => hex.replace(/^0x/, '').padStart(64, '0');

/** Starts the chain and gives each address 1,000,000 of the currency and as much to pay fees with. */
export async function startTempoChain(funded: readonly string[]): Promise<TempoChain> {
  const { rpcUrl, rpc, stop } = await startAnvil(CHAIN_ID, ARGUMENTS);
  let shared: SharedContracts;
  try {
    shared = await readSharedContracts(rpc);
    const accounts = await rpc('eth_accounts', []);
    const treasury = Array.isArray(accounts) ? String(accounts[0]) : '';
    const hashes: unknown[] = [];
    for (const address of funded) {
      for (const to of [CURRENCY, FEE_CURRENCY]) {
        const data = `${TRANSFER}${word(address)}${word(AMOUNT.toString(16))}`;
        hashes.push(await rpc('eth_sendTransaction', [{ from: treasury, to, data, gas: GAS }]));
      }
    }
    await rpc('evm_mine', []);
    for (const hash of hashes) {
      const receipt = await rpc('eth_getTransactionReceipt', [hash]);
      if (!isJsonObject(receipt) || receipt.status !== '0x1')
        throw new Error('funding a wallet on the Tempo chain failed');
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const balance = async (address: string) =>
    BigInt(String(await rpc('eth_call', [{ to: CURRENCY, data: `${BALANCE_OF}${word(address)}` }, 'latest'])));
  return { rpcUrl, chainId: CHAIN_ID, currency: CURRENCY, shared, balance, stop };
}
