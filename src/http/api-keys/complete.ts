/** What happens to one call: hold, ask, charge, answer. */
import type { ServerResponse } from 'node:http';
import { toProblem } from '../../lifecycle/fulfil.ts';
import type { Gate } from '../../limits/limits.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { rateToDecimal, toDecimal } from '../../money.ts';
import type { Visit } from '../../request/visit.ts';
import type { ApiKey } from '../../store/credits/credit-store.ts';
import type { StoredAnswer } from '../../store/stored-answer.ts';
import { deadline } from '../../timing.ts';
import { callInOrder } from '../../upstream/fallback.ts';
import { UpstreamProblem } from '../../upstream/problem.ts';
import { streamCompletion } from '../../upstream/providers/openai/chat-client.ts';
import type { Naming } from './answer.ts';
import { type ChargeParts, openHold, ROUTE, type Use } from './charge.ts';
import type { ChatSource } from './models.ts';
import { errorAnswer } from './problems.ts';
import type { Reply } from './reply.ts';
import { type ChatCall, upstreamBody } from './request.ts';
import { eventOf, streamedReply } from './streamed.ts';
import { createTally } from './tally.ts';
import { wholeReply } from './whole.ts';

export interface CompleteParts extends ChargeParts {
  readonly metrics?: Pick<Metrics, 'tokens' | 'cost'>;
}

/** What has to be paid, and how its answer ends. */
interface Answered {
  readonly use: Use;
  readonly reply: Reply;
  /** What is left to send. */
  readonly end: string;
}

/**
 * Answers the call. Once the upstream has begun to answer, the call is charged whatever ends it: the provider's answer is
 * read to its end though the caller has left, until the model's deadline or the gateway's end. Throws what an error
 * answer is made of, and then nothing was sent and nothing charged. The gate is told of calls that were worked for until
 * the deadline and have nothing to charge.
 */
export async function complete(
  parts: CompleteParts,
  key: ApiKey,
  call: ChatCall,
  response: ServerResponse,
  visit: Visit,
  gate: Pick<Gate, 'asks' | 'ended'>,
): Promise<void> {
  const { log, stopping } = parts;
  const { model } = call;
  const { requestId, trace } = visit;
  const details = { requestId, model: model.name };
  const naming: Naming = { id: `chatcmpl-${requestId.replaceAll('-', '')}`, model: model.name };
  const hold = await openHold(parts, key, call, requestId);
  if ('body' in hold) {
    // It costs its caller nothing, as asking for a price does.
    gate.asks();
    visit.isReplayed = true;
    if (!response.destroyed) sendAgain(response, hold);
    return;
  }
  if (response.destroyed) {
    await hold.release('the caller went away before the provider was asked');
    return;
  }
  const { signal, done } = deadline(model.deadlineMs, stopping);
  const askedAt = performance.now();
  let hasBegun = false;
  let answered: Answered;
  try {
    answered = await callInOrder(model.sources, ask, {
      subject: model.name,
      details,
      signal,
      log,
      redact: (text) => model.sources.reduce((shown, { binding }) => binding.http.redact(shown), text),
      // What has begun to be sent cannot be asked for elsewhere, and nobody waits who left.
      mayAskAnother: () => !response.headersSent && !response.destroyed,
    });
  } catch (error) {
    // What a provider was not left the time for is none of its faults.
    const failure = stopping.aborted && error instanceof UpstreamProblem ? toProblem(error, { stopping }) : error;
    const { status, error: shown } = errorAnswer(failure);
    await hold.release(shown.code);
    // A model that thinks out of sight is billed to us by what it thought.
    if (hasBegun && signal.aborted && !stopping.aborted) gate.ended('wasted');
    if (error instanceof UpstreamProblem) log.warn({ ...details, err: error }, 'call failed: not charged');
    else log.error({ requestId, err: error }, 'call failed in the gateway');
    if (response.destroyed) {
      if (!response.headersSent) response.statusCode = status;
      return;
    }
    if (!response.headersSent) throw failure;
    // A stream has begun already: it has to say itself that nothing comes.
    response.end(eventOf({ error: shown }));
    return;
  } finally {
    done();
    visit.upstreamMs = Math.round(performance.now() - askedAt);
  }
  // A charge that fails leaves the hold to its lease. Who has read to the end finds the charge in the balance.
  const { use, reply, end } = answered;
  visit.amount = toDecimal(await hold.settle(use, () => reply.kept(end)));
  if (use.cost !== undefined) visit.cost = rateToDecimal(use.cost);
  if (!response.destroyed) reply.finish(end);
  if (!use.isEstimated) parts.metrics?.tokens(model.name, use);

  async function ask({ binding, model: asked }: ChatSource): Promise<Answered> {
    const { upstream } = binding;
    const tally = createTally(call.promptTokens);
    const patienceMs = model.deadlineMs / 10;
    const reply = call.isStream
      ? streamedReply(response, {
          naming,
          wantsUsage: call.wantsUsage,
          signal,
          patienceMs,
          isKept: call.named !== undefined,
        })
      : wholeReply(response, naming);
    try {
      const host = { ...binding, http: binding.http.forCaller(key.id, { requestId, trace }) };
      for await (const part of streamCompletion(host, upstreamBody(call, asked), signal)) {
        hasBegun = true;
        if (part.kind === 'chunk') tally.add(part.chunk);
        await reply.add(part);
        // It is charged: what is left would cost as much again, and nobody could be given it.
        if (reply.isFull) return cutShort();
      }
    } catch (error) {
      if (!tally.hasOutput) throw error;
      if (signal.aborted) return cutShort();
      const use = tally.use();
      // Of a plain call, nothing went out yet: it fails, or another provider answers it.
      if (!response.headersSent && !response.destroyed) throw error;
      log.warn({ ...details, err: error }, 'call broke off: charged what came');
      return { use, reply, end: reply.broken(error, tally.unfinished(), use) };
    } finally {
      // What is charged to nobody may have cost something as well.
      const { cost } = tally.use();
      if (cost !== undefined) parts.metrics?.cost({ endpoint: ROUTE, upstream }, rateToDecimal(cost));
    }
    if (!tally.hasChoice) throw new UpstreamProblem('malformed', upstream, 'answered no message');
    return { use: tally.use(), reply, end: reply.end() };

    function cutShort(): Answered {
      const use = tally.use();
      return { use, reply, end: reply.cut(tally.unfinished(), use) };
    }
  }
}

/** What a call of the same name was answered, and charged. */
function sendAgain(response: ServerResponse, { status, contentType, body }: StoredAnswer): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'idempotency-replayed': 'true',
  });
  response.end(body);
}
