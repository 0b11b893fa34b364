/** One search at one engine, as SerpApi answers it. */
import type { Adapter } from '../../adapter.ts';
import { type Engine, engines, type SerpQuery, serpSearch } from './client.ts';

type SerpapiOptions = { readonly engine: Engine };

export const serpapi: Adapter<SerpapiOptions> = {
  name: 'serpapi',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['engine'],
    properties: { engine: { enum: [...engines], description: 'Where to search' } },
  },
  reads: () => ({ fields: {}, passesOthers: true }),
  authorize: (_request, { key }) => ({ query: { api_key: `${key}` } }),
  call: (input, binding, context) => serpSearch(binding, binding.options.engine, input as SerpQuery, context),
};
