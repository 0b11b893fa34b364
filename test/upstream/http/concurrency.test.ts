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

/** Callers in the order in which they get their turns, which they give back when told. */
function watched(concurrency: number) {
  const gate = openGate({ concurrency, spacingMs: 0 });
  const turns: { caller: string; leave: () => void }[] = [];
  const enter = async (caller: string) => void turns.push({ caller, leave: await gate.enter(signal, caller) });
  return { turns, enter, callers: () => turns.map(({ caller }) => caller), settled: () => new Promise(setImmediate) };
}

t.test('one caller never holds all turns, however many it asks for', async (t) => {
  const { turns, enter, callers, settled } = watched(64);
  for (let call = 0; call < 200; call += 1) enter('attacker');
  await settled();
  t.equal(turns.length, 32);
  await enter('honest');
  t.equal(callers().at(-1), 'honest');
});

t.test('keeps the last turn for somebody who holds none', async (t) => {
  const { turns, enter, callers, settled } = watched(8);
  for (let call = 0; call < 20; call += 1) for (const caller of ['one', 'two', 'three']) enter(caller);
  await settled();
  t.ok(turns.length < 8, `${turns.length} turns are held`);
  await enter('honest');
  t.equal(callers().at(-1), 'honest');
});

t.test('gives turns to waiting callers by turns, not by who asked most', async (t) => {
  const { turns, enter, callers, settled } = watched(1);
  await enter('first');
  for (let call = 0; call < 5; call += 1) enter('attacker');
  enter('honest');
  enter('honest');
  for (let turn = 0; turn < 5; turn += 1) {
    turns[turn]?.leave();
    await settled();
  }
  t.same(callers(), ['first', 'attacker', 'honest', 'attacker', 'honest', 'attacker']);
});

t.test('a lone caller gets a turn even where there is one', async (t) => {
  for (const concurrency of [1, 2]) {
    const { enter, callers } = watched(concurrency);
    await enter('lone');
    t.same(callers(), ['lone']);
  }
});
