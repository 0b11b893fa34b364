/** What an endpoint says of a tool that another server offers. */
import type { FileResult } from '../http/options.ts';
import { expressionSchema, resultSchema } from '../http/options.ts';

export type McpOptions = {
  readonly tool: string;
  /** A template (see `mapTemplate`), or the whole request. */
  readonly arguments?: unknown;
  readonly result?: string | FileResult;
  /** What the tool answers: its structured content, else `{ text }`. */
  readonly example?: unknown;
};

export const mcpOptions = {
  type: 'object',
  required: ['tool'],
  properties: {
    tool: { ...expressionSchema, description: 'The name of the tool, as its server has it', examples: ['search_docs'] },
    arguments: {
      anyOf: [{ const: 'input' }, { type: 'object' }],
      'x-request-fields': true,
      description: 'What the tool is given, its texts being names of request fields; or input: the whole request',
      examples: [{ query: 'question', limit: { value: 5 } }],
    },
    result: {
      ...resultSchema(['image', 'audio']),
      description:
        "The result as a JMESPath expression over the tool's answer: its structured content, else { text }; left out: the answer itself",
      examples: ['{answer: text}'],
    },
    example: {
      description: 'What the tool answers, as result takes it: what the sandbox answers',
      examples: [{ text: 'Turn the key.' }],
    },
  },
} as const;
