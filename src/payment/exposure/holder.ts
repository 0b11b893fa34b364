/** What a chain says of a payer. Sources: Ethereum JSON-RPC, ERC-20; Solana JSON-RPC. */
import { isJsonObject } from '../../json.ts';
import { word } from '../chains/evm-logs.ts';
import { createRpc } from '../chains/rpc.ts';

/** What a payer holds and what it is. */
export interface Holder {
  /** True for wallets that are contracts, delegated accounts (EIP-7702) included: the token asks their code. */
  readonly isContract: boolean;
  /** True for delegated accounts: a key pair's address, which is that key's on every chain, for all the code that it has here. */
  readonly isDelegated?: boolean;
  /** Atomic units that it can pay with now: that it holds, and that who moves them may move. Throws where the chain cannot be asked. */
  balance(): Promise<bigint>;
}

/** Who moves the payer's tokens, and how many it may move: undefined, as many as the token says. */
interface Spender {
  readonly address: string;
  readonly approved: bigint | undefined;
}

/** `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231';
/** What the code of a delegated account begins with (EIP-7702): no contract can be deployed that has it. */
const DELEGATED = '0xef0100';
/** `allowance(address,address)`. */
const ALLOWANCE = '0xdd62ed3e';

const KEPT_MS = 60_000;
const MOST_KEPT = 10_000;

/** Who pays on an EVM chain. One for each network: it remembers for a minute which addresses have no code. */
export function createEvmHolders(rpcUrl: string, asset: string, now: () => number, mostKept = MOST_KEPT) {
  const rpc = createRpc(rpcUrl);
  const plain = new Map<string, number>();

  /** A chain that cannot be asked leaves the payer unproven, which is as bad as a contract. */
  async function kindOf(address: string): Promise<Pick<Holder, 'isContract' | 'isDelegated'>> {
    const seen = plain.get(address);
    if (seen !== undefined && now() - seen < KEPT_MS) return { isContract: false };
    const code = await rpc('eth_getCode', [address, 'latest']).catch(() => undefined);
    if (code !== '0x') return { isContract: true, isDelegated: String(code).startsWith(DELEGATED) };
    if (plain.size >= mostKept) plain.clear();
    plain.set(address, now());
    return { isContract: false };
  }

  const ask = async (selector: string, ...addresses: readonly string[]): Promise<bigint> =>
    BigInt(String(await rpc('eth_call', [{ to: asset, data: selector + addresses.map(word).join('') }, 'latest'])));

  /** `isCounterfactual`: a contract, whether it exists yet or not. */
  return async (
    address: string,
    { spender, isCounterfactual = false }: { spender?: Spender; isCounterfactual?: boolean | undefined } = {},
  ): Promise<Holder> => ({
    ...(isCounterfactual ? { isContract: true } : await kindOf(address.toLowerCase())),
    async balance() {
      const held = await ask(BALANCE_OF, address);
      if (!spender) return held;
      const approved: bigint = spender.approved ?? (await ask(ALLOWANCE, address, spender.address));
      return approved < held ? approved : held;
    },
  });
}

/** Who pays from a token account on Solana. Programs sign nothing there: no wallet is a contract. */
export const solanaHolder = (rpcUrl: string, source: string): Holder => ({
  isContract: false,
  async balance() {
    const answer = await createRpc(rpcUrl)('getTokenAccountBalance', [source, { commitment: 'confirmed' }]);
    const value = isJsonObject(answer) && isJsonObject(answer.value) ? answer.value.amount : undefined;
    if (typeof value !== 'string') throw new Error('the node does not tell the balance of the payer');
    return BigInt(value);
  },
});
