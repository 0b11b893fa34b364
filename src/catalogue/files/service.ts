import type { RailDeclaration } from '../rails.ts';
import type { PlainObject } from '../schema-walk.ts';
import { networkName, text } from './common.ts';

/** One block for each rail that has options there. */
const railOptions = (rails: readonly RailDeclaration[]): PlainObject =>
  Object.fromEntries(
    rails.flatMap(({ name, serviceOptions }) =>
      serviceOptions ? [[name, { ...serviceOptions, type: 'object', additionalProperties: false }]] : [],
    ),
  );

/** `catalogue/service.yaml`: ServiceFile. */
export const serviceFileSchema = (rails: readonly RailDeclaration[]): PlainObject => ({
  type: 'object',
  required: ['name', 'description', 'tags', 'instructions', 'defaultNetwork'],
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
    defaultNetwork: networkName,
    rails: { type: 'object', additionalProperties: false, properties: railOptions(rails) },
  },
});
