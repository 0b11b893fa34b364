import t from 'tap';
import { numbersAsText } from '../../../src/upstream/providers/http/as-text.ts';

const cases: readonly (readonly [names: string[], json: string, read: unknown])[] = [
  [['id'], '{"id":12345678901234567890}', { id: '12345678901234567890' }],
  [['id'], '{ "id"\n: -1.50e+3 , "b":2}', { id: '-1.50e+3', b: 2 }],
  [
    ['id'],
    '{"a":[{"id":1},{"id":null},{"id":"x"},{"id":true}]}',
    { a: [{ id: '1' }, { id: null }, { id: 'x' }, { id: true }] },
  ],
  [['ids'], '{"ids":[ 1,\n-2 ],"id":3}', { ids: ['1', '-2'], id: 3 }],
  [['ids'], '{"ids":[],"more":{"ids":[[1]]}}', { ids: [], more: { ids: [[1]] } }],
  [['a.b', 'x"y'], '{"a.b":1,"a+b":2,"x\\"y":3}', { 'a.b': '1', 'a+b': 2, 'x"y': '3' }],
  [['id'], '{"text":"\\"id\\": 5, \\\\","x\\"id":6,"id":7}', { text: '"id": 5, \\', 'x"id': 6, id: '7' }],
  [['id'], '["id", 5]', ['id', 5]],
];

t.test(
  'numbers of the members that are named are texts as they were written, and nothing else is changed',
  async (t) => {
    for (const [names, json, read] of cases) t.same(JSON.parse(numbersAsText(json, names)), read, json);
  },
);

t.test('what is no JSON is none afterwards', async (t) => {
  for (const json of ['{"id":5x}', '{"id":[1,]}', '{"id":-}', '{"id":01.}', '"id":5']) {
    t.throws(() => JSON.parse(json), json);
    t.throws(() => JSON.parse(numbersAsText(json, ['id'])), json);
  }
});
