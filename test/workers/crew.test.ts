/** A crew of workers that do as the test says. */
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createLog } from '../../src/log.ts';
import { openCrew } from '../../src/workers/crew.ts';
import type { End, Member } from '../../src/workers/member.ts';

const started = {
  url: 'http://127.0.0.1:4020',
  consoleUrl: undefined,
  catalogue: 'sold',
  unsold: { routes: 0, set: [], credits: false },
};

/** Takes calls at once, and ends where it is killed; `hears`: also where it is told to. */
function worker(pid: number, hears: boolean): Member & { readonly killed: () => boolean } {
  let tellEnd = (_end: End): void => undefined;
  let stands: Member['stands'] = 'ready';
  let killed = false;
  const ended = new Promise<End>((resolve) => {
    tellEnd = resolve;
  });
  const end = (signal: string | null) => {
    stands = 'ended';
    tellEnd({ status: signal === null ? 0 : null, signal, problem: undefined });
  };
  return {
    pid,
    get stands() {
      return stands;
    },
    opened: Promise.resolve(started),
    ended,
    ask: (name) => {
      throw new Error(`nobody asks for ${name}`);
    },
    counted: () => undefined,
    count: async () => undefined,
    retire: () => undefined,
    drain: () => (hears ? end(null) : undefined),
    kill() {
      killed = true;
      end('SIGKILL');
    },
    killed: () => killed,
  };
}

t.test('a worker that stands still keeps nobody from the end, and one that ends by itself is left to', async (t) => {
  const members = [worker(1, true), worker(2, false)];
  const waiting = [...members];
  const crew = openCrew({
    size: members.length,
    log: createLog('silent'),
    patienceMs: 0,
    endMs: 1,
    launch() {
      const next = waiting.shift();
      if (!next) throw new Error('nobody is replaced');
      return next;
    },
    joined: () => undefined,
    lost: ({ message }) => t.fail(message),
  });
  await crew.start();
  await crew.drain();
  t.same(
    members.map(({ killed }) => killed()),
    [false, true],
  );
});

t.test('workers that have served for long and die at once are all replaced, however many they are', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const all: ReturnType<typeof worker>[] = [];
  const lost: string[] = [];
  const crew = openCrew({
    size: 8,
    log: createLog('silent'),
    patienceMs: 0,
    endMs: 0,
    launch() {
      const next = worker(all.length, true);
      all.push(next);
      return next;
    },
    joined: () => undefined,
    lost: ({ message }) => void lost.push(message),
  });
  await crew.start();
  mock.timers.tick(10_000);
  for (const { kill } of all) kill();
  while (all.length < 16 && lost.length === 0) await delay(5);
  t.same(lost, []);
  t.equal(crew.ready().length, 8);

  await t.test('and where those die as they come, nobody goes on hoping', async (t) => {
    while (lost.length === 0) {
      for (const { kill } of crew.ready()) kill();
      await delay(5);
    }
    t.match(lost[0], /^The workers die one after the other/);
  });
});
