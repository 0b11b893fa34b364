/**
 * A completion that is put together from its chunks. Source: openai-openapi 2.3.0, `CreateChatCompletionResponse` and
 * `CreateChatCompletionStreamResponse`.
 */
import { asJsonObject, asJsonObjects, isJsonObject, type JsonObject } from '../../json.ts';
import { type Naming, renamed, usageForCaller, usageOf } from './answer.ts';
import type { Use } from './charge.ts';

type Fields = Record<string, unknown>;

interface Choice {
  readonly message: Fields;
  /** Reason, log probabilities and what else a host says of it. */
  readonly rest: Fields;
}

export interface Completion {
  add(chunk: JsonObject): void;
  /** Of JSON that has come, so many. */
  readonly characters: number;
  /** The choices that were not at their end have `length` as reason, and what nobody counted is our own count. */
  cut(unfinished: readonly number[], use: Use): void;
  /** In one piece. */
  whole(): JsonObject;
  /** In as few chunks as there can be. `wantsUsage`: with the one of the usage, where it was counted. */
  chunks(wantsUsage: boolean): JsonObject[];
}

export function openCompletion(naming: Naming): Completion {
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

  const inOrder = () => [...choices].sort(([one], [other]) => one - other);

  return {
    add({ choices: pieces, usage: counted, ...others }) {
      Object.assign(answer, others);
      if (isJsonObject(counted)) usage = usageForCaller(counted);
      for (const { index, delta, ...rest } of asJsonObjects(pieces)) {
        const choice = choiceAt(Number(index ?? 0));
        characters += JSON.stringify([delta, rest]).length;
        merge(choice.message, asJsonObject(delta));
        merge(choice.rest, rest);
      }
    },
    get characters() {
      return characters;
    },
    cut(unfinished, use) {
      for (const index of unfinished) choiceAt(index).rest.finish_reason = 'length';
      usage ??= usageOf(use);
    },
    whole() {
      const listed = inOrder().map(([index, { message, rest }]) => ({
        index,
        message: withoutPlaces(message),
        ...rest,
      }));
      return {
        ...renamed({ ...answer, object: 'chat.completion', choices: listed }, naming),
        ...(usage && { usage }),
      };
    },
    chunks(wantsUsage) {
      const chunk = (listed: readonly object[], counted: JsonObject | null): JsonObject => ({
        ...renamed({ ...answer, object: 'chat.completion.chunk', choices: listed }, naming),
        ...(wantsUsage && { usage: counted }),
      });
      const listed = inOrder();
      // As OpenAI begins: its own client counts the probabilities twice that come with a choice's first chunk.
      const begun = listed.map(([index, { message }]) => ({
        index,
        delta: { role: message.role },
        finish_reason: null,
      }));
      const said = listed.map(([index, { message, rest }]) => {
        const { role: _, ...delta } = message;
        return { index, delta, ...rest, finish_reason: null };
      });
      const ends = listed.flatMap(([index, { rest }]) =>
        rest.finish_reason ? [{ index, delta: {}, finish_reason: rest.finish_reason }] : [],
      );
      return [
        ...[begun, said, ends].filter((each) => each.length > 0).map((each) => chunk(each, null)),
        ...(wantsUsage && usage ? [chunk([], usage)] : []),
      ];
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
