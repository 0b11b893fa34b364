import t from 'tap';
import type { JsonSchema } from '../../src/catalogue/types.ts';
import { Problem } from '../../src/errors.ts';
import { readInput } from '../../src/lifecycle/input.ts';
import { mppRoute } from '../payment/mpp/route.ts';

/** What a caller learns of a body. */
function faultsOf(request: JsonSchema, body: unknown): readonly object[] {
  const route = { ...mppRoute('/things'), request: { type: 'object', ...request } };
  const headers = { 'content-type': 'application/json' };
  const bytes = Buffer.from(JSON.stringify(body));
  try {
    readInput(route, { transport: 'http', method: 'POST', path: '/things', query: '', headers, body: bytes });
    return [];
  } catch (error) {
    if (error instanceof Problem) return error.details ?? [];
    throw error;
  }
}

t.test('a value of another type is told which types are taken', async (t) => {
  const request = { properties: { size: { type: ['number', 'string'] }, flag: { type: 'boolean' } } };
  t.match(faultsOf(request, { size: [], flag: 1 }), [
    { path: '/size', expected: 'number or string' },
    { path: '/flag', expected: 'boolean' },
  ]);
});

t.test(
  'of a choice that failed only what is inside is told, and the choice itself where there is nothing inside',
  async (t) => {
    const inside = { anyOf: [{ properties: { size: { maximum: 5 } } }, { properties: { size: { minimum: 9 } } }] };
    t.same(
      faultsOf(inside, { size: 7 }).map((fault) => 'path' in fault && fault.path),
      ['/size', '/size'],
    );
    const without = { oneOf: [{ properties: { a: {} } }, { properties: { b: {} } }] };
    t.match(faultsOf(without, {}), [{ path: '/', message: /exactly one/ }]);
    const named = { oneOf: [{ required: ['prompt'] }, { required: ['messages'] }] };
    t.match(faultsOf(named, {}), [
      { path: '/', message: 'needs exactly one of prompt, messages: none of them is given' },
    ]);
    t.equal(faultsOf(named, {}).length, 1);
  },
);
