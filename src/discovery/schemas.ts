import type { JsonSchema, Route } from '../catalogue/types.ts';

/** What a call answers, envelope included. Examples are left out: documents give them beside the schema. */
export function answerSchema({ result: { examples: _, ...result }, envelope }: Route): JsonSchema {
  const success = { type: 'boolean' };
  switch (envelope) {
    case undefined:
      return result;
    case 'data':
      return {
        type: 'object',
        required: ['success', 'data'],
        properties: { success, data: result },
        additionalProperties: true,
      };
    case 'flag': {
      const { required = [], properties = {} } = result;
      return {
        ...result,
        required: ['success', ...(required as string[])],
        properties: { success, ...(properties as object) },
      };
    }
  }
}

/** The request's fields by name. */
export const requestFields = (route: Route): [string, JsonSchema][] =>
  Object.entries((route.request.properties ?? {}) as Record<string, JsonSchema>);

export const requiredFields = (route: Route): readonly string[] => (route.request.required ?? []) as string[];
