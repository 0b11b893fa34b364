import type { Engine } from '../engines/engine.ts';
import type { Row } from '../engines/statement.ts';
import type { Steps } from '../engines/steps.ts';
import * as statements from './alert-statements.ts';
import type { Alert, AlertState, AlertStore, NewAlert } from './alert-store.ts';

const toAlert = (row: Row): Alert => ({
  occurrence: String(row.occurrence),
  receiver: String(row.receiver),
  type: String(row.type),
  body: String(row.body),
  state: String(row.state) as AlertState,
  attempt: Number(row.attempt),
  fault: row.fault === null || row.fault === undefined ? undefined : String(row.fault),
  dueAt: Number(row.due_at),
  createdAt: Number(row.created_at),
});

function* write(alert: NewAlert, occurrence: string, now: number): Steps<void> {
  for (const receiver of new Set(alert.receivers)) yield statements.insertAlert(alert, occurrence, receiver, now);
}

/** Alerts on an engine. */
export function alertsOn(engine: Engine): AlertStore {
  return {
    add: (alert, now) => engine.transact(() => write(alert, alert.occurrence, now)),
    raise: ({ subject, alert, now }, until) =>
      engine.transact(function* () {
        const { changes } = yield statements.raiseCondition(subject, now, until);
        if (changes === 0) yield statements.holdConditions([subject], until, engine.among);
        else yield* write(alert, `${alert.occurrence}:${now}`, now);
        return changes === 1;
      }),
    async hold(subjects, until) {
      if (subjects.length > 0) await engine.write(statements.holdConditions(subjects, until, engine.among));
    },
    clear: ({ subject, alert, now }) =>
      engine.transact(function* () {
        const { rows } = yield statements.clearCondition(subject, now);
        const [ended] = rows;
        if (ended) yield* write(alert, `${alert.occurrence}:${ended.raised_at}`, now);
        return ended !== undefined;
      }),
    raised: async () => (await engine.read(statements.raisedConditions)).map(({ subject }) => String(subject)),
    receivers: async (now) => (await engine.read(statements.dueReceivers(now))).map(({ receiver }) => String(receiver)),
    take: async (by) => (await engine.write(statements.takeAlerts(by))).rows.map(toAlert),
    async sent(alert) {
      await engine.write(statements.sentAlert(alert));
    },
    failed: async (attempt, fault, dueAt) =>
      (await engine.write(statements.failedAlert(attempt, fault, dueAt))).changes === 1,
    list: async (filter) => (await engine.read(statements.listAlerts(filter))).map(toAlert),
  };
}
