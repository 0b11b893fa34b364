import t from 'tap';
import { makeClip } from '../../../src/sandbox/files/mp4.ts';

t.test('a clip leaves it to the process what becomes of uncaught errors', async (t) => {
  const own = () => undefined;
  process.on('unhandledRejection', own);
  t.teardown(() => process.off('unhandledRejection', own));
  const listeners = () => ['uncaughtException', 'unhandledRejection'].map((event) => process.rawListeners(event));
  const before = listeners();
  const clip = await makeClip({ seconds: 1, ratio: 1 });
  t.equal(clip.toString('latin1', 4, 8), 'ftyp');
  t.same(listeners(), before);
  t.ok(process.rawListeners('unhandledRejection').includes(own));
});
