/** Outcomes of the lifecycle as the result of a tool. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { Problem } from '../errors.ts';
import { isJsonObject } from '../json.ts';
import type { Outcome } from '../lifecycle/outcome.ts';
import type { Rail } from '../payment/rail.ts';
import { isForgotten, type StoredAnswer } from '../store/stored-answer.ts';
import type { Called } from './call.ts';
import { type Media, mediaBlocks } from './media-blocks.ts';
import { WRAPPED } from './sold-tools.ts';

interface ResultParts {
  readonly rails: ReadonlyMap<string, Rail>;
  readonly media: Media;
}

type Result = Extract<Outcome, { kind: 'result' }>;
type ChallengeOutcome = Extract<Outcome, { kind: 'challenge' }>;

const text = (value: string): CallToolResult['content'][0] => ({ type: 'text', text: value });

/** What went wrong, for programs and for models. */
export function problemResult(error: unknown, requestId?: string): CallToolResult {
  const problem = error instanceof Problem ? error : new Problem('internal_error');
  const { code, message, details } = problem;
  const retryAfter = problem.headers['retry-after'];
  const structured = {
    error: {
      code,
      message,
      ...(details && { details }),
      ...(retryAfter !== undefined && { retryAfterSeconds: Number(retryAfter) }),
      ...(requestId !== undefined && { requestId }),
    },
  };
  return { isError: true, structuredContent: structured, content: [text(JSON.stringify(structured))] };
}

/** What is asked for, on every rail at once: clients of each find their own part of it. */
function challengeResult(
  { rails }: ResultParts,
  challenges: readonly ChallengeOutcome[],
  meta: CallToolResult['_meta'],
): CallToolResult {
  const words = challenges.flatMap(({ rail, challenge }) => rails.get(rail)?.mcp.challenge(challenge) ?? []);
  const refusal = challenges.find(({ challenge }) => challenge.refusal)?.challenge.refusal;
  const merged = Object.assign({}, ...words.map((each) => each.meta));
  const said = words.find(({ structured }) => structured)?.structured;
  // One that was refused on another rail is told of where everybody looks. Where a scheme has its own word, clients look for that.
  const structured = said && refusal && !refusal.correction ? { ...said, error: refusal.message } : said;
  return {
    isError: true,
    ...(structured && { structuredContent: structured }),
    content: [text(JSON.stringify(structured ?? merged))],
    _meta: { ...merged, ...meta },
  };
}

/** An answer as it is, where it is an object, and in one where it is not. */
function structuredAnswer({ contentType, body }: StoredAnswer): Record<string, unknown> | undefined {
  if (!contentType.startsWith('application/json')) return undefined;
  const value: unknown = JSON.parse(body);
  return isJsonObject(value) ? value : { [WRAPPED]: value };
}

async function answerResult(
  { rails, media }: ResultParts,
  { rail, answer, receipt, replayed, requestId }: Result & Pick<Outcome, 'requestId'>,
  call: Called['call'],
): Promise<CallToolResult> {
  const words = rails.get(rail)?.mcp;
  const isGone = isForgotten(answer);
  const receipts = receipt && (!isGone || words?.tellsOwed) && words?.receipt(receipt, call);
  const meta = { ...receipts, ...(replayed && { 'turnpike/replayed': true }), 'turnpike/request-id': requestId };
  if (isGone) return { ...problemResult(new Problem('answer_gone'), requestId), _meta: meta };
  const structured = structuredAnswer(answer);
  const blocks = structured ? await mediaBlocks(structured, answer.body, media) : [];
  return {
    content: [text(answer.body), ...blocks],
    ...(structured && { structuredContent: structured }),
    _meta: meta,
  };
}

/** As over HTTP. */
export function statusOf(outcome: Outcome): number {
  if (outcome.kind === 'challenge') return 402;
  return outcome.kind === 'problem' ? outcome.problem.status : outcome.answer.status;
}

export async function toolResult(
  parts: ResultParts,
  [{ call, outcome }, ...others]: readonly [Called, ...Called[]],
): Promise<CallToolResult> {
  const { requestId } = outcome;
  if (outcome.kind === 'result') return await answerResult(parts, outcome, call);
  if (outcome.kind === 'problem') {
    const { problem, rail = '', receipt } = outcome;
    const words = parts.rails.get(rail)?.mcp;
    const receipts = receipt && words?.tellsOwed && words.receipt(receipt, call);
    return { ...problemResult(problem, requestId), ...(receipts && { _meta: { ...receipts } }) };
  }
  const challenges = [outcome, ...others.map((other) => other.outcome)].filter((each) => each.kind === 'challenge');
  return challengeResult(parts, challenges, { 'turnpike/request-id': requestId });
}
