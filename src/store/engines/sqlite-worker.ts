/** What runs in the thread of `sqlite-thread.ts`: it has the databases, and does what the messages ask. */
import { parentPort } from 'node:worker_threads';
import { Problem } from '../../errors.ts';
import { reasonOf, StoreProblem, storeUnavailable } from '../problem.ts';
import type { Store } from '../store.ts';
import { togetherInOneTurn } from './one-turn.ts';
import { openSqliteStore } from './sqlite.ts';
import type { Answered, Asked, Failed } from './sqlite-thread.ts';

const stores = new Map<number, Store>();

const logOf = (store: number) => ({
  error: (details: object, message: string) => tell({ store, line: { details, message } }),
});

const tell = togetherInOneTurn<Answered>((answers) => parentPort?.postMessage(answers));

/** All that a store can be asked, but for the time: that needs no answer from here. */
const methodsOf = ({ now: _, ...asked }: Store): string[] =>
  Object.entries(asked).flatMap(([name, each]) =>
    typeof each === 'function' ? [name] : Object.keys(each).map((method) => `${name}.${method}`),
  );

/** `credits.hold` is a method of the store's credits. */
function methodOf(store: object, path: string): (...args: readonly unknown[]) => unknown {
  const [first = '', ...rest] = path.split('.');
  const found: unknown = Reflect.get(store, first);
  if (rest.length > 0 && typeof found === 'object' && found !== null) return methodOf(found, rest.join('.'));
  if (typeof found !== 'function') throw new Error(`a store has no ${path}`);
  return (...args) => found.apply(store, args);
}

async function carryOut({ store: number, method, args }: Asked): Promise<unknown> {
  if (method === 'open') {
    const store = openSqliteStore(String(args[0]), { log: logOf(number), upgrades: args[1] !== false });
    stores.set(number, store);
    return methodsOf(store);
  }
  const store = stores.get(number);
  if (!store) throw storeUnavailable('the database is not open');
  return methodOf(store, method)(...args);
}

function failed(error: unknown): Failed {
  const reason = reasonOf(error);
  if (error instanceof StoreProblem) return { kind: 'unusable', reason };
  if (error instanceof Problem) return { kind: 'unavailable', reason };
  return { kind: 'mistake', reason, stack: error instanceof Error ? error.stack : undefined };
}

async function answer(asked: Asked): Promise<void> {
  try {
    tell({ call: asked.call, result: await carryOut(asked) });
  } catch (error) {
    tell({ call: asked.call, failed: failed(error) });
  }
}

parentPort?.on('message', (together: readonly Asked[]) => {
  for (const asked of together) void answer(asked);
});
