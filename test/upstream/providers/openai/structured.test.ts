import t, { type Test } from 'tap';
import type { JsonSchema } from '../../../../src/catalogue/types.ts';
import type { Adapter, ModelBinding } from '../../../../src/upstream/adapter.ts';
import type { UpstreamRequest } from '../../../../src/upstream/http/upstream-http.ts';
import { openaiChat } from '../../../../src/upstream/providers/openai/chat-adapter.ts';
import { structured } from '../../../../src/upstream/providers/openai/structured.ts';
import { openSetting, problemOf } from '../contract.ts';

const schema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['sentiment', 'score', 'signals'],
  properties: {
    sentiment: { enum: ['bullish', 'bearish', 'neutral'] },
    score: { type: 'number', minimum: -1, maximum: 1 },
    signals: { type: 'array', minItems: 3, maxItems: 3, items: { type: 'string', maxLength: 80 } },
  },
};
const messages = [{ role: 'user', content: 'How is the token doing?' }];
const request = { name: 'signal', schema, messages };

const open = (t: Test, model = {}) =>
  openSetting(t, {
    adapter: openaiChat as Adapter,
    upstream: { models: { writer: { id: 'maker/writer', ...model } } },
    options: { result: 'usage' },
    model: 'writer',
  });

/** The binding, with the first answers' texts replaced and every request noted. */
function scripted(binding: ModelBinding, texts: string[]): { binding: ModelBinding; sent: UpstreamRequest[] } {
  const sent: UpstreamRequest[] = [];
  const http: ModelBinding['http'] = {
    ...binding.http,
    async request(request) {
      sent.push(request);
      const response = await binding.http.request(request);
      const text = texts.shift();
      const answer = response.json() as { choices: [{ message: { content: string } }] };
      if (text !== undefined) answer.choices[0].message.content = text;
      return { ...response, json: () => answer };
    },
  };
  return { binding: { ...binding, http }, sent };
}

t.test('gives a value that fits the schema', async (t) => {
  const { binding, context } = await open(t);
  const value = await structured<{ score: number; signals: string[] }>(binding, request, context);
  t.equal(value.signals.length, 3);
  t.ok(value.score >= -1 && value.score <= 1);
});

t.test('works with models that only have JSON mode', async (t) => {
  const { binding, context } = await open(t, { supportsJsonSchema: false });
  t.match(await structured(binding, request, context), { sentiment: String, score: Number });
});

t.test('asks for no more than any answer of the kind takes, and than the model writes', async (t) => {
  for (const [model, max_tokens] of [
    [{}, 8192],
    [{ maxOutput: 1000 }, 1000],
    [{ maxOutput: 65_536, supportsJsonSchema: false }, 8192],
  ] as const) {
    const { binding, context } = await open(t, model);
    const asked = scripted(binding, []);
    await structured(asked.binding, request, context);
    t.match(asked.sent[0]?.json, { max_tokens });
  }
});

t.test('does not ask again for what was cut at that bound', async (t) => {
  const { binding, context } = await open(t, { maxOutput: 3 });
  const asked = scripted(binding, []);
  t.match(await problemOf(structured(asked.binding, request, context)), { failure: 'malformed' });
  t.equal(asked.sent.length, 1);
});

t.test('reads JSON in a Markdown fence', async (t) => {
  const { binding, context } = await open(t);
  const text = '```json\n{"sentiment":"neutral","score":0,"signals":["a","b","c"]}\n```';
  t.match(await structured(scripted(binding, [text]).binding, request, context), { sentiment: 'neutral' });
});

t.test('an answer with more blanks than words is read at once, and keeps nobody waiting', async (t) => {
  const { binding, context } = await open(t);
  const blanks = '\n'.repeat(2_000_000);
  const text = `{"sentiment":"neutral",${blanks}"score":0,"signals":["a","b","c"]${blanks}}`;
  for (const written of [text, `${blanks}\`\`\`json${text}\`\`\`${blanks}`]) {
    const value = await structured(scripted(binding, [written]).binding, request, context);
    t.match(value, { sentiment: 'neutral' });
  }
});

t.test('asks once more with what is wrong, and takes the corrected answer', async (t) => {
  const { binding, context } = await open(t);
  const asked = scripted(binding, ['{"sentiment":"happy","score":7,"signals":[]}']);
  t.match(await structured(asked.binding, request, context), { sentiment: /bullish|bearish|neutral/ });
  t.equal(asked.sent.length, 2);
  t.match(JSON.stringify(asked.sent[1]?.json), /answer\/sentiment must be equal to one of the allowed values/);
});

t.test('is malformed when the second answer does not fit either', async (t) => {
  const { binding, context } = await open(t);
  const asked = scripted(binding, ['no JSON at all', '{"sentiment":"happy"}']);
  t.match(await problemOf(structured(asked.binding, request, context)), { failure: 'malformed', message: /signal: / });
  t.equal(asked.sent.length, 2);
});
