/** Signals that ask a gateway to end: once, and by those who do not want to wait for it. */

import { isWithoutRoom } from '../error-code.ts';

/** npm hands on what the terminal, or systemd, has sent to all of its group: the same so soon is nobody's second word. */
const HANDED_ON_MS = 2_000;

/** Calls `stop` once, and `giveUp` where a signal asks again. */
export function whenAskedToEnd(stop: (reason: string) => void, giveUp: () => void): void {
  let askedAt: number | undefined;
  const ask = (reason: string) => {
    askedAt = performance.now();
    stop(reason);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (askedAt === undefined) ask(signal);
      else if (performance.now() - askedAt > HANDED_ON_MS) giveUp();
    });
  }
  // A terminal that is closed sends SIGHUP as well, and cannot be written to any more: each line says so again.
  process.stdout.on('error', (error) => {
    // A file may be full; a terminal never is.
    if (isWithoutRoom(error)) return;
    if (askedAt === undefined) ask('the terminal is gone');
  });
}
