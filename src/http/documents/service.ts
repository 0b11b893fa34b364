/** OpenAPI of what is neither sold nor about payments: files, and probes for operators. */
import type { OwnOperations } from '../../discovery/openapi.ts';
import { failures, inPath, json, listOf, named, record, text } from './answers.ts';

const TAG = 'Service';

const shared = { tags: [TAG], security: [] } as const;

const health = record(
  {
    status: { ...text, enum: ['ok', 'draining', 'unavailable'] },
    reason: text,
    mode: { ...text, enum: ['live', 'sandbox'] },
    catalogue: { ...text, description: 'The version that is on sale' },
    endpoints: { type: 'integer', description: 'How many routes are sold' },
    networks: { ...listOf(text), description: 'Those that can be paid now' },
  },
  ['reason'],
);

const readiness = record(
  {
    status: { ...text, enum: ['ready', 'draining', 'unavailable'] },
    failing: { type: 'object', additionalProperties: text, description: 'Part -> reason' },
  },
  ['failing'],
);

/** Bytes of whatever kind. */
const file = { 'image/*': { schema: {} }, 'video/*': { schema: {} }, 'audio/*': { schema: {} } } as const;

export const serviceOperations: OwnOperations = {
  tags: [{ name: TAG, description: 'Files that were bought, and how the gateway does' }],
  security: {},
  schemas: {},
  operations: [
    {
      path: '/media/{name}',
      method: 'GET',
      operation: {
        operationId: 'getMedia',
        summary: 'A file that was made for a call',
        description:
          'At the address that the answer names; whoever has the address can read it, whole or a range of it',
        ...shared,
        parameters: [inPath('name', 'The name that the answer gave')],
        responses: {
          200: { description: 'The file', content: file },
          206: { description: 'The range that was asked for', content: file },
          304: { description: 'If-None-Match names it: nothing is sent again' },
          404: json('No file of that name is kept here', named('Error')),
          ...failures(431),
        },
      },
    },
    {
      path: '/healthz',
      method: 'GET',
      operation: {
        operationId: 'getHealth',
        summary: 'That the process lives, and what it sells',
        description: '200 as long as the process answers, whatever else is wrong',
        ...shared,
        parameters: [],
        responses: { 200: json('It lives', health), ...failures(431) },
      },
    },
    {
      path: '/readyz',
      method: 'GET',
      operation: {
        operationId: 'getReadiness',
        summary: 'Whether it can take paid calls now',
        description: 'For load balancers: 503 names the part that fails',
        ...shared,
        parameters: [],
        responses: { 200: json('Ready', readiness), 503: json('Not ready', readiness), ...failures(431) },
      },
    },
  ],
};
