import { EventEmitter } from 'node:events';

/**
 * A signal and a limit of time as one, for a request of undici's. An emitter, which undici takes as well as a signal: another AbortSignal
 * and its listeners are a good part of what a short request costs.
 */
export class TimeLimit extends EventEmitter {
  aborted = false;
  expired = false;
  readonly #signal: AbortSignal | undefined;
  readonly #abort = () => {
    this.aborted = true;
    this.emit('abort');
  };
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(signal: AbortSignal | undefined, milliseconds: number | undefined) {
    super();
    this.#signal = signal;
    if (signal?.aborted) this.aborted = true;
    signal?.addEventListener('abort', this.#abort, { once: true });
    if (milliseconds === undefined) return;
    this.#timer = setTimeout(() => {
      this.expired = true;
      this.#abort();
    }, milliseconds);
  }

  stopClock(): void {
    clearTimeout(this.#timer);
  }

  clear(): void {
    this.stopClock();
    this.#signal?.removeEventListener('abort', this.#abort);
  }
}
