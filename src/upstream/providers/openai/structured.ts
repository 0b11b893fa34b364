import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../../../catalogue/types.ts';
import type { CallContext } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';
import { type ChatBinding, type ChatMessage, type ChatModel, chat } from './chat.ts';

interface StructuredRequest {
  /** Names the schema to the model: letters, digits, `_` and `-`. */
  readonly name: string;
  /** Every property required and `additionalProperties: false`, as strict output asks. */
  readonly schema: JsonSchema;
  readonly messages: readonly ChatMessage[];
}

/** Several times what any schema takes, thinking included: a caller's words may ask a model for volumes. */
const MOST_TOKENS = 8192;

/** An Ajv keeps what it compiled for ever, and recipes make schemas per request: each gets its own. */
const openAjv = () => new Ajv2020({ allErrors: true, strict: false, meta: false, validateSchema: false });
const compiled = new WeakMap<JsonSchema, ValidateFunction>();

/**
 * A value of the schema's type from a chat model. What does not fit goes back to the model once, with what is wrong.
 * Throws UpstreamProblem: `malformed` when the second answer does not fit either.
 */
export async function structured<Value>(
  binding: ChatBinding,
  request: StructuredRequest,
  context: Pick<CallContext, 'signal' | 'reportCost' | 'once'>,
): Promise<Value> {
  const ask = async (messages: readonly ChatMessage[]) => {
    const { text, finishReason } = await chat(binding, formatted(binding.model, request, messages), context);
    if (finishReason !== 'length') return text;
    throw new UpstreamProblem('malformed', binding.upstream, `${request.name}: wrote more than its schema takes`);
  };
  // What is drawn in the same call is drawn of these words.
  return await context.once([binding.model.id, request.messages], () =>
    askUntilItFits<Value>(binding.upstream, request, ask),
  );
}

/** The same for a model behind another protocol: `ask` puts a conversation to it and gives its text. */
export async function askUntilItFits<Value>(
  upstream: string,
  request: Pick<StructuredRequest, 'name' | 'schema' | 'messages'>,
  ask: (messages: readonly ChatMessage[]) => Promise<string>,
): Promise<Value> {
  const validate = compiled.get(request.schema) ?? openAjv().compile(request.schema);
  compiled.set(request.schema, validate);
  const text = await ask(request.messages);
  const first = checked<Value>(text, validate);
  if (first.faults === undefined) return first.value;
  const reproach = `That does not fit the schema: ${first.faults}. Answer again with the corrected JSON only.`;
  const second = checked<Value>(
    await ask([...request.messages, { role: 'assistant', content: text }, { role: 'user', content: reproach }]),
    validate,
  );
  if (second.faults === undefined) return second.value;
  throw new UpstreamProblem('malformed', upstream, `${request.name}: answered twice what does not fit its schema`, {
    providerMessage: second.faults,
  });
}

/** Strict JSON schema where the model has it, else JSON mode with the schema in the instructions. */
function formatted(model: ChatModel, { name, schema }: StructuredRequest, messages: readonly ChatMessage[]) {
  const maxTokens = Math.min(MOST_TOKENS, model.maxOutput ?? MOST_TOKENS);
  if (model.supportsJsonSchema !== false) {
    return {
      messages,
      maxTokens,
      responseFormat: { type: 'json_schema', json_schema: { name, strict: true, schema } },
    };
  }
  const rule = {
    role: 'system',
    content: `Answer with one JSON object that fits this JSON Schema: ${JSON.stringify(schema)}`,
  };
  return { messages: [rule, ...messages], maxTokens, responseFormat: { type: 'json_object' } };
}

/** Models like to wrap JSON in a Markdown fence, and some write blanks without end, which are looked at once. */
const withoutFence = (text: string): string =>
  text
    .trim()
    .replace(/^```(?:json)?/, '')
    .replace(/```$/, '');

type Checked<Value> = { value: Value; faults: undefined } | { faults: string };

function checked<Value>(text: string, validate: ValidateFunction): Checked<Value> {
  let value: unknown;
  try {
    value = JSON.parse(withoutFence(text));
  } catch {
    return { faults: 'it is not JSON' };
  }
  if (validate(value)) return { value: value as Value, faults: undefined };
  return { faults: openAjv().errorsText(validate.errors, { dataVar: 'answer' }) };
}
