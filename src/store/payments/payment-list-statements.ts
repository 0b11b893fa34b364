/** Payments as people and sweeps look for them: by whatever is known of them, through the index that leads to the fewest. */

import type { Statement } from '../engines/statement.ts';
import type { PaymentFilter } from '../store.ts';
import { AT_REST, WITHOUT_ANSWER } from './payment-statements.ts';
import { type PaymentState, paymentStates } from './states.ts';

/** As its index has it: EVM addresses in lower case. */
const PAYER = `CASE WHEN substr(payer, 1, 2) = '0x' THEN lower(payer) ELSE payer END`;

/** How a list finds its rows: by the index that leads to the fewest. */
type Lead = 'owner' | 'payer' | 'transaction' | 'route' | 'network' | 'state' | 'age';

/** Somebody works on these, or did when its process died. */
const UNDER_WAY: readonly PaymentState[] = ['claimed', 'fulfilled'];

const are = (states: readonly PaymentState[] | undefined, kind: (state: PaymentState) => boolean): boolean =>
  states?.every(kind) ?? false;

/** Most payments are settled, and most are on one network of few. */
function leadOf({ states, leaseBefore, payer, transaction, route, network }: PaymentFilter): Lead {
  const isUnderWay = are(states, (state) => UNDER_WAY.includes(state));
  const isAtRest = are(states, (state) => state !== 'settled' && !UNDER_WAY.includes(state));
  if (leaseBefore !== undefined) return 'owner';
  if (transaction !== undefined) return 'transaction';
  if (payer !== undefined) return 'payer';
  if (isUnderWay) return 'owner';
  if (isAtRest) return 'state';
  if (route !== undefined) return 'route';
  return network !== undefined ? 'network' : 'age';
}

/** No index finds what a state is not, and no engine may begin with that of states where another leads. */
function stateIn(states: readonly PaymentState[], lead: Lead, place: (value: string) => string): string {
  if (lead === 'payer') {
    const others = paymentStates.filter((state) => !states.includes(state));
    return others.length === 0 ? 'TRUE' : `state NOT IN (${others.map(place).join(', ')})`;
  }
  return lead === 'state'
    ? `${AT_REST} AND state IN (${states.map(place).join(', ')})`
    : `(state || '') IN (${states.map(place).join(', ')})`;
}

/** Of those that settled before transactions had an index of their own, and are not counted since. */
const UNINDEXED = `transaction_id IS NULL AND settled_at IS NOT NULL
  AND (revenue_counted = 0 OR (cost_counted = 0 AND answer IS NOT NULL))`;

/** `isUnindexed`: of a transaction that its index does not find. */
export function listPayments(filter: PaymentFilter, isUnindexed = false): Statement {
  const { states, since, updatedSince, leaseBefore, due, payer, transaction, route, network } = filter;
  const { before, withoutAnswers, oldest, ofEachNetwork, limit } = filter;
  const lead = leadOf(filter);
  const values: (string | number)[] = [limit];
  const place = (value: string | number): string => `?${values.push(value)}`;
  /** No engine may begin with another index than the one that leads. */
  const column = (name: Lead): string => (lead === name ? name : `(${name} || '')`);
  /** Nor with that of all payments in their order, where few are found by their owners. */
  const createdAt = lead === 'owner' ? '+created_at' : 'created_at';
  const conditions = ['TRUE'];
  if (since !== undefined) conditions.push(`${createdAt} >= ${place(since)}`);
  if (updatedSince !== undefined) conditions.push(`updated_at >= ${place(updatedSince)}`);
  if (lead === 'owner') conditions.push("owner <> ''");
  if (leaseBefore !== undefined) conditions.push(`lease_until < ${place(leaseBefore)}`);
  if (due) {
    const [now, least, most] = [due.now, due.least, due.most].map(place);
    conditions.push(`${now} - updated_at >= ${least}
      AND (${now} - updated_at >= updated_at - created_at OR ${now} - updated_at >= ${most})`);
  }
  if (payer !== undefined) {
    const address = place(payer.startsWith('0x') ? payer.toLowerCase() : payer);
    conditions.push(`${lead === 'payer' ? PAYER : `((${PAYER}) || '')`} = ${address}`);
  }
  if (transaction !== undefined && isUnindexed) {
    conditions.push(`${UNINDEXED} AND receipt LIKE ${place(`%"transaction":"${transaction}"%`)}`);
  } else if (transaction !== undefined) {
    conditions.push(`transaction_id = ${place(transaction)}`);
  }
  if (route !== undefined) conditions.push(`${column('route')} = ${place(route)}`);
  if (network !== undefined) conditions.push(`${column('network')} = ${place(network)}`);
  if (before !== undefined) conditions.push(`(${createdAt}, id) < (${place(before.createdAt)}, ${place(before.id)})`);
  if (states !== undefined) conditions.push(stateIn(states, lead, place));
  const columns = withoutAnswers ? WITHOUT_ANSWER : '*';
  const wanted = conditions.join(' AND ');
  const order = oldest ? 'updated_at, id' : `${createdAt} DESC, id DESC`;
  const text = ofEachNetwork
    ? `SELECT ${columns} FROM payments WHERE id IN (SELECT id FROM (
        SELECT id, ROW_NUMBER() OVER (PARTITION BY network || '' ORDER BY ${order}) AS place FROM payments WHERE ${wanted}
      ) AS placed WHERE place <= ?1) ORDER BY ${order}`
    : `SELECT ${columns} FROM payments WHERE ${wanted} ORDER BY ${order} LIMIT ?1`;
  return { text, values };
}
