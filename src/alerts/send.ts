/** Sends what waits in the store, at least once. */
import type { AlertsFile } from '../catalogue/types.ts';
import type { Log } from '../log.ts';
import type { Alert } from '../store/alerts/alert-store.ts';
import { isOutage } from '../store/problem.ts';
import type { Store } from '../store/store.ts';
import type { Delivery } from './deliver.ts';

export interface SendParts {
  readonly store: Pick<Store, 'alerts'>;
  readonly delivery: Delivery;
  readonly log: Pick<Log, 'error' | 'warn' | 'debug'>;
  now(): number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** How long after each attempt the next one comes, as Standard Webhooks proposes. */
const AGAIN_AFTER_MS = [
  ...[5 * SECOND, 5 * MINUTE, 30 * MINUTE],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
];
/** Longer than an attempt takes. */
const LEASE_MS = 30 * SECOND;
/** To one receiver. */
const AT_ONCE = 20;

export interface Sending {
  /** Begins to send what is due, to each receiver that nothing is being sent to. */
  round(settings: AlertsFile): Promise<void>;
  /** Begins nothing more, and waits for what is under way. */
  close(): Promise<void>;
}

/** Receivers by themselves: one that does not answer keeps no other waiting. */
export function openSending(parts: SendParts): Sending {
  const { store, log, now } = parts;
  const underWay = new Map<string, Promise<void>>();
  let known: ReadonlySet<string> = new Set();
  let isClosed = false;

  async function sendAll(receiver: string): Promise<void> {
    try {
      let isMore = true;
      while (isMore && !isClosed) {
        const due = await store.alerts.take({ receiver, now: now(), leaseUntil: now() + LEASE_MS, limit: AT_ONCE });
        await Promise.all(due.map((alert) => sendOne(parts, alert, known.has(receiver))));
        isMore = due.length === AT_ONCE;
      }
    } catch (error) {
      // Of an outage the log tells once.
      if (!isOutage(error)) log.error({ err: error }, 'alerts could not be sent');
    } finally {
      underWay.delete(receiver);
    }
  }

  return {
    async round({ webhooks }) {
      known = new Set(webhooks.map(({ url }) => url));
      for (const receiver of await store.alerts.receivers(now())) {
        if (!isClosed && !underWay.has(receiver)) underWay.set(receiver, sendAll(receiver));
      }
    },
    async close() {
      isClosed = true;
      await Promise.all(underWay.values());
    },
  };
}

async function sendOne({ store, delivery, log, now }: SendParts, alert: Alert, isKnown: boolean): Promise<void> {
  const about = { alert: alert.occurrence, receiver: new URL(alert.receiver).host, attempt: alert.attempt };
  const fault = isKnown ? await delivery.deliver(alert) : 'is no webhook of service.yaml any more';
  if (fault === undefined) {
    await store.alerts.sent(alert);
    log.debug(about, 'an alert is sent');
    return;
  }
  const wait = isKnown ? AGAIN_AFTER_MS[alert.attempt - 1] : undefined;
  const dueAt = wait === undefined ? undefined : now() + wait;
  if (!(await store.alerts.failed(alert, fault, dueAt))) return;
  log.warn({ ...about, fault }, dueAt === undefined ? 'an alert is given up' : 'an alert is not sent yet');
}
