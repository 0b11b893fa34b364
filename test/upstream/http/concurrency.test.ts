import { getEventListeners } from 'node:events';
import { mock } from 'node:test';
import t from 'tap';
import { openGate } from '../../../src/upstream/http/concurrency.ts';
import { heapLeftBy } from '../../heap.ts';

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
  let now = 1_000;
  mock.timers.enable({ apis: ['setTimeout'] });
  const clock = mock.method(performance, 'now', () => now);
  t.teardown(() => {
    clock.mock.restore();
    mock.timers.reset();
  });
  const gate = openGate({ concurrency: 10, spacingMs: 30 });
  const starts: number[] = [];
  for (let call = 0; call < 3; call += 1) void gate.enter(signal).then(() => starts.push(now));
  for (; now < 1_100; now += 1) {
    mock.timers.tick(1);
    await new Promise(setImmediate);
  }
  t.same(starts, [1_000, 1_030, 1_060]);
});

t.test('waits with one timer, however many wait', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const gate = openGate({ concurrency: 10, spacingMs: 20 });
  await gate.enter(signal);
  const before = timers();
  const others = Array.from({ length: 3 }, () => gate.enter(signal));
  t.equal(timers(), before + 1);
  await Promise.all(others);
});

/** Callers in the order in which they get their turns, which they give back when told. */
function watched(concurrency: number) {
  const gate = openGate({ concurrency, spacingMs: 0 });
  const turns: { caller: string; leave: () => void }[] = [];
  const enter = async (caller: string, until = signal) =>
    void turns.push({ caller, leave: await gate.enter(until, caller) });
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

t.test('a caller has no more turns for those that it gave back, and no fewer', async (t) => {
  const { turns, enter, callers, settled } = watched(8);
  for (let call = 0; call < 20; call += 1) enter('busy');
  await settled();
  t.equal(turns.length, 4);
  for (let turn = 0; turn < 10; turn += 1) {
    turns[turn]?.leave();
    await settled();
    t.equal(turns.length, 5 + turn, 'one for the one that was given back');
  }
  const { length } = turns;
  await enter('other');
  t.same(callers().slice(length), ['other']);
});

t.test('who holds no turn any more has a right to the last that is free', async (t) => {
  const { turns, enter, callers } = watched(2);
  await enter('one');
  turns[0]?.leave();
  await enter('other');
  await enter('one');
  t.same(callers(), ['one', 'other', 'one']);
});

t.test('who comes again stands behind all that wait, also where it gave up its place', async (t) => {
  for (const again of ['served', 'impatient']) {
    const { turns, enter, callers, settled } = watched(1);
    await enter('served');
    const given = new AbortController();
    const up = t.rejects(enter('impatient', given.signal), /enough/);
    given.abort(new Error('enough'));
    await up;
    for (const caller of ['second', 'third', again]) enter(caller);
    for (let turn = 0; turn < 3; turn += 1) {
      turns[turn]?.leave();
      await settled();
    }
    t.same(callers(), ['served', 'second', 'third', again]);
  }
});

t.test('who gives up takes no turn, and its other calls keep theirs', async (t) => {
  const { turns, enter, callers, settled } = watched(1);
  await enter('first');
  const given = new AbortController();
  const up = t.rejects(enter('caller', given.signal), /enough/);
  enter('caller');
  enter('other');
  given.abort(new Error('enough'));
  await up;
  for (let turn = 0; turn < 2; turn += 1) {
    turns[turn]?.leave();
    await settled();
  }
  t.same(callers(), ['first', 'caller', 'other']);
});

t.test('gives no turn, not even a free one, for a signal that has aborted', async (t) => {
  const gate = openGate({ concurrency: 1, spacingMs: 0 });
  await t.rejects(gate.enter(AbortSignal.abort(new Error('gone')), 'one'), /gone/);
  await gate.enter(signal, 'other');
});

t.test('leaves nothing behind at the signal of who has its turn', async (t) => {
  const gate = openGate({ concurrency: 1, spacingMs: 0 });
  const long = new AbortController();
  const leave = await gate.enter(long.signal);
  const second = gate.enter(long.signal);
  t.equal(getEventListeners(long.signal, 'abort').length, 1, 'of the one that waits');
  leave();
  await second;
  t.same(getEventListeners(long.signal, 'abort'), []);
});

t.test('forgets who holds no turn and waits for none', async (t) => {
  const gate = openGate({ concurrency: 1, spacingMs: 0 });
  const left = await heapLeftBy(async () => {
    for (let number = 0; number < 5_000; number += 1) {
      const leave = await gate.enter(signal, `${number}`.padEnd(2000, '.'));
      leave();
    }
  });
  t.ok(left < 2_000_000, `${left} bytes are kept of 10 MB of names`);
  await gate.enter(signal, 'next');
});
