import t from 'tap';
import { Problem } from '../../src/errors.ts';
import { createRouteFinder } from '../../src/lifecycle/find.ts';
import { mppRoute } from '../payment/mpp/route.ts';

const get = { ...mppRoute('/mpp/a'), methods: ['GET'] as const };
const both = { ...mppRoute('/x402/b'), rail: 'x402', bodyLimitBytes: 77 };
const { has, sells, railOf, idOf, bodyLimitOf, find } = createRouteFinder([get, both]);

t.test('what is sold is known by its path, and by its method where that is asked', async (t) => {
  for (const [path, isThere, rail, id, limit, methods] of [
    ['/mpp/a', true, 'mpp', 'mpp/a', 1_048_576, ['GET']],
    ['/x402/b', true, 'x402', 'x402/b', 77, ['GET', 'POST']],
    ['/mpp/c', false, undefined, undefined, 0, []],
  ] as const) {
    t.strictSame([has(path), railOf(path), idOf(path), bodyLimitOf(path)], [isThere, rail, id, limit]);
    t.same(
      ['GET', 'POST', 'PUT'].filter((method) => sells(method, path)),
      methods,
    );
  }
});

t.test('a route is found by its method and path, and who asks for none is told what there is', async (t) => {
  t.equal(find('GET', '/mpp/a'), get);
  t.equal(find('POST', '/x402/b'), both);
  t.throws(() => find('PUT', '/x402/b'), {
    code: 'method_not_allowed',
    message: '/x402/b takes GET, POST',
    headers: { allow: 'GET, POST' },
  });
  const unknown = new Problem('unknown_path', 'No endpoint is sold at /mpp/c: see /x402-resources');
  t.throws(() => find('GET', '/mpp/c'), { code: unknown.code, message: unknown.message });
});
