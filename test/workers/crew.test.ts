/** A crew of workers that do as the test says. */
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
