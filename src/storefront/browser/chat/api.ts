/** What the chat asks of the gateway: OpenAI's chat completions, models, and the credits of a key. */
import { readEvents } from '../../../client/events.ts';
import { CHAT_PATH, CREDITS_PATH, MODELS_PATH } from '../../../paths.ts';
import { textOf } from '../event-text.ts';

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface Model {
  readonly id: string;
  /** Dollars for a million tokens, decimal. */
  readonly pricing: { readonly input: string; readonly output: string };
}

/** What went wrong, in words for the person who chats. */
export class ChatProblem extends Error {
  readonly isKeyAtFault: boolean;
  constructor(message: string, isKeyAtFault = false) {
    super(message);
    this.isKeyAtFault = isKeyAtFault;
  }
}

interface ToldError {
  readonly error?: { readonly message?: string; readonly code?: string };
}

const NEXT: Readonly<Record<string, string>> = {
  invalid_api_key: 'Check the key, or use another one.',
  insufficient_credits: 'Buy credits for this key, choose a cheaper model, or begin a new conversation.',
  model_not_allowed: 'Choose another model.',
  call_limit_exceeded: 'Choose a cheaper model, or begin a new conversation.',
  daily_limit_exceeded: 'Try again tomorrow (UTC), or use another key.',
  too_many_calls: 'Wait for the other answers, then send it again.',
};

const inWords = (said: string, next: string): string => `${said.replace(/\.?$/, '.')} ${next}`.trim();

async function problemOf(response: Response): Promise<ChatProblem> {
  const { error = {} } = (await response.json().catch(() => ({}))) as ToldError;
  const said = error.message ?? `The gateway answered with status ${response.status}`;
  const next = NEXT[error.code ?? ''] ?? (response.status >= 500 ? 'Try again in a moment.' : '');
  return new ChatProblem(inWords(said, next), response.status === 401);
}

/** A stream that has begun says itself why no more comes. */
function problemIn(data: string): ChatProblem | undefined {
  if (data === '[DONE]') return undefined;
  const { error } = JSON.parse(data) as ToldError;
  return error && new ChatProblem(inWords(error.message ?? 'The answer broke off', 'Send it again.'));
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { cache: 'no-store', ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ChatProblem('The gateway could not be reached. Try again in a moment.');
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

const authorized = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** Throws ChatProblem. */
export async function readModels(key: string): Promise<readonly Model[]> {
  const response = await ask(MODELS_PATH, { headers: authorized(key) });
  return ((await response.json()) as { data: Model[] }).data;
}

/** Dollars, decimal. Throws ChatProblem. */
export async function readBalance(key: string): Promise<string> {
  const response = await ask(CREDITS_PATH, { headers: authorized(key) });
  return ((await response.json()) as { balance_usd: string }).balance_usd;
}

/** The pieces of the answer as they come. Throws ChatProblem, and what an aborted `fetch` throws. */
export async function* complete(
  key: string,
  model: string,
  messages: readonly Message[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const response = await ask(CHAT_PATH, {
    method: 'POST',
    signal,
    headers: { ...authorized(key), 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, stream: true }),
  });
  if (!response.body) return;
  let isWhole = false;
  try {
    for await (const { data } of readEvents(response.body)) {
      const problem = problemIn(data);
      if (problem) throw problem;
      isWhole ||= data === '[DONE]';
      yield textOf(data);
    }
  } catch (error) {
    if (signal.aborted || error instanceof ChatProblem) throw error;
  }
  if (!isWhole && !signal.aborted) throw new ChatProblem('The answer broke off. Send it again.');
}

/** The key that a sandbox gives to everybody. Throws ChatProblem. */
export async function readSandboxKey(): Promise<string> {
  const response = await ask('/sandbox');
  return ((await response.json()) as { apiKey: string }).apiKey;
}
