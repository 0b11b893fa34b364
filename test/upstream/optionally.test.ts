import t from 'tap';
import { optionally } from '../../src/upstream/optionally.ts';
import { UpstreamProblem } from '../../src/upstream/problem.ts';

const failed = new UpstreamProblem('failed', 'somewhere', 'answered 500');
const { signal } = new AbortController();

t.test('gives the value, or nothing where its upstream fails', async (t) => {
  t.equal(await optionally({ signal }, Promise.resolve(7)), 7);
  t.equal(await optionally({ signal }, Promise.reject(failed)), undefined);
});

t.test('hides neither the deadline nor a fault of ours', async (t) => {
  await t.rejects(optionally({ signal: AbortSignal.abort() }, Promise.reject(failed)), failed);
  await t.rejects(optionally({ signal }, Promise.reject(new TypeError('no such field'))), TypeError);
});
