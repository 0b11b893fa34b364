import t from 'tap';
import { mcp } from '../../../src/upstream/providers/mcp/adapter.ts';
import { type AdapterCase, adapterContract } from './contract.ts';

const base: AdapterCase = {
  adapter: mcp,
  upstream: { keys: { key: 'SECRET_key' }, settings: { authorize: { bearer: 'key' } } },
  options: { tool: 'search_docs', arguments: { query: 'question', limit: { value: 5 } }, result: '{answer: text}' },
  input: { question: 'How does it start?' },
  result: { type: 'object', required: ['answer'], properties: { answer: { type: 'string', minLength: 1 } } },
  refusal: 'invalid-input',
};

adapterContract(t, 'a text, made from the result schema', base);

adapterContract(t, 'structured content, and the answer of the example', {
  ...base,
  upstream: { ...base.upstream, settings: { authorize: { header: 'x-api-key', value: '{key}' } } },
  options: {
    tool: 'search_docs',
    arguments: 'input',
    result: '{pages: length(found), first: found[0].title}',
    example: { found: [{ title: 'Start' }, { title: 'Stop' }] },
  },
  result: { const: { pages: 2, first: 'Start' } },
});

adapterContract(t, 'no key and no arguments, and the answer as it is', {
  ...base,
  upstream: {},
  options: { tool: 'status' },
  result: { type: 'object', required: ['up'], properties: { up: { type: 'boolean' } } },
});

for (const [kind, type] of [
  ['image', 'image/png'],
  ['audio', 'audio/mpeg'],
]) {
  adapterContract(t, `a block of ${kind} that is kept`, {
    ...base,
    options: { tool: 'make', arguments: 'input', result: { file: kind } },
    result: {
      type: 'object',
      required: [`${kind}_url`, 'type', 'bytes'],
      properties: {
        [`${kind}_url`]: { type: 'string', pattern: '/media/' },
        type: { const: type },
        bytes: { type: 'integer', minimum: 100 },
      },
    },
  });
}
