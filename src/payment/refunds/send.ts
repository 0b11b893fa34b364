/** Sends what is to be given back, once, whatever crashes in between. */

import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { Money } from '../../money.ts';
import type { Settlement } from '../../on-chain/settlement.ts';
import type { Refund } from '../../store/refunds/refund-store.ts';
import type { Store } from '../../store/store.ts';
import { byNetwork } from '../by-network.ts';
import type { Rail } from '../rail.ts';
import { type RefundSender, senderFor } from './sender.ts';

interface SendParts {
  readonly store: Pick<Store, 'find' | 'refunds'>;
  readonly rails: ReadonlyMap<string, Rail>;
  /** Names this instance. */
  readonly owner: string;
  readonly metrics: Pick<Metrics, 'refunded'>;
  readonly log: Log;
  worth(moved: Pick<Refund, 'amount' | 'asset'>): Money;
  /** As the catalogue names a network. */
  idOf(network: string): string;
  now(): number;
}

/** How long an instance has for one, and so how long it takes until it is tried again. */
const TRY_MS = 60_000;
/** Of each network. */
const BATCH = 20;

/** One round over those that nobody works on. Answers how many were sent. */
export async function sendRefunds(parts: SendParts): Promise<number> {
  const { store, owner, now } = parts;
  const moment = now();
  const taken = await store.refunds.take({ owner, now: moment, leaseUntil: moment + TRY_MS, limit: BATCH });
  return byNetwork(taken, now, (refund) => sendOne(parts, refund, senderFor(parts.rails, refund.network)));
}

async function sendOne(parts: SendParts, refund: Refund, sender: RefundSender | undefined): Promise<boolean> {
  const { store, log, now } = parts;
  const { paymentId, number, network } = refund;
  const about = { payment: paymentId, refund: number, network };
  const fail = async (fault: string): Promise<false> => {
    if (refund.fault !== fault) log.warn({ ...about, fault }, 'a refund is not sent yet');
    await store.refunds.failed(refund, fault, now());
    return false;
  };
  const end = async (settlement: Settlement): Promise<boolean> => {
    // What was signed may move money all the same until the chain says that it cannot.
    if (settlement.state === 'refused') return fail(settlement.reason);
    if (settlement.state === 'unknown') {
      // Its chain is asked when the lease has run out, and others have their turn before.
      await store.refunds.failed(refund, settlement.reason, now());
      return false;
    }
    const isFirst = await store.refunds.sent(refund, settlement.transaction, now());
    if (isFirst) parts.metrics.refunded({ network: parts.idOf(network) }, parts.worth(refund));
    log.info({ ...about, transaction: settlement.transaction }, 'a refund is sent');
    return true;
  };
  if (!sender) {
    return fail(
      `no key gives money back on ${network}: set TURNPIKE_REFUND_SIGNER_EVM or _SOLANA, and it is sent; or send it yourself, and say so: npm run refund -- ${paymentId} --sent <transaction>`,
    );
  }
  if (refund.recoveryQuery !== undefined) {
    const became = await sender.recover(refund.recoveryQuery);
    if (became.state !== 'refused') return end(became);
  }
  try {
    const paidAt = (await store.find(paymentId))?.createdAt ?? refund.createdAt;
    const order = { ...refund, amount: BigInt(refund.amount), paidAt };
    const before = await sender.find(order);
    if (before.state !== 'unknown') return await end(before);
    if (!before.unused) return await fail(`it waits until the chain says whether it was sent before: ${before.reason}`);
    const { recoveryQuery, send } = await sender.prepare(order);
    if (!(await store.refunds.sending(refund, recoveryQuery, now()))) return false;
    return await end(await send());
  } catch (error) {
    return fail(error instanceof Error ? error.message : 'it could not be prepared');
  }
}
