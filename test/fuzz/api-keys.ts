/** The routes of the OpenAI-compatible API, with a key that has credit and with what is none. */
import * as fc from 'fast-check';
import { asJsonObject } from '../../src/json.ts';
import { jsonOf } from './answers.ts';
import { asCurl, type Call, JSON_TYPE, jsonBody } from './call.ts';
import { edited, edits } from './edits.ts';
import { fewHeaders } from './odd-headers.ts';
import { type Probe, probe } from './probe.ts';
import { oddTexts } from './values.ts';
import { Violation } from './violation.ts';
import type { Watched } from './watched.ts';

const MODELS = ['vendor5-k3', 'vendor1-opus-5', 'vendor3-5.6-luna'];

const tool = {
  type: 'function',
  function: {
    name: 'forecast',
    description: 'Tomorrow',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};

/** Whatever the API takes, in one place or another. */
const completions = fc.record(
  {
    model: fc.constantFrom(...MODELS),
    messages: fc.constantFrom(
      [{ role: 'user', content: 'Fog?' }],
      [
        { role: 'system', content: 'Be brief' },
        { role: 'user', name: 'ada', content: [{ type: 'text', text: 'Fog?' }] },
      ],
      [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } }],
        },
      ],
      [
        { role: 'user', content: 'Fog?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'forecast', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Fog' },
      ],
    ),
    stream: fc.boolean(),
    stream_options: fc.constant({ include_usage: true }),
    max_tokens: fc.constantFrom(1, 20),
    max_completion_tokens: fc.constantFrom(1, 20),
    temperature: fc.constantFrom(0, 1, 2),
    top_p: fc.constantFrom(0, 0.5, 1),
    n: fc.constantFrom(1, 2),
    stop: fc.constantFrom<unknown>('.', ['.', '!']),
    seed: fc.integer(),
    tools: fc.constant([tool]),
    tool_choice: fc.constantFrom<unknown>('auto', 'none', { type: 'function', function: { name: 'forecast' } }),
    response_format: fc.constantFrom(
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
    ),
    logit_bias: fc.constant({ 50256: -100 }),
    logprobs: fc.boolean(),
    top_logprobs: fc.constantFrom(0, 5),
    reasoning_effort: fc.constantFrom('low', 'high'),
    metadata: fc.constant({ a: 'b' }),
    user: fc.constant('ada'),
  },
  { requiredKeys: ['model', 'messages', 'max_tokens'], noNullPrototype: true },
);

const bodies = fc.oneof(
  { weight: 1, arbitrary: completions },
  { weight: 5, arbitrary: fc.tuple(completions, edits).map(([body, list]) => edited(body, list)) },
);

export function apiKeysProbe(watched: Watched, apiKey: string): Probe {
  const keys = fc.oneof(
    { weight: 6, arbitrary: fc.constant(apiKey) },
    {
      weight: 1,
      arbitrary: fc
        .nat(apiKey.length - 1)
        .map((at) => apiKey.slice(0, at) + (apiKey[at] === 'A' ? 'B' : 'A') + apiKey.slice(at + 1)),
    },
    { weight: 1, arbitrary: oddTexts.map((text) => text.replace(/[^\x20-\x7e]/g, '')) },
  );
  const calls = fc
    .tuple(
      keys,
      bodies,
      fewHeaders,
      fc.constantFrom(
        '/v1/chat/completions',
        '/v1/chat/completions',
        '/v1/chat/completions',
        '/v1/credits',
        '/v1/models',
      ),
    )
    .map(
      ([key, body, headers, target]): Call => ({
        method: target === '/v1/chat/completions' ? 'POST' : 'GET',
        target,
        headers: [JSON_TYPE, ...headers, ['authorization', `Bearer ${key}`]],
        ...(target === '/v1/chat/completions' && { body: jsonBody(body) }),
      }),
    );
  const { gateway } = watched;
  const credit = () => gateway.count('SELECT sum(balance) FROM api_keys');
  const spent = () => gateway.count("SELECT count(*) FROM ledger WHERE kind = 'settle'");
  return probe('api keys', calls, async (call) => {
    const [creditBefore, spentBefore] = [credit(), spent()];
    const answer = await watched.send(call);
    const paid = call.method === 'POST' && answer.status === 200;
    const isCharged = credit() !== creditBefore || spent() !== spentBefore;
    if (isCharged && !paid)
      throw new Violation(
        `is charged for a ${answer.status}: ${answer.body.subarray(0, 200)}`,
        asCurl(gateway.url, call),
      );
    const { code } = asJsonObject(asJsonObject(jsonOf(answer)).error);
    if (String(code).startsWith('upstream_')) {
      throw new Violation(`fails upstream: ${answer.body.subarray(0, 300)}`, asCurl(gateway.url, call));
    }
  });
}
