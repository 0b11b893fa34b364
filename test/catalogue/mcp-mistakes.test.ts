import t, { type Test } from 'tap';
import { mcp } from '../../src/upstream/providers/mcp/adapter.ts';
import { parts, problemsOf, replaced, rightFiles, writeCatalogue } from './temporary-catalogue.ts';

const upstreams = `${rightFiles['upstreams.yaml']}tools:
  adapter: mcp
  baseUrl: https://tools.example/mcp
  keys: { key: TOOLS_KEY }
  settings: { authorize: { bearer: key } }
`;

const search = `summary: Answers from the documents
path: /docs/search
price: { rule: fixed, amount: "0.01" }
request: { required: [question], properties: { question: { type: string }, pages: { type: integer } } }
result: { required: [answer], properties: { answer: { type: string } }, examples: [{ answer: a }] }
example: { question: start }
upstream:
  via: tools
  tool: search_docs
  arguments: { query: question, filter: { pages: pages, limit: { value: 5 } } }
  result: "{answer: text}"
  example: { text: Turn the key. }
`;

const WHOLE = '{ query: question, filter: { pages: pages, limit: { value: 5 } } }';

const check = (t: Test, text: string) =>
  problemsOf(writeCatalogue(t, { 'upstreams.yaml': upstreams, 'endpoints/docs/search.yaml': text }), {
    ...parts,
    adapters: [...parts.adapters, mcp],
  });

t.test('a tool of another server is right as it is, its example left out or not', async (t) => {
  t.same(check(t, search), []);
  t.same(check(t, replaced(search, '  example: { text: Turn the key. }\n', '')), []);
  t.same(check(t, replaced(search, WHOLE, 'input')), []);
});

const FILE = 'endpoints/docs/search.yaml';
const mistakes: [promise: string, change: [from: string, to: string], problem: string | RegExp][] = [
  [
    'a field that the request does not have',
    ['limit: { value: 5 }', 'limit: pags'],
    `${FILE}:10:64: arguments.filter.limit takes the field pags, which request does not have; did you mean pages? There are: question, pages`,
  ],
  [
    'a field that nothing reads',
    ['pages: pages, ', ''],
    `${FILE}:4:76: nothing reads the field pages of request; name it in input, or leave it out; what is read: question`,
  ],
  [
    'arguments that are neither a map nor the whole request',
    [WHOLE, 'question'],
    `${FILE}:10:14: "question" fits none of the forms allowed; write "input", or write object`,
  ],
  ['a call of no tool', ['  tool: search_docs\n', ''], `${FILE}:7:1: the key tool is missing; add tool`],
  [
    'an expression that is none',
    ['{answer: text}', '{answer: text'],
    /^endpoints\/docs\/search.yaml:11:11: not JMESPath: .*; see jmespath.org for its grammar$/,
  ],
  [
    'a function that does not exist',
    ['{answer: text}', '{answer: shout(text)}'],
    `${FILE}:11:11: not JMESPath: there is no function shout; see jmespath.org for its grammar`,
  ],
  [
    'an example whose result does not fit',
    ['{ text: Turn the key. }', '{ text: 7 }'],
    `${FILE}:12:3: what is made of this answer does not fit result: answer: 7 is of the wrong type; write string`,
  ],
  [
    'an expression that computes, without an example',
    ['"{answer: text}"\n  example: { text: Turn the key. }\n', '"{answer: join(\' \', [text])}"\n'],
    `${FILE}:11:11: the sandbox cannot make an answer of which this makes a result; add example: an answer of the provider, or sandbox: real to the upstream`,
  ],
];

for (const [promise, [from, to], problem] of mistakes) {
  t.test(`is refused at its place: ${promise}`, async (t) => {
    const [found, ...others] = check(t, replaced(search, from, to));
    t.match(found, problem);
    t.same(others, []);
  });
}
