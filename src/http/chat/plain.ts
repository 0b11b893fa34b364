/** A completion that is answered in one piece. */
import { tokensOf } from '../../pricing/token-estimate.ts';
import { reportedUse } from '../../pricing/tokens.ts';
import { UpstreamProblem } from '../../upstream/problem.ts';
import { chatErrorStatuses, errorProblem } from '../../upstream/providers/openai/chat.ts';
import { type Naming, renamed, saidWeight, usageForCaller } from './answer.ts';
import { costOf, type Use } from './charge.ts';
import type { ChatSource } from './models.ts';
import { type ChatCall, type Fields, isFields, upstreamBody } from './request.ts';

export interface PlainAnswer {
  readonly body: string;
  readonly use: Use;
}

/** Asks one source. Throws UpstreamProblem. */
export async function completeBy(
  { binding, model }: ChatSource,
  call: ChatCall,
  naming: Naming,
  signal: AbortSignal,
): Promise<PlainAnswer> {
  const response = await binding.http.request({
    method: 'POST',
    path: '/chat/completions',
    json: upstreamBody(call, model),
    signal,
    accept: chatErrorStatuses,
  });
  const answer = response.json();
  if (response.status >= 400) throw errorProblem(binding.upstream, response.status, answer);
  if (!isFields(answer)) throw new UpstreamProblem('malformed', binding.upstream, 'answered no JSON object');
  // OpenRouter reports a provider's failure inside a 200.
  if (isFields(answer.error)) throw errorProblem(binding.upstream, response.status, answer);
  const messages = messagesOf(answer);
  if (messages.length === 0) throw new UpstreamProblem('malformed', binding.upstream, 'answered no message');
  const usage = isFields(answer.usage) ? answer.usage : undefined;
  const body = { ...renamed(answer, naming), ...(usage && { usage: usageForCaller(usage) }) };
  return { body: JSON.stringify(body), use: useOf(answer, messages, call) };
}

function messagesOf({ choices }: Fields): Fields[] {
  const messages = Array.isArray(choices)
    ? choices.map((choice) => (isFields(choice) ? choice.message : undefined))
    : [];
  return messages.filter(isFields);
}

/** As the provider counted it; providers that do not count are rare. */
function useOf(answer: Fields, messages: readonly Fields[], { promptTokens }: ChatCall): Use {
  const cost = costOf(isFields(answer.usage) ? answer.usage : undefined);
  const counted = reportedUse(answer);
  if (counted) return { ...counted, isEstimated: false, cost };
  return { promptTokens, completionTokens: tokensOf(saidWeight(messages)), isEstimated: true, cost };
}
