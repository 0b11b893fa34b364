/** What a conversation may hold here: text, pictures, and calls of the caller's own functions. */
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { ChatMessage } from '../../upstream/providers/openai/chat.ts';
import { knownMessages, MessageProblem } from '../../upstream/providers/openai/messages.ts';
import { ApiKeyProblem } from './problems.ts';

const invalid = (param: string, message: string) =>
  new ApiKeyProblem('invalid_value', `${param} ${message}`, { param });

/** The messages, made anew from their known fields. Throws ApiKeyProblem. What the model's provider checks is left to it. */
export function readMessages(messages: unknown): ChatMessage[] {
  if (!Array.isArray(messages) || messages.length === 0) throw invalid('messages', 'is not a list with a message');
  try {
    return knownMessages(messages);
  } catch (problem) {
    if (!(problem instanceof MessageProblem)) throw problem;
    throw new ApiKeyProblem('invalid_value', problem.message, { param: problem.place });
  }
}

/**
 * The caller's own functions, made anew from their known fields. Throws ApiKeyProblem for a provider's tools, such as a
 * web search: they are billed by the call.
 */
export function readTools(tools: unknown): JsonObject[] {
  if (!Array.isArray(tools)) throw invalid('tools', 'is not a list');
  return tools.map((tool, index) => {
    if (!isJsonObject(tool) || tool.type !== 'function') {
      throw invalid(`tools[${index}].type`, 'is not supported here: it takes function');
    }
    return { type: 'function', function: knownFunction(tool.function, `tools[${index}].function`) };
  });
}

/** The older form of tools. Throws ApiKeyProblem. */
export function readFunctions(functions: unknown): JsonObject[] {
  if (!Array.isArray(functions)) throw invalid('functions', 'is not a list');
  return functions.map((given, index) => knownFunction(given, `functions[${index}]`));
}

function knownFunction(given: unknown, place: string): JsonObject {
  if (!isJsonObject(given)) throw invalid(place, 'is not an object');
  const { name, description, parameters, strict } = given;
  return { name, description, parameters, strict };
}
