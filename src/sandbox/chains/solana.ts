import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Address, address } from '@solana/kit';
import type { AssetFile, NetworkId } from '../../catalogue/types.ts';
import { SolanaLedger } from './solana-ledger.ts';
import { createSolanaRpcServer } from './solana-rpc.ts';
import { associatedTokenAccount, mintAccount, readTokenAccount, TOKEN_PROGRAM, tokenAccount } from './spl.ts';

interface SolanaChainOptions {
  readonly id: NetworkId;
  /** `solana:<first 32 characters of the genesis hash>`. */
  readonly caip2: string;
  readonly asset: AssetFile;
  /** Gets 1,000,000 of the asset and some SOL. */
  readonly payer: string;
  /** Has 10,000 of the asset, from which is given back. */
  readonly refunder?: string;
  /** Pays the fees. */
  readonly facilitator: string;
  /** Gets an empty token account. */
  readonly payTo: string;
  /** Milliseconds since the epoch; slots follow it. Default: the clock. */
  readonly now?: () => number;
}

export interface SolanaChain {
  readonly id: NetworkId;
  readonly caip2: string;
  readonly rpcUrl: string;
  readonly asset: AssetFile;
  /** Atomic units of the asset in the wallet's associated token account. */
  balance(wallet: string): Promise<bigint>;
  stop(): Promise<void>;
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address;
const SOL = 1_000_000_000n;
const DOLLARS = 1_000_000n;
const REFUND_DOLLARS = 10_000n;

/** Starts a Solana in memory behind a JSON-RPC server on a free port of the loopback. */
export async function startSolanaChain(options: SolanaChainOptions): Promise<SolanaChain> {
  const { id, caip2, asset } = options;
  const mint = address(asset.address);
  const supply = DOLLARS * 10n ** BigInt(asset.decimals);
  const ledger = new SolanaLedger(options.now ?? Date.now);
  ledger.put(mint, TOKEN_PROGRAM, mintAccount(supply, asset.decimals));
  const fund = async (wallet: Address, lamports: bigint, tokens: bigint) => {
    ledger.put(wallet, SYSTEM_PROGRAM, new Uint8Array(), lamports);
    ledger.put(await associatedTokenAccount(wallet, mint), TOKEN_PROGRAM, tokenAccount(mint, wallet, tokens));
  };
  await fund(address(options.payer), 10n * SOL, supply);
  if (options.refunder) await fund(address(options.refunder), SOL, REFUND_DOLLARS * 10n ** BigInt(asset.decimals));
  await fund(address(options.payTo), SOL, 0n);
  ledger.put(address(options.facilitator), SYSTEM_PROGRAM, new Uint8Array(), 1_000n * SOL);

  const server = createSolanaRpcServer(ledger, caip2, asset.decimals);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    id,
    caip2,
    rpcUrl: `http://127.0.0.1:${port}`,
    asset,
    balance: async (wallet) => {
      const found = ledger.account(await associatedTokenAccount(address(wallet), mint));
      return found ? readTokenAccount(found.data).amount : 0n;
    },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
