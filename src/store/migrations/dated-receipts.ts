/**
 * A migration: when a payment settled stood only in its receipt. One whose receipt cannot be read is given the time of its
 * last change, so that it is missed by nobody.
 */
import type { Statement } from '../engines/statement.ts';
import type { Steps } from '../engines/steps.ts';

const BATCH = 500;

const page = (after: string): Statement => ({
  text: `SELECT id, receipt FROM payments WHERE receipt IS NOT NULL AND id > ?1 ORDER BY id LIMIT ${BATCH}`,
  values: [after],
});

function settledAt(receipt: string): number | null {
  try {
    const time: unknown = JSON.parse(receipt).settledAt;
    return Number.isSafeInteger(time) ? Number(time) : null;
  } catch {
    return null;
  }
}

export function* datedReceipts(): Steps<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { rows } = yield page(after);
    for (const row of rows) {
      yield {
        text: 'UPDATE payments SET settled_at = COALESCE(?2, updated_at) WHERE id = ?1',
        values: [String(row.id), settledAt(String(row.receipt))],
      };
    }
    const last: unknown = rows.at(-1)?.id;
    after = last === undefined ? undefined : String(last);
  }
}
