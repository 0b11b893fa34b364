/** What a chain says of a payer. Sources: Ethereum JSON-RPC, ERC-20; Solana JSON-RPC. */
import { isJsonObject } from '../../json.ts';
import { createRpc } from '../chains/rpc.ts';

/** What a payer holds and what it is. */
export interface Payer {
  /** True for wallets that are contracts, delegated accounts (EIP-7702) included: the token asks their code. */
  readonly isContract: boolean;
  /** Atomic units that it holds now. Throws where the chain cannot be asked. */
  balance(): Promise<bigint>;
}

/** `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231';
const word = (hex: string): string => hex.replace(/^0x/, '').toLowerCase().padStart(64, '0');

const KEPT_MS = 60_000;
const MOST_KEPT = 10_000;

/** Who pays on an EVM chain. One for each network: it remembers for a minute which addresses have no code. */
export function createEvmPayers(rpcUrl: string, asset: string, now: () => number) {
  const rpc = createRpc(rpcUrl);
  const plain = new Map<string, number>();

  /** A chain that cannot be asked leaves the payer unproven, which is as bad as a contract. */
  async function isContract(address: string): Promise<boolean> {
    const seen = plain.get(address);
    if (seen !== undefined && now() - seen < KEPT_MS) return false;
    const code = await rpc('eth_getCode', [address, 'latest']).catch(() => undefined);
    if (code !== '0x') return true;
    if (plain.size >= MOST_KEPT) plain.clear();
    plain.set(address, now());
    return false;
  }

  return async (address: string): Promise<Payer> => ({
    isContract: await isContract(address.toLowerCase()),
    async balance() {
      return BigInt(String(await rpc('eth_call', [{ to: asset, data: `${BALANCE_OF}${word(address)}` }, 'latest'])));
    },
  });
}

/** Who pays from a token account on Solana. Programs sign nothing there: no wallet is a contract. */
export const solanaPayer = (rpcUrl: string, source: string): Payer => ({
  isContract: false,
  async balance() {
    const answer = await createRpc(rpcUrl)('getTokenAccountBalance', [source, { commitment: 'confirmed' }]);
    const value = isJsonObject(answer) && isJsonObject(answer.value) ? answer.value.amount : undefined;
    if (typeof value !== 'string') throw new Error('the node does not tell the balance of the payer');
    return BigInt(value);
  },
});
