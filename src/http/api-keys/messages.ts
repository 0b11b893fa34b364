/** What a conversation may hold here: text, pictures, and calls of the caller's own functions. */
import { isJsonObject } from '../../json.ts';
import { ApiKeyProblem } from './problems.ts';

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** Kinds of content whose tokens can be estimated before the call. */
const PARTS = ['text', 'image_url', 'refusal'];

const invalid = (param: string, message: string) =>
  new ApiKeyProblem('invalid_value', `${param} ${message}`, { param });

/** Throws ApiKeyProblem. What the model's provider checks itself is left to it. */
export function checkMessages(messages: unknown): void {
  if (!Array.isArray(messages) || messages.length === 0) throw invalid('messages', 'is not a list with a message');
  for (const [index, message] of messages.entries()) {
    const place = `messages[${index}]`;
    if (!isJsonObject(message)) throw invalid(place, 'is not an object');
    if (!ROLES.includes(String(message.role))) throw invalid(`${place}.role`, `is not one of ${ROLES.join(', ')}`);
    checkContent(`${place}.content`, message.content);
  }
}

function checkContent(place: string, content: unknown): void {
  if (content === undefined || content === null || typeof content === 'string') return;
  if (!Array.isArray(content)) throw invalid(place, 'is neither text nor a list of parts');
  for (const [index, part] of content.entries()) {
    const type = isJsonObject(part) ? part.type : undefined;
    if (!PARTS.includes(String(type))) {
      throw invalid(`${place}[${index}].type`, `is not supported here: it takes ${PARTS.join(', ')}`);
    }
  }
}

/** Only the caller's own functions: a provider's tools, such as a web search, are billed by the call. */
export function checkTools(tools: unknown): void {
  if (tools === undefined) return;
  if (!Array.isArray(tools)) throw invalid('tools', 'is not a list');
  for (const [index, tool] of tools.entries()) {
    if (isJsonObject(tool) && tool.type === 'function') continue;
    throw invalid(`tools[${index}].type`, 'is not supported here: it takes function');
  }
}
