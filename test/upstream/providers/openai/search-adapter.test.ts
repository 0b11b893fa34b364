import OpenAI from 'openai';
import t from 'tap';
import type { Adapter, ModelBinding } from '../../../../src/upstream/adapter.ts';
import type { UpstreamRequest } from '../../../../src/upstream/http/upstream-http.ts';
import { respond } from '../../../../src/upstream/providers/openai/responses.ts';
import { search } from '../../../../src/upstream/providers/openai/search.ts';
import { responsesSearch } from '../../../../src/upstream/providers/openai/search-adapter.ts';
import { openCatalogue } from '../../served-routes.ts';
import { adapterContract, openSetting, problemOf } from '../contract.ts';

const adapter = responsesSearch as Adapter;
const upstream = { keys: { key: 'XAI_API_KEY' }, models: { searcher: { id: 'maker/searcher-1' } } };
const searcher = { adapter, upstream, model: 'searcher', options: { tools: ['web_search'] } };
const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['verdict'],
  properties: { verdict: { type: 'string', enum: ['yes', 'no'] } },
};
const messages = [{ role: 'user', content: 'Does the ferry run?' }];
const asked = { name: 'verdict', schema, messages, tools: [{ type: 'web_search' as const }] };

adapterContract(t, 'an answer with the pages that were found', {
  ...searcher,
  input: { prompt: 'What happened at the harbour?' },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['text', 'citations'],
    properties: {
      text: { type: 'string', minLength: 1 },
      citations: {
        type: 'array',
        minItems: 1,
        items: { required: ['url', 'title'], properties: { url: { type: 'string', pattern: '^https://' } } },
      },
    },
  },
});

/** The binding, with what it sends noted, and answers replaced where there are any. */
function watched(
  binding: ModelBinding,
  answers: object[] = [],
): { binding: ModelBinding; sent: Record<string, unknown>[] } {
  const sent: Record<string, unknown>[] = [];
  const http = {
    ...binding.http,
    async request(request: UpstreamRequest) {
      sent.push(request.json as Record<string, unknown>);
      const response = await binding.http.request(request);
      const answer = answers.shift();
      return answer === undefined
        ? response
        : { ...response, json: () => ({ ...(response.json() as object), ...answer }) };
    },
  };
  return { binding: { ...binding, http }, sent };
}

const refusal = { status: 400, headers: {}, body: Buffer.alloc(0), sent: '' };

const says = (text: string, annotations: object[] = []) => ({
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations }] }],
});

t.test('gives a value of the schema, and asks for it and for the tools in the protocol', async (t) => {
  const { binding, context } = await openSetting(t, searcher);
  const { binding: watching, sent } = watched(binding);
  const { value, citations } = await search<{ verdict: string }>(watching, asked, context);
  t.match(value.verdict, /^(yes|no)$/);
  t.ok(citations.length > 0);
  t.match(sent[0], {
    model: 'maker/searcher-1',
    store: false,
    max_output_tokens: 16_384,
    input: messages,
    tools: [{ type: 'web_search' }],
    text: { format: { type: 'json_schema', name: 'verdict', strict: true, schema } },
  });
});

t.test('no words of a caller make it search without end, as each host calls the bound', async (t) => {
  const { binding, context } = await openSetting(t, searcher);
  const bound = async (searchesParam?: string) => {
    const { binding: watching, sent } = watched(binding, [says('{"verdict": "maybe"}'), says('{"verdict": "yes"}')]);
    await search(
      searchesParam ? { ...watching, model: { ...watching.model, searchesParam } } : watching,
      asked,
      context,
    );
    return sent.map(({ max_turns: turns, max_tool_calls: calls }) => ({ turns, calls }));
  };
  const none = { turns: undefined, calls: undefined };
  t.same(await bound('max_turns'), [{ ...none, turns: 5 }, none], 'xAI; nothing is searched where an answer is mended');
  t.same(await bound('max_tool_calls'), [{ ...none, calls: 5 }, none], 'OpenAI');
  t.same(await bound(), [none, none], 'a host of which nobody has said it');
});

t.test('the models that search in what is shipped are bound in it', (t) => {
  const { upstreams } = openCatalogue();
  const searching = [...upstreams.values()].filter(({ adapter }) => adapter === 'responses-search');
  const models = searching.flatMap(({ models: named = {} }) => Object.values(named));
  t.ok(models.length > 0);
  for (const model of models) t.match(model, { searchesParam: 'max_turns' });
  t.end();
});

t.test('mends an answer that does not fit once, without paying for another search', async (t) => {
  const { binding, context } = await openSetting(t, searcher);
  const pages = [{ type: 'url_citation', url: 'https://herald.example/ferry', title: 'The ferry runs' }];
  const { binding: watching, sent } = watched(binding, [
    says('{"verdict": "maybe"}', pages),
    says('{"verdict": "yes"}'),
  ]);
  const { value, citations } = await search(watching, asked, context);
  t.same(value, { verdict: 'yes' });
  t.same(citations, [{ url: 'https://herald.example/ferry', title: 'The ferry runs' }], 'the pages of the search');
  t.equal(sent[1]?.tools, undefined);
  t.match(JSON.stringify(sent[1]?.input), /does not fit the schema/);
});

t.test('cites what the tools found, not what the text claims', async (t) => {
  const { binding, context } = await openSetting(t, searcher);
  const output = [
    { type: 'web_search_call', action: { type: 'search', sources: [{ type: 'url', url: 'https://a.example/1' }] } },
    {
      type: 'message',
      content: [
        {
          type: 'output_text',
          text: 'See https://made-up.example/page',
          annotations: [
            { type: 'url_citation', url: 'https://b.example/2', title: '1' },
            { type: 'url_citation', url: 'https://b.example/2', title: 'again' },
            { type: 'file_citation', url: 'https://c.example/3' },
            { type: 'url_citation', url: 'javascript:alert(1)' },
            { type: 'url_citation', url: 'https://' },
          ],
        },
      ],
    },
  ];
  const { binding: watching } = watched(binding, [{ output }]);
  const { citations } = await respond(watching, { messages, tools: asked.tools }, context);
  t.same(citations, [
    { url: 'https://b.example/2', title: null },
    { url: 'https://a.example/1', title: null },
  ]);
});

t.test('tells what the search cost where the provider says it', async (t) => {
  const { binding, context } = await openSetting(t, searcher);
  const { binding: watching } = watched(binding, [{ usage: { cost_in_usd_ticks: 318_319_000 } }]);
  await respond(watching, { messages, tools: asked.tools }, context);
  t.same(context.costs, ['0.031831900000']);
});

t.test('tells what a search cost that came to nothing: the provider bills it all the same', async (t) => {
  const { binding, context } = await openSetting(t, searcher);
  const usage = { cost_in_usd_ticks: 318_319_000 };
  const refused = { output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }], usage };
  const unfinished = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [], usage };
  const { binding: watching } = watched(binding, [refused, unfinished]);
  for (const failure of ['content-refused', 'malformed']) {
    const problem = await problemOf(respond(watching, { messages, tools: asked.tools }, context));
    t.equal(problem.failure, failure);
  }
  t.same(context.costs, ['0.031831900000', '0.031831900000']);
});

t.test('a failed response and an empty one are failures', async (t) => {
  const { binding, context } = await openSetting(t, searcher);
  const outcomes: [object, string][] = [
    [{ status: 'failed', error: { code: 'server_error', message: 'overloaded' } }, 'failed'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content-refused'],
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [] }, 'malformed'],
  ];
  for (const [answer, failure] of outcomes) {
    const { binding: watching } = watched(binding, [answer]);
    const problem = await problemOf(respond(watching, { messages, tools: asked.tools }, context));
    t.equal(problem.failure, failure, problem.message);
  }
});

t.test(
  'an answer that was cut off in the middle is not sold, and is not asked for again to be cut off again',
  async (t) => {
    const { binding, context } = await openSetting(t, searcher);
    const cut = {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      ...says('{"verdict": "y'),
    };
    const { binding: watching, sent } = watched(binding, [cut, cut]);
    const problem = await problemOf(adapter.call({ prompt: 'Does the ferry run?' }, watching, context));
    t.equal(problem.failure, 'malformed');
    t.equal((await problemOf(search(watching, asked, context))).failure, 'malformed');
    t.equal(sent.length, 2);
  },
);

t.test('is unavailable when xAI does not take the key, which it answers as a wrong request', async (t) => {
  const { binding, context } = await openSetting(t, searcher);
  const answer = {
    code: 'Client specified an invalid argument',
    error: 'Incorrect API key provided: xa***gA. You can obtain an API key from https://console.x.ai.',
  };
  const http = { ...binding.http, request: async () => ({ ...refusal, json: () => answer }) };
  const problem = await problemOf(respond({ ...binding, http }, { messages, tools: asked.tools }, context));
  t.equal(problem.failure, 'unavailable');
});

t.test('what xAI bills for words that it will not read is a cost of the call', async (t) => {
  const { binding, context } = await openSetting(t, searcher);
  const answers: [number, object][] = [
    [
      403,
      { code: 'permission-denied', error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO' },
    ],
    [403, { code: 'permission-denied', error: 'Your team has no access to this model.' }],
    [400, { error: { message: 'Your request was rejected by the safety system.', code: 'moderation_blocked' } }],
  ];
  for (const [status, answer] of answers) {
    const http = { ...binding.http, request: async () => ({ ...refusal, status, json: () => answer }) };
    await problemOf(respond({ ...binding, http }, { messages, tools: asked.tools }, context));
  }
  t.same(context.costs, ['0.05'], 'the fee of the first, and nothing where none is said to be billed');
});

t.test("OpenAI's own client reads the double", async (t) => {
  const { doubles } = await openSetting(t, searcher);
  const client = new OpenAI({ apiKey: 'sandbox-key', baseURL: doubles.baseUrlOf('the-upstream'), maxRetries: 0 });
  const response = await client.responses.create({
    model: 'maker/searcher-1',
    input: [{ role: 'user', content: 'Does the ferry run?' }],
    tools: [{ type: 'web_search' }],
    text: { format: { type: 'json_schema', name: 'verdict', strict: true, schema } },
  });
  t.match(JSON.parse(response.output_text).verdict, /^(yes|no)$/);
  t.equal(response.output[0]?.type, 'web_search_call');
  t.ok((response.usage?.total_tokens ?? 0) > 0);
  await t.rejects(client.responses.create({ model: 'nobody', input: 'Hello' }), {
    status: 404,
    code: 'model_not_found',
  });
});
