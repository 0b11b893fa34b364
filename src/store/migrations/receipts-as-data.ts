/**
 * A migration: receipts used to be kept as the headers that were sent. Frozen: it reads what older releases wrote.
 */
import type { Statement } from '../engines/statement.ts';
import type { Steps } from '../engines/steps.ts';
import type { Receipt } from '../store.ts';

interface HeaderReceipt {
  readonly transaction: string;
  readonly amount: string;
  readonly settledAt: number;
  readonly headers: Readonly<Record<string, string>>;
}

const BATCH = 500;

const decoded = (header: string, encoding: 'base64' | 'base64url'): Readonly<Record<string, string>> =>
  JSON.parse(Buffer.from(header, encoding).toString('utf8'));

function detailsOf(headers: HeaderReceipt['headers']): Receipt['details'] {
  const charge = headers['payment-receipt'];
  if (charge !== undefined) return { method: decoded(charge, 'base64url').method ?? '' };
  const { 'payment-response': second, 'x-payment-response': first = '' } = headers;
  const { network = '', payer = '' } = decoded(second ?? first, 'base64');
  const [quoted, charged] = [headers['turnpike-quoted'] ?? '', headers['turnpike-charged'] ?? ''];
  return { version: second === undefined ? '1' : '2', network, payer, quoted, charged };
}

const page = (after: string): Statement => ({
  text: `SELECT id, receipt FROM payments WHERE receipt IS NOT NULL AND id > ?1 ORDER BY id LIMIT ${BATCH}`,
  values: [after],
});

export function* receiptsAsData(): Steps<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { rows } = yield page(after);
    for (const row of rows) {
      const { headers, ...kept }: HeaderReceipt = JSON.parse(String(row.receipt));
      const receipt: Receipt = { ...kept, details: detailsOf(headers) };
      yield {
        text: 'UPDATE payments SET receipt = ?2 WHERE id = ?1',
        values: [String(row.id), JSON.stringify(receipt)],
      };
    }
    const last: unknown = rows.at(-1)?.id;
    after = last === undefined ? undefined : String(last);
  }
}
