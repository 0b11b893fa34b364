/** What goes on while nobody calls. */
import type { Alerts } from '../alerts/alerts.ts';
import { refundsOf } from '../catalogue/settings/refunds.ts';
import type { Catalogue } from '../catalogue/types.ts';
import type { Limits } from '../limits/limits.ts';
import { shareLimits } from '../limits/share.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Tally } from '../metrics/tally.ts';
import { openChannelClaims } from '../payment/channels/claims.ts';
import { confirmPurchases } from '../payment/confirm.ts';
import type { ExposureControl } from '../payment/exposure/control.ts';
import type { Intervals } from '../payment/intervals.ts';
import type { PayableNetworks } from '../payment/networks.ts';
import { reconcile } from '../payment/reconcile.ts';
import { wantRefunds } from '../payment/refunds/automatic.ts';
import { sendRefunds } from '../payment/refunds/send.ts';
import { isOutage } from '../store/problem.ts';
import type { Store } from '../store/store.ts';
import { every } from '../timing.ts';
import type { Config } from './config.ts';
import type { Editions } from './editions.ts';
import { letGo } from './keeping.ts';
import { confirmationsOn } from './serving.ts';

type RefundParts = Parameters<typeof sendRefunds>[0];

interface BackgroundParts extends Pick<RefundParts, 'rails' | 'owner' | 'worth' | 'idOf'> {
  readonly config: Config;
  /** The one that is on sale. */
  catalogue(): Catalogue;
  readonly networks: Pick<PayableNetworks, 'refresh' | 'weigh' | 'ids' | 'find'>;
  readonly metrics: RefundParts['metrics'] & Pick<Metrics, 'claimed'>;
  readonly exposure: Pick<ExposureControl, 'refresh'>;
  readonly limits: Limits;
  readonly store: Store;
  readonly editions: Pick<Editions, 'renew' | 'turn'>;
  readonly alerts: Pick<Alerts, 'tasks'>;
  /** That the database and the disk can be used. */
  readonly usable: { check(): Promise<unknown> };
  readonly disk: { check(): Promise<unknown> };
  readonly tally: Pick<Tally, 'flush'>;
  /** Sells what another instance has loaded. */
  follow(): Promise<unknown>;
  readonly intervals: Intervals;
  readonly log: Log;
  now(): number;
}

const CHECK_EVERY_MS = 5_000;
/** How soon an endpoint that retires is not sold any more, and what an earlier catalogue holds is let go. */
const TURN_EVERY_MS = 1_000;
/** How soon an instance sells what another has loaded. */
const FOLLOW_EVERY_MS = 2_000;
/** How soon instances learn what callers have taken of their limits at others. */
const SHARE_EVERY_MS = 2_000;
const REFRESH_EVERY_MS = 30_000;
/** How soon losses make everybody settle first. */
const MEASURE_EVERY_MS = 5_000;
const LET_GO_EVERY_MS = 3_600_000;
/** Besides at the start: a clock may be set right later. */
const SHORTEN_EVERY_MS = 3_600_000;
/** How soon calls are in the console, and how soon money is counted: until then it is read where it stands. */
const TALLY_EVERY_MS = 2_000;
const COUNT_EVERY_MS = 1_000;
/** Few enough that nobody waits long for the database in between. */
const COUNTED_AT_ONCE = 100;

/** How long after its end a task runs again, in milliseconds, the task, and how soon it runs first, where that is not as long. */
type BackgroundTask = readonly [everyMs: number, run: () => Promise<unknown>, firstMs?: number];

/** Runs each again and again, never two of one at a time; what fails is logged, and runs again. Answers how to stop all: what runs then is left to itself. */
export function startBackground(parts: BackgroundParts): () => void {
  const { config, catalogue, store, rails, owner, metrics, worth, idOf, intervals, log, now } = parts;
  const { leaseMs, reconcileEveryMs, confirmEveryMs, weighEveryMs } = intervals;
  let isStopped = false;
  const wanted = (network: string) => confirmationsOn(catalogue(), network);
  const giveBack = async () => {
    if (refundsOf(catalogue().service).automatic) await wantRefunds({ store, rails, log, now });
    await sendRefunds({ store, rails, owner, metrics, worth, idOf, log, now });
  };
  /**
   * Before it is looked for what died at its work: this process may only have stood still, or its clock was set. The task
   * hears when, by a clock that was read before: whatever had a lease then has not lost it by a pause since.
   */
  const renewed = (task: (at: number) => Promise<unknown>) => async () => {
    const at = now();
    await parts.editions.renew();
    await task(at);
  };
  const count = async () => {
    while (!isStopped && (await store.figures.count(COUNTED_AT_ONCE)));
  };
  const claimVouchers = openChannelClaims({
    networks: parts.networks,
    channels: store.channels,
    metrics,
    intervals,
    log,
    now,
  });
  const withOthers: readonly BackgroundTask[] = [
    [FOLLOW_EVERY_MS, parts.follow],
    [SHARE_EVERY_MS, () => shareLimits(parts.limits.buckets, store, now)],
  ];
  const tasks: readonly BackgroundTask[] = [
    [CHECK_EVERY_MS, parts.usable.check],
    [CHECK_EVERY_MS, parts.disk.check],
    [leaseMs / 3, parts.editions.renew],
    [SHORTEN_EVERY_MS, () => store.shortenLeases(now()), 0],
    [leaseMs, renewed(store.credits.releaseExpired)],
    [TURN_EVERY_MS, parts.editions.turn],
    ...(config.databaseUrl ? withOthers : []),
    [reconcileEveryMs, renewed((renewedAt) => reconcile({ store, rails, owner, renewedAt, intervals, log, now }))],
    [reconcileEveryMs, giveBack],
    [confirmEveryMs, () => confirmPurchases({ store, rails, wanted, intervals, log, now })],
    [REFRESH_EVERY_MS, () => parts.networks.refresh()],
    [weighEveryMs, () => parts.networks.weigh()],
    // A payer may have asked for its deposit while nothing ran, and a gateway that dies soon has no second round.
    [intervals.claims.everyMs, () => claimVouchers(), 0],
    // What was out of reach just then is back long before the next round, which may be too late.
    [reconcileEveryMs, () => claimVouchers('returned')],
    [MEASURE_EVERY_MS, () => parts.exposure.refresh()],
    ...parts.alerts.tasks,
    [TALLY_EVERY_MS, parts.tally.flush],
    [COUNT_EVERY_MS, count],
    [LET_GO_EVERY_MS, () => letGo(catalogue().service, config, store)],
  ];
  const failed = (error: unknown) => {
    // Of an outage the log tells once. What the gateway's end cuts off is taken up by the next that starts, as after a crash.
    if (!isStopped && !isOutage(error)) log.error({ err: error }, 'background task failed');
  };
  const stops = tasks.map(([everyMs, run, firstMs]) => every(everyMs, run, failed, firstMs));
  return () => {
    isStopped = true;
    for (const stop of stops) stop();
  };
}
