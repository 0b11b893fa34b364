import { EventEmitter } from 'node:events';
import { onAbort } from '../on-abort.ts';
import { LONGEST_TIMER_MS } from '../timing.ts';

/**
 * A signal and a limit of time as one, for a request of undici's. An emitter, which undici takes as well as a signal: another AbortSignal
 * and its listeners are a good part of what a short request costs.
 */
export class TimeLimit extends EventEmitter {
  aborted = false;
  expired = false;
  readonly #letGo: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(signal: AbortSignal | undefined, milliseconds: number | undefined) {
    super();
    if (signal?.aborted) this.aborted = true;
    this.#letGo = signal && onAbort(signal, () => this.#abort());
    if (milliseconds === undefined) return;
    this.#timer = setTimeout(
      () => {
        this.expired = true;
        this.#abort();
      },
      Math.min(milliseconds, LONGEST_TIMER_MS),
    );
  }

  #abort(): void {
    this.aborted = true;
    this.emit('abort');
  }

  stopClock(): void {
    clearTimeout(this.#timer);
  }

  clear(): void {
    this.stopClock();
    this.#letGo?.();
  }
}
