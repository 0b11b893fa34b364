/** Many wait for one signal. */
import { getEventListeners } from 'node:events';
import t from 'tap';
import { onAbort } from '../src/on-abort.ts';

t.test('all who wait are called once, and whoever let go is not', async (t) => {
  const controller = new AbortController();
  const called: string[] = [];
  const twice = () => called.push('twice');
  onAbort(controller.signal, twice);
  onAbort(controller.signal, twice);
  const letGo = onAbort(controller.signal, () => called.push('let go'));
  letGo();
  letGo();
  controller.abort();
  t.same(called, ['twice', 'twice']);
  onAbort(controller.signal, twice);
  t.equal(called.length, 2, 'what is aborted calls nobody');
});

t.test('a signal has one listener while anybody waits, and none afterwards', async (t) => {
  const { signal } = new AbortController();
  const listeners = () => getEventListeners(signal, 'abort').length;
  const first = onAbort(signal, () => {});
  const second = onAbort(signal, () => {});
  t.equal(listeners(), 1);
  first();
  t.equal(listeners(), 1);
  second();
  t.equal(listeners(), 0);
  const third = onAbort(signal, () => {});
  second();
  t.equal(listeners(), 1, 'letting go twice takes nobody else along');
  third();
  t.equal(listeners(), 0);
});
