/** The road of one call through the door: hold, ask, charge, answer. */
import type { ServerResponse } from 'node:http';
import type { ApiKey } from '../../store/credit-store.ts';
import { isWorthAnother, logSaid } from '../../upstream/fallback.ts';
import { UpstreamProblem } from '../../upstream/problem.ts';
import type { Naming } from './answer.ts';
import { type ChargeParts, openHold, type Use } from './charge.ts';
import type { ChatSource } from './models.ts';
import { completeBy } from './plain.ts';
import { errorAnswer } from './problems.ts';
import type { ChatCall } from './request.ts';
import { eventOf, streamBy } from './stream.ts';
import { watch } from './watch.ts';

export interface CompleteParts extends ChargeParts {
  /** Aborted when the gateway has to stop. */
  readonly stopping: AbortSignal;
}

interface Asked {
  /** Undefined for nothing. */
  readonly use: Use | undefined;
  /** Sends what is left to send. */
  finish(): void;
}

/** Answers the call. Throws what an error answer is made of, and then nothing was sent and nothing charged. */
export async function complete(
  parts: CompleteParts,
  key: ApiKey,
  call: ChatCall,
  response: ServerResponse,
  requestId: string,
): Promise<void> {
  const { log, stopping } = parts;
  const hold = await openHold(parts, key, call, requestId);
  const { signal, gone, end: stopWatching } = watch(response, stopping, call.model.deadlineMs);
  const naming: Naming = { id: `chatcmpl-${requestId.replaceAll('-', '')}`, model: call.model.name };
  let asked: Asked;
  try {
    asked = await (call.isStream ? stream() : plain());
  } catch (error) {
    await hold.release(noteOf(error, gone));
    if (!(error instanceof UpstreamProblem)) log.error({ requestId, err: error }, 'call failed in the gateway');
    else if (!gone.aborted) log.warn({ requestId, model: call.model.name, err: error }, 'call failed: not charged');
    if (!response.headersSent) throw error;
    // Part of the answer is with the caller already: the stream itself has to say that there is no more.
    if (!gone.aborted) response.end(eventOf(JSON.stringify({ error: errorAnswer(error).error })));
    return;
  } finally {
    stopWatching();
  }
  // A charge that fails leaves the hold to its lease.
  if (asked.use) await hold.settle(asked.use);
  else await hold.release('nothing was answered');
  asked.finish();

  async function plain(): Promise<Asked> {
    const { body, use } = await inOrder((source) => completeBy(source, call, naming, signal));
    return {
      use,
      finish() {
        response.setHeader('content-type', 'application/json');
        response.setHeader('content-length', Buffer.byteLength(body));
        response.end(body);
      },
    };
  }

  async function stream(): Promise<Asked> {
    const options = { call, naming, signal, gone };
    const { end, use } = await inOrder((source) => streamBy(source, response, options));
    // After the charge: who has read to the end finds it in the balance.
    return { use, finish: () => end === 'complete' && response.end(eventOf('[DONE]')) };
  }

  /** What has begun to be sent cannot be asked for elsewhere. */
  async function inOrder<Result>(ask: (source: ChatSource) => Promise<Result>): Promise<Result> {
    const { sources, name } = call.model;
    for (const [place, source] of sources.entries()) {
      try {
        return await ask({ ...source, binding: { ...source.binding, http: source.binding.http.forCaller(key.id) } });
      } catch (error) {
        logSaid(error, { requestId, model: name }, log);
        const isLast = place === sources.length - 1;
        if (isLast || response.headersSent || !isWorthAnother(error, signal)) throw error;
        const problem = error instanceof Error ? error.message : String(error);
        log.warn({ requestId, model: name, upstream: source.binding.upstream, problem }, 'asking the next upstream');
      }
    }
    throw new UpstreamProblem('unavailable', name, 'no upstream of this model has its keys');
  }
}

function noteOf(error: unknown, gone: AbortSignal): string {
  if (gone.aborted) return 'the caller went away before the answer';
  return errorAnswer(error).error.code;
}
