import type { ServerResponse } from 'node:http';

export interface Watch {
  /** Aborted when the caller goes away, at the deadline (a TimeoutError) and when the gateway has to stop. */
  readonly signal: AbortSignal;
  /** Aborted when the caller goes away before it has its answer. */
  readonly gone: AbortSignal;
  /** Once, when the call is over: nothing of it stays behind on signals and timers that live longer. */
  end(): void;
}

/** Why a call may have to stop before its end. */
export function watch(response: ServerResponse, stopping: AbortSignal, deadlineMs: number): Watch {
  const call = new AbortController();
  const caller = new AbortController();
  const closed = () => {
    if (response.writableFinished) return;
    caller.abort();
    call.abort(caller.signal.reason);
  };
  const stop = () => call.abort(stopping.reason);
  const late = () => call.abort(new DOMException('the deadline has passed', 'TimeoutError'));
  const timer = setTimeout(late, deadlineMs);
  response.once('close', closed);
  stopping.addEventListener('abort', stop, { once: true });
  if (response.destroyed) closed();
  if (stopping.aborted) stop();
  return {
    signal: call.signal,
    gone: caller.signal,
    end() {
      clearTimeout(timer);
      response.off('close', closed);
      stopping.removeEventListener('abort', stop);
    },
  };
}
