/** What a webhook is told, as Standard Webhooks has it: `{type, timestamp, data}`. */
import { type AlertType, alertTypes } from '../catalogue/files/alerts.ts';
import type { AlertsFile, WebhookFile } from '../catalogue/types.ts';
import type { NewAlert } from '../store/alerts/alert-store.ts';

/** What happened. `occurrence` names it for ever: the same is told once. */
export interface News {
  readonly type: AlertType;
  /** What comes after the type: `2026-11-22`, a payment's id. */
  readonly about: string;
  readonly data: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** One for each sale: whoever wants them says so. */
const UNASKED: readonly AlertType[] = alertTypes.filter((type) => type !== 'payment.settled');

export const wants = ({ events = UNASKED }: WebhookFile, type: AlertType): boolean => events.includes(type);

/** For those of the webhooks that want it. */
export const letter = ({ webhooks }: AlertsFile, { type, about, data }: News, now: number): NewAlert => ({
  occurrence: `${type}:${about}`,
  type,
  body: JSON.stringify({ type, timestamp: new Date(now).toISOString(), data }),
  receivers: webhooks.filter((webhook) => wants(webhook, type)).map(({ url }) => url),
});
