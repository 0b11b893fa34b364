/** OpenAPI of the door for the Model Context Protocol: one path, by which everything sold is a tool. */
import type { OwnOperations } from '../../discovery/openapi.ts';
import { MCP_PATH } from '../../paths.ts';
import { failures, json, named, record, text } from './answers.ts';

const TAG = 'MCP';

const open = { type: 'object', additionalProperties: true } as const;

const message = record(
  {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'integer'], description: 'Left out of a notification' },
    method: { ...text, description: 'initialize, tools/list, tools/call, resources/list, ...' },
    params: open,
  },
  ['id', 'params'],
);

const answer = record(
  {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'integer', 'null'] },
    result: open,
    error: { ...record({ code: { type: 'integer' }, message: text }), additionalProperties: true },
  },
  ['result', 'error'],
);

const refused = (description: string) => json(description, named('McpAnswer'));

export const mcpOperations: OwnOperations = {
  tags: [{ name: TAG, description: 'The Model Context Protocol over streamable HTTP, without sessions or login' }],
  security: {},
  schemas: { McpMessage: message, McpAnswer: answer },
  operations: [
    {
      path: MCP_PATH,
      method: 'POST',
      operation: {
        operationId: 'callMcp',
        summary: 'The MCP server, of which everything sold is a tool',
        description:
          'A tool called without a payment answers its price; the same call with the payment in _meta is answered. Clients of the protocol do all this',
        tags: [TAG],
        security: [],
        parameters: [
          {
            name: 'Accept',
            in: 'header',
            required: false,
            description: 'application/json, text/event-stream',
            schema: text,
          },
          {
            name: 'tools',
            in: 'query',
            required: false,
            description: 'search: only the tools that find and call others; or groups, with commas between them',
            schema: text,
          },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: named('McpMessage'),
              example: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
            },
          },
        },
        responses: {
          200: {
            description: 'The answer, in JSON or as an event',
            content: {
              'application/json': { schema: named('McpAnswer') },
              'text/event-stream': { schema: { ...text, description: 'The same as the data of an event' } },
            },
          },
          202: { description: 'A notification was taken' },
          400: refused('No message of the protocol'),
          403: refused('From a web page that is not listed, or to another host name'),
          405: refused('The path takes POST'),
          406: refused('Accept leaves out application/json or text/event-stream'),
          413: refused('The body is too large'),
          415: refused('The body is not application/json'),
          429: refused('The address asks for too much without paying: see Retry-After'),
          500: refused('The gateway failed'),
          ...failures(431, 503),
        },
      },
    },
  ],
};
