import { text } from './common.ts';

/** `catalogue/service.yaml`: ServiceFile. */
export const serviceFileSchema = {
  type: 'object',
  required: ['name', 'description', 'tags', 'instructions'],
  additionalProperties: false,
  properties: {
    name: text,
    description: text,
    contact: {
      type: 'object',
      additionalProperties: false,
      properties: { name: text, url: { type: 'string', format: 'uri' }, email: { type: 'string', format: 'email' } },
    },
    tags: { type: 'array', items: text, minItems: 1, uniqueItems: true },
    instructions: text,
    ownershipProofs: { type: 'array', items: text },
  },
} as const;
