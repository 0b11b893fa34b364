/** What has to be known of a payment to ask its chain later what became of it, and to write its receipt. */
import type { NetworkId } from '../../catalogue/types.ts';
import { type Settlement, unknown } from '../../on-chain/settlement.ts';
import { findHold } from '../../payment/authorizations/auth-capture.ts';
import { findEip3009Settlement } from '../../payment/authorizations/eip3009.ts';
import { findPermit2Settlement } from '../../payment/authorizations/permit2.ts';
import { findSolanaSettlement, type HistoryProgress } from '../../payment/authorizations/solana.ts';
import type { LogProgress } from '../../payment/chains/evm-logs.ts';
import { type Looks, openLooks } from '../../payment/chains/looks.ts';
import type { ChannelQuery } from './channel.ts';

/** Clocks of chain and gateway differ. */
const CLOCK_SKEW_SECONDS = 120;

interface Common {
  readonly x402Version: 1 | 2;
  readonly network: NetworkId;
  /** The payment's own name of the network, for the receipt. */
  readonly networkName: string;
  readonly payer: string;
  /** Seconds since the epoch: the payment was seen then, so it was not settled earlier. */
  readonly since: number;
  /** Dollars, for the receipt. */
  readonly quoted: string;
  /** What is bought, for a receipt that is signed. */
  readonly resourceUrl?: string;
}

type Query<Find extends (query: never, looks: never) => unknown> = Omit<
  Parameters<Find>[0],
  'rpcUrl' | 'payer' | 'since' | 'now'
>;

/** As it is stored: common members, and those of the kind of authorization. No signatures. */
export type RecoveryQuery = Common &
  (
    | ({ readonly kind: 'eip3009' } & Query<typeof findEip3009Settlement>)
    | ({ readonly kind: 'permit2' } & Query<typeof findPermit2Settlement>)
    | ({ readonly kind: 'auth-capture'; readonly isFixed: boolean } & Query<typeof findHold>)
    | ({ readonly kind: 'batch-settlement'; readonly isFixed: boolean } & ChannelQuery)
    | ({ readonly kind: 'solana' } & Query<typeof findSolanaSettlement>)
  );

/** `now` in milliseconds since the epoch, as everywhere. */
export const seenSince = (now: number): number => Math.floor(now / 1000) - CLOCK_SKEW_SECONDS;
const firstSeen = (since: number): number => (since + CLOCK_SKEW_SECONDS) * 1000;

/** Asks the chain of `rpcUrl`, where there is anything to ask. Never throws: what cannot be asked is `unknown`. */
export type FindSettlement = (query: RecoveryQuery, rpcUrl: string | undefined) => Promise<Settlement>;

/** One for a rail: it remembers how far each search came. */
export function openRecovery(now: () => number): FindSettlement {
  const logs: Looks<LogProgress> = openLooks(now);
  const histories: Looks<HistoryProgress> = openLooks(now);
  return async (query, rpcUrl) => {
    // The store has the voucher, and tells it apart from all others.
    if (query.kind === 'batch-settlement') {
      return { state: 'unknown', reason: 'its voucher is kept', unused: true, held: true };
    }
    if (rpcUrl === undefined) return unknown(`no RPC address is configured for ${query.network}`);
    switch (query.kind) {
      case 'eip3009':
        return findEip3009Settlement({ ...query, rpcUrl }, logs);
      case 'permit2':
        return findPermit2Settlement({ ...query, rpcUrl }, logs);
      case 'auth-capture':
        return findHold({ ...query, rpcUrl }, logs);
      case 'solana':
        return findSolanaSettlement({ ...query, since: firstSeen(query.since), rpcUrl, now: now() }, histories);
    }
  };
}
