/** `alerts` of `service.yaml`. */
import type { Checker } from '../checker.ts';
import type { AlertType } from '../files/alerts.ts';
import type { AlertsFile } from '../types.ts';
import { below, type SourceLocation } from '../yaml/yaml-document.ts';

/** What is watched by a threshold alone. */
const THRESHOLDS: Readonly<Partial<Record<AlertType, keyof AlertsFile>>> = {
  'spend.daily': 'spendAbove',
  'revenue.daily': 'revenueBelow',
  'margin.negative': 'marginOver',
  'signer.gas-low': 'gasBelow',
  'credit.low': 'creditBelow',
};

/** Reports events that a webhook asks for by name, and that nobody watches. */
export function checkAlerts(location: SourceLocation, file: AlertsFile | undefined, { diagnostics }: Checker): void {
  for (const [webhook, { events = [] }] of (file?.webhooks ?? []).entries()) {
    for (const [index, event] of events.entries()) {
      const threshold = THRESHOLDS[event];
      if (threshold === undefined || file?.[threshold] !== undefined) continue;
      diagnostics.add(
        below(location, 'alerts', 'webhooks', webhook, 'events', index),
        `${event} is never told: alerts has no ${threshold}`,
        `add ${threshold} to alerts, or leave it out`,
      );
    }
  }
}
