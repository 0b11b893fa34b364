/** A completion that is answered in one piece. Source: openai-openapi 2.3.0, `CreateChatCompletionResponse`. */
import type { ServerResponse } from 'node:http';
import { asJsonObject, asJsonObjects, isJsonObject, type JsonObject } from '../../json.ts';
import { type Naming, renamed, usageForCaller, usageOf } from './answer.ts';
import type { Reply } from './reply.ts';

type Fields = Record<string, unknown>;

interface Choice {
  readonly message: Fields;
  /** Reason, log probabilities and what else a host says of it. */
  readonly rest: Fields;
}

/** Characters of JSON that are kept of one answer: far more than the longest text of any model. */
const MOST_CHARACTERS = 32_000_000;

/** Nothing is sent before the end. */
export function wholeReply(response: ServerResponse, naming: Naming): Reply {
  const answer: Fields = {};
  const choices = new Map<number, Choice>();
  let usage: JsonObject | undefined;
  let characters = 0;

  function choiceAt(index: number): Choice {
    const known = choices.get(index);
    if (known) return known;
    const fresh = { message: { role: 'assistant', content: null, refusal: null }, rest: { logprobs: null } };
    choices.set(index, fresh);
    return fresh;
  }

  function send(): void {
    const listed = [...choices].sort(([one], [other]) => one - other);
    const whole = listed.map(([index, { message, rest }]) => ({ index, message: withoutPlaces(message), ...rest }));
    const body = JSON.stringify({
      ...renamed({ ...answer, object: 'chat.completion', choices: whole }, naming),
      ...(usage && { usage }),
    });
    response.setHeader('content-type', 'application/json');
    response.setHeader('content-length', Buffer.byteLength(body));
    response.end(body);
  }

  return {
    async add(part) {
      if (part.kind === 'waiting') return;
      const { choices: pieces, usage: counted, ...others } = part.chunk;
      Object.assign(answer, others);
      if (isJsonObject(counted)) usage = usageForCaller(counted);
      for (const { index, delta, ...rest } of asJsonObjects(pieces)) {
        const choice = choiceAt(Number(index ?? 0));
        characters += JSON.stringify([delta, rest]).length;
        merge(choice.message, asJsonObject(delta));
        merge(choice.rest, rest);
      }
    },
    get isFull() {
      return characters > MOST_CHARACTERS;
    },
    end: send,
    cut(unfinished, use) {
      for (const index of unfinished) choiceAt(index).rest.finish_reason = 'length';
      usage ??= usageOf(use);
      send();
    },
  };
}

/** The texts that come in pieces; any other comes whole. */
const PIECEWISE: ReadonlySet<string> = new Set([
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'arguments',
  'text',
  'summary',
]);

/** Adds what a chunk has to what came before it. */
function merge(whole: Fields, piece: JsonObject): void {
  for (const [name, value] of Object.entries(piece)) {
    // A provider's own name for it would reach the prototype of every object.
    if (name === '__proto__') continue;
    whole[name] = merged(name, whole[name] ?? null, value ?? null);
  }
}

function merged(name: string, before: unknown, value: unknown): unknown {
  if (value === null || (value === '' && before !== null)) return before;
  if (typeof value === 'string') return typeof before === 'string' && PIECEWISE.has(name) ? before + value : value;
  if (Array.isArray(value)) return mergedLists(Array.isArray(before) ? before : [], value);
  if (!isJsonObject(value)) return value;
  const whole: Fields = { ...asJsonObject(before) };
  merge(whole, value);
  return whole;
}

/** Items that come in pieces have an `index`; others come whole. */
function mergedLists(list: unknown[], pieces: readonly unknown[]): unknown[] {
  for (const piece of pieces) {
    const { index } = asJsonObject(piece);
    const place = typeof index === 'number' ? list.findIndex((item) => asJsonObject(item).index === index) : -1;
    if (place >= 0) list[place] = merged('', list[place], piece);
    else list.push(piece);
  }
  return list;
}

/** Only the chunks of a stream number its calls. */
function withoutPlaces(message: Fields): Fields {
  if (!Array.isArray(message.tool_calls)) return message;
  return { ...message, tool_calls: asJsonObjects(message.tool_calls).map(({ index: _, ...call }) => call) };
}
