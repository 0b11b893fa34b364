/** What was offered is kept, also where the catalogue has changed since: a payer may be signing while it does. */
import { Problem, type ProblemCode } from '../errors.ts';
import type { IncomingRequest, Lifecycle } from './lifecycle.ts';
import type { Outcome } from './outcome.ts';

/** How a request ends that an earlier catalogue may have taken. */
const refusals: ReadonlySet<ProblemCode> = new Set([
  'unknown_path',
  'method_not_allowed',
  'body_too_large',
  'invalid_request',
  'invalid_json',
  'method_unsupported',
  // What such a request is owed, an earlier one may serve.
  'result_owed',
  // What was worked for and did not settle is settled on the terms that it was signed for.
  'settlement_pending',
  // What is wrong with it by now counts, and what it bought can be had whatever its address did.
  'rate_limited',
]);

const isRefused = (outcome: Outcome): boolean =>
  !outcome.isClaimed &&
  (outcome.kind === 'challenge' || (outcome.kind === 'problem' && refusals.has(outcome.problem.code)));

/** The headers in which a payment may come; a tool call says it by itself. */
const carriesPayment = ({ headers, tool }: IncomingRequest): boolean =>
  tool
    ? Object.keys(tool.meta).length > 0
    : [headers['payment-signature'], headers['x-payment'], headers.authorization].some((value) => value !== undefined);

/**
 * Answers with the current lifecycle, and a payment that it refuses before anything was claimed with the first earlier one
 * that takes it.
 */
export function honouringEarlier(
  current: Pick<Lifecycle, 'answer' | 'bodyLimitOf'>,
  earlier: () => readonly Pick<Lifecycle, 'answer' | 'bodyLimitOf'>[],
): Pick<Lifecycle, 'answer'> {
  return {
    async answer(incoming) {
      const others = earlier();
      if (others.length === 0 || !carriesPayment(incoming)) return current.answer(incoming);
      const limits = [current, ...others].map((each) => each.bodyLimitOf(incoming.path));
      const request: IncomingRequest = { ...withBodyOnce(incoming, Math.max(...limits)), counted: new Set() };
      const outcome = await current.answer(request);
      if (!isRefused(outcome)) return outcome;
      for (const other of others) {
        const honoured = await other.answer({ ...request, isHonoured: true });
        if (!isRefused(honoured)) return honoured;
      }
      return outcome;
    },
  };
}

/** A body comes once: as much of it is read as any of them takes. */
function withBodyOnce(request: IncomingRequest, mostBytes: number): IncomingRequest {
  let body: Promise<Buffer> | undefined;
  return {
    ...request,
    async readBody(limitBytes) {
      body ??= request.readBody(mostBytes);
      const bytes = await body;
      if (bytes.length > limitBytes) {
        throw new Problem('body_too_large', `The body is larger than ${limitBytes} bytes`);
      }
      return bytes;
    },
  };
}
