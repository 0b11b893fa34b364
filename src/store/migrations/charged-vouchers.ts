/**
 * A migration: that a voucher was charged stood only in its payment, whose identity names the channel and what the voucher is
 * for, and of the newest in its channel. Frozen: it reads what older releases wrote.
 */
import type { Statement } from '../engines/statement.ts';
import type { Steps } from '../engines/steps.ts';

const BATCH = 500;
const DIGITS = 39;

const sortable = (column: string): string =>
  `substr('${'0'.repeat(DIGITS)}', 1, ${DIGITS} - length(${column})) || ${column}`;

const newest: Statement = {
  text: `INSERT INTO charged_vouchers (channel, max) SELECT id, ${sortable('voucher_max')} FROM channels
    WHERE ${sortable('voucher_max')} > ${sortable('charged')}`,
  values: [],
};

const page = (after: string): Statement => ({
  text: `SELECT id FROM payments WHERE receipt IS NOT NULL AND id > ?1 AND id < 'channel;' ORDER BY id LIMIT ${BATCH}`,
  values: [after],
});

export function* chargedVouchers(): Steps<void> {
  yield newest;
  for (let after: string | undefined = 'channel:'; after !== undefined; ) {
    const { rows } = yield page(after);
    for (const { id } of rows) {
      const [, channel, max] = /:(0x[0-9a-f]{64}):([0-9]+):[^:]*$/.exec(String(id)) ?? [];
      if (channel === undefined || max === undefined) continue;
      yield {
        text: `INSERT INTO charged_vouchers (channel, max) SELECT id, ?2 FROM channels
          WHERE id = ?1 AND ?2 > ${sortable('charged')} ON CONFLICT DO NOTHING`,
        values: [channel, max.padStart(DIGITS, '0')],
      };
    }
    const last: unknown = rows.at(-1)?.id;
    after = last === undefined ? undefined : String(last);
  }
}
