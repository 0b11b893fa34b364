import t from 'tap';
import { openGate } from '../../../src/upstream/http/concurrency.ts';

const { signal } = new AbortController();

t.test('lets callers in first come, first served', async (t) => {
  const gate = openGate({ concurrency: 1, spacingMs: 0 });
  const order: number[] = [];
  const leave = await gate.enter(signal);
  const others = [1, 2, 3].map(async (number) => {
    const leaveToo = await gate.enter(signal);
    order.push(number);
    leaveToo();
  });
  leave();
  await Promise.all(others);
  t.same(order, [1, 2, 3]);
});

t.test('frees one place however often it is left', async (t) => {
  const gate = openGate({ concurrency: 1, spacingMs: 0 });
  const leave = await gate.enter(signal);
  leave();
  leave();
  await gate.enter(signal);
  const impatient = new AbortController();
  const refused = gate.enter(impatient.signal);
  impatient.abort(new Error('enough'));
  await t.rejects(refused, /enough/);
});

t.test('keeps the spacing between starts', async (t) => {
  const gate = openGate({ concurrency: 10, spacingMs: 30 });
  const starts = await Promise.all(
    [1, 2, 3].map(async () => {
      await gate.enter(signal);
      return performance.now();
    }),
  );
  const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
  t.ok(
    gaps.every((gap) => gap >= 29),
    `gaps ${gaps.map(Math.round).join(', ')} ms`,
  );
});
