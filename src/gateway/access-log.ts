/** One line for each request, when it has ended. */
import type { Log } from '../log.ts';
import type { Ended } from '../request/visit.ts';

/** `unpaid`: the part of those who only ask for a price that has a line, 0 to 1. */
export function openAccessLog(log: Log, unpaid: number): Ended {
  return (visit) => {
    if (visit.isProbe && unpaid < 1 && Math.random() >= unpaid) return;
    if (log.isLevelEnabled?.('info') === false) return;
    const { requestId, route, door, method, status, bytes, amount, network, payer, transaction, cost, attempt } = visit;
    log.info(
      {
        requestId,
        traceId: visit.trace?.id,
        route,
        door,
        method,
        status,
        ms: Math.round(visit.ms * 10) / 10,
        bytes,
        isCut: visit.isCut || undefined,
        amount,
        network,
        payer,
        transaction,
        upstreamMs: visit.upstreamMs,
        cost,
        attempt,
        replayed: visit.isReplayed || undefined,
      },
      'request',
    );
  };
}
