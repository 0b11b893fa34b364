/** One payment buys one call at a time, and few in all. */
import type { Payment } from '../../../src/store/store.ts';
import type { Purchase } from '../purchase.ts';
import type { Call } from '../upstream.ts';
import type { Evidence } from './evidence.ts';
import type { Violation } from './violation.ts';

/** As the README says: three in all, twenty where the result is owed. */
const MOST = { unsettled: 3, owed: 20 } as const;

export function checkUpstream({ purchases, calls, books }: Evidence): Violation[] {
  const byMark = new Map<string, Call[]>();
  for (const call of calls) byMark.set(call.mark ?? '', [...(byMark.get(call.mark ?? '') ?? []), call]);
  return purchases.flatMap((purchase) => {
    const own = byMark.get(purchase.mark) ?? [];
    const rows = purchase.proofs.flatMap(({ payment }) => books.payments.get(payment) ?? []);
    return [...together(purchase, own), ...tooMany(purchase, own, rows), ...afterAnswer(purchase, own)];
  });
}

/** Calls of gateways that were killed or stopped meanwhile are nobody's. Several payments may each have one. */
function together({ mark, proofs }: Purchase, calls: readonly Call[]): Violation[] {
  const own = calls.filter(({ isAbandoned }) => !isAbandoned);
  return own.flatMap((call) => {
    const beside = own.filter(
      (other) => other.begunAt <= call.begunAt && (other.endedAt ?? Number.POSITIVE_INFINITY) > call.begunAt,
    );
    if (beside.length <= proofs.length) return [];
    const text = `${beside.length} calls at a time at ${call.begunAt} ms, for ${proofs.length} payments`;
    return [{ promise: 'one payment buys one call at a time', text, mark }];
  });
}

function tooMany({ mark }: Purchase, calls: readonly Call[], rows: readonly Payment[]): Violation[] {
  const most = rows.reduce((sum, { settleUpfront }) => sum + (settleUpfront ? MOST.owed : MOST.unsettled), 0);
  if (calls.length <= most) return [];
  return [{ promise: 'calls for one payment are bounded', text: `${calls.length} calls, at most ${most}`, mark }];
}

function afterAnswer({ mark, received }: Purchase, calls: readonly Call[]): Violation[] {
  const answeredAt = received.find(({ answer }) => answer.status === 200)?.at;
  const late = calls.filter(({ begunAt }) => answeredAt !== undefined && begunAt > answeredAt);
  if (late.length === 0) return [];
  const text = `answered at ${answeredAt} ms, and a provider was asked at ${late[0]?.begunAt} ms`;
  return [{ promise: 'what was answered is not worked for again', text, mark }];
}
