/** What vouchers are worth is claimed while nobody calls, long before their payers could take it back. */

import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { toAtomic, usd } from '../../money.ts';
import type { ChannelConfig } from '../../on-chain/channel-config.ts';
import type { Channel, ChannelStore } from '../../store/channels/channel-store.ts';
import { PAGE, pages } from '../../store/pages.ts';
import { FacilitatorUnreachable } from '../facilitators/facilitator.ts';
import type { Intervals } from '../intervals.ts';
import type { PayableNetworks } from '../networks.ts';
import type { ChannelClaim, ChannelOperator } from './operator.ts';
import { payableOf } from './payable.ts';

interface ClaimParts {
  readonly networks: Pick<PayableNetworks, 'ids' | 'find'>;
  readonly channels: Pick<ChannelStore, 'unclaimed' | 'unclaimedSums' | 'take' | 'letGo' | 'sync'>;
  readonly metrics: Pick<Metrics, 'claimed'>;
  readonly intervals: Pick<Intervals, 'claims'>;
  readonly log: Log;
  now(): number;
}

/** So much of one channel is claimed as soon as it is seen. */
const WORTH_CLAIMING = usd('1');
/** About what a transaction may take the gas of: where it is too much, fewer are claimed, and the others in the next round. */
const CLAIMED_AT_ONCE = 8;
const READ_AT_ONCE = 8;

const dueOf = ({ charged, totalClaimed }: Channel): bigint => BigInt(charged) - BigInt(totalClaimed);

/** Undefined where nothing is due. */
function claimOf(channel: Channel): ChannelClaim | undefined {
  const { config, voucher } = channel;
  const [claimed, payable] = [BigInt(channel.totalClaimed), payableOf(channel)];
  // Where that is nothing more, all of it: the contract turns it down, and its operator hears of it.
  const charged = payable > claimed ? payable : BigInt(channel.charged);
  const due = charged - claimed;
  if (!voucher || due <= 0n) return undefined;
  const read: ChannelConfig = JSON.parse(config);
  return { config: read, max: BigInt(voucher.max), signature: voucher.signature, charged, due };
}

function* chunks<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

const OUT_OF_REACH = 'no key of this gateway that claims there is in reach';

/**
 * Answers what makes one round over all networks: a channel is claimed for where its payer has asked for its deposit, where
 * enough is due, and where something has been due for long. What cannot be claimed, or is not worth its gas at the moment,
 * is left to the next round. `returned`: one over those networks alone that were out of reach in their last, and are back.
 */
export function openChannelClaims(parts: ClaimParts): (among?: 'all' | 'returned') => Promise<void> {
  const { networks, channels, metrics, log, now } = parts;
  const { afterMs, readEveryMs, takenMs } = parts.intervals.claims;
  /** Why a network's vouchers are not claimed, and channels that the contract turns down: each is told once. */
  const delays = new Map<string, string>();
  const refusedOnes = new Set<string>();
  /** Receivers that their token sends nothing. */
  const unpaid = new Set<string>();

  function delayed(network: string, reason: string): void {
    if (delays.get(network) !== reason) log.warn({ network, reason }, 'vouchers are not claimed yet');
    delays.set(network, reason);
  }

  /**
   * How they stand by their chain. `claimed`: what a block has of each channel in all, though a node that is behind does not
   * show it. Throws FacilitatorUnreachable.
   */
  async function readAgain(
    operator: ChannelOperator,
    known: readonly Channel[],
    claimed: ReadonlyMap<string, bigint> = new Map(),
  ): Promise<Channel[]> {
    const found: Channel[] = [];
    for (const chunk of chunks(known, READ_AT_ONCE)) {
      const states = await Promise.all(
        chunk.map(async (channel) => {
          const shown = await operator.read(channel.id);
          const least = claimed.get(channel.id) ?? 0n;
          const state = BigInt(shown.totalClaimed) < least ? { ...shown, totalClaimed: least.toString() } : shown;
          await channels.sync(channel.id, state, now());
          return { ...channel, ...state };
        }),
      );
      found.push(...states);
    }
    return found;
  }

  function refuse({ id, network, payer, balance }: Channel, { due, charged }: ChannelClaim): void {
    metrics.claimed({ network, outcome: 'refused' });
    if (refusedOnes.has(id)) return;
    refusedOnes.add(id);
    log.error(
      { network, channel: id, payer, due: due.toString(), charged: charged.toString() },
      BigInt(balance) < charged
        ? 'a channel was charged more than it holds, for its chain took a deposit back or its payer had it before the claim: nobody can claim the rest'
        : 'the contract would turn down what is due of a channel: claim from its receiver or its receiverAuthorizer, whose key ' +
            'may have been another then; npm run export -- --vouchers has all that a claim needs',
    );
  }

  /** What was claimed is the receiver's, and nobody can have it back: it only waits. */
  function tellUnsent(network: string, claimed: readonly ChannelClaim[], unsent: readonly string[]): void {
    for (const receiver of new Set(claimed.map(({ config }) => config.receiver))) {
      const name = `${network} ${receiver}`;
      if (!unsent.includes(receiver)) unpaid.delete(name);
      else if (!unpaid.has(name)) {
        unpaid.add(name);
        log.error(
          { network, receiver },
          'what is claimed for this receiver stays in the contract, for its token sends it nothing: its issuer may say why; ' +
            'the next claim that can sends all, and so does anybody who calls settle of the contract',
        );
      }
    }
  }

  /** Throws FacilitatorUnreachable. */
  async function claim(network: string, operator: ChannelOperator, ids: readonly string[]): Promise<void> {
    const until = now() + takenMs;
    const taken = await channels.take(ids, 'claim', until, now());
    try {
      const due = new Map<ChannelClaim, Channel>();
      // Another may have claimed since they were listed, and a node may be behind that.
      const left = taken.filter((channel) => dueOf(channel) > 0n);
      for (const channel of await readAgain(operator, left)) {
        const each = claimOf(channel);
        if (each) due.set(each, channel);
      }
      if (due.size === 0) return;
      const { claimed, refused, unsent, transaction } = await operator.claim([...due.keys()]);
      for (const [each, channel] of due) if (refused.includes(each)) refuse(channel, each);
      if (claimed.length === 0) return;
      const amount = claimed.reduce((sum, each) => sum + each.due, 0n).toString();
      tellUnsent(network, claimed, unsent);
      log.info({ network, channels: claimed.length, amount, transaction }, 'vouchers are claimed');
      for (const _ of claimed) metrics.claimed({ network, outcome: 'claimed' });
      const done = [...due].filter(([each]) => claimed.includes(each));
      await readAgain(
        operator,
        done.map(([, channel]) => channel),
        new Map(done.map(([{ charged }, { id }]) => [id, charged])),
      );
    } finally {
      await channels.letGo(
        taken.map(({ id }) => id),
        'claim',
        until,
      );
    }
  }

  /** Throws FacilitatorUnreachable. */
  async function claimOn(network: string, operator: ChannelOperator, decimals: number): Promise<void> {
    const enough = toAtomic(WORTH_CLAIMING, decimals);
    const isDue = (channel: Channel): boolean => {
      const due = dueOf(channel);
      if (due <= 0n) return false;
      return channel.withdrawRequestedAt !== 0 || due >= enough || now() - (channel.unclaimedSince ?? now()) >= afterMs;
    };
    const [due, stale]: [Channel[], Channel[]] = [[], []];
    const listed = pages<Channel>((after) => channels.unclaimed(network, PAGE, now(), after));
    for await (const channel of listed) {
      if (isDue(channel)) due.push(channel);
      // Also what a clock has dated that was ahead.
      else if (Math.abs(now() - channel.syncedAt) >= readEveryMs) stale.push(channel);
    }
    const [read] = await Promise.allSettled([readAgain(operator, stale)]);
    if (read.status === 'fulfilled') due.push(...read.value.filter(isDue));
    // The chain turns a claim down that is not worth its gas, and so all after it, which are worth less.
    due.sort((left, right) => Number(dueOf(right) - dueOf(left)));
    for (const batch of chunks(due, CLAIMED_AT_ONCE)) {
      await claim(
        network,
        operator,
        batch.map(({ id }) => id),
      );
    }
    // It keeps none of those waiting that are known to be due.
    if (read.status === 'rejected') throw read.reason;
  }

  return async (among = 'all') => {
    for (const id of networks.ids) {
      const network = networks.find(id);
      if (among === 'returned' && !(delays.get(id) === OUT_OF_REACH && network?.channels)) continue;
      const [first] = await channels.unclaimed(id, 1, now());
      if (!first) continue;
      try {
        if (!network?.channels) throw new FacilitatorUnreachable(OUT_OF_REACH);
        await claimOn(id, await network.channels.operator(), network.asset.decimals);
        delays.delete(id);
      } catch (error) {
        if (!(error instanceof FacilitatorUnreachable)) throw error;
        delayed(id, error.message);
      }
    }
    if (among === 'returned') return;
    for (const id of (await channels.unclaimedSums()).keys()) {
      if (!networks.ids.includes(id))
        delayed(id, 'it is not a network of networks.yaml any more: put it back to claim');
    }
  };
}
