/** The model's time: it stands still until a step lets it pass, and whoever sleeps notices nothing of it. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/** Whose code is running; its timers are kept here until they are due. */
export interface Host {
  /** `setTimeout`. */
  after(milliseconds: number, call: () => void): () => void;
  /** `setTimeout` of `node:timers/promises`. */
  pause(milliseconds: number): Promise<void>;
}

let host: Host | undefined;

/** Until everything that can go on without being let on has done so. */
const drained = () => new Promise<void>((resolve) => process.nextTick(resolve));

/** Lets code of one instance run until all of it waits again. */
export async function inside(instance: Host, code: () => void): Promise<void> {
  host = instance;
  try {
    code();
    await drained();
  } finally {
    host = undefined;
  }
}

/** Gives the code that `inside` runs the model's timers; everybody else's are as ever. */
export async function withModelTime<Result>(work: () => Promise<Result>): Promise<Result> {
  const { setTimeout: real, clearTimeout: realClear } = globalThis;
  const realPause = timers.setTimeout;
  const stops = new WeakMap<object, () => void>();
  const after = (call: (...args: unknown[]) => void, milliseconds = 0, ...args: unknown[]) => {
    if (!host) return real(call, milliseconds, ...args);
    const timer = { unref: () => timer, ref: () => timer };
    stops.set(
      timer,
      host.after(milliseconds, () => call(...args)),
    );
    return timer;
  };
  const clear = (timer?: NodeJS.Timeout) => {
    const stop = timer && typeof timer === 'object' ? stops.get(timer) : undefined;
    if (stop) stop();
    else realClear(timer);
  };
  Object.assign(globalThis, { setTimeout: after, clearTimeout: clear });
  Object.assign(timers, {
    setTimeout: (milliseconds?: number, ...others: [unknown?, object?]) =>
      host ? host.pause(milliseconds ?? 0) : realPause(milliseconds, ...others),
  });
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Object.assign(globalThis, { setTimeout: real, clearTimeout: realClear });
    Object.assign(timers, { setTimeout: realPause });
    syncBuiltinESMExports();
  }
}
