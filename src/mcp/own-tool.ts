import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { Input } from '../catalogue/types.ts';
import type { ToolCall } from '../request/request.ts';
import type { Visit } from '../request/visit.ts';

/** A tool of the gateway itself. What it is given fits its `inputSchema`. */
export interface OwnTool {
  readonly definition: Tool;
  /** What it asks for is counted where that is answered. */
  readonly asksForSold?: true;
  /** Throws Problem. */
  call(input: Input, meta: ToolCall['meta'], visit: Visit): Promise<CallToolResult> | CallToolResult;
}

/** An answer for programs and for models. */
export const answered = (structured: Record<string, unknown>): CallToolResult => ({
  structuredContent: structured,
  content: [{ type: 'text', text: JSON.stringify(structured) }],
});

/** Costs nothing and changes nothing. */
export const FREE = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** The field by which own tools are told of a sold one. */
const NAME_FIELD = { type: 'string', minLength: 1, description: 'A tool, by its name: image_family-e-2' };

/** What tools take that are told of a sold one. */
export const byName: Tool['inputSchema'] = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name: NAME_FIELD },
};

/** The same with what it would be called with. */
export const callByName: Tool['inputSchema'] = {
  ...byName,
  properties: {
    ...byName.properties,
    arguments: { type: 'object', description: 'What describe_endpoint says that it takes', default: {} },
  },
};
