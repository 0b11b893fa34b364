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
  readonly #silence: NodeJS.Timeout | undefined;

  /** `silentMs`: how long nothing may come; undefined: as long as the rest allows. */
  constructor(signal: AbortSignal | undefined, milliseconds: number | undefined, silentMs?: number) {
    super();
    if (signal?.aborted) this.aborted = true;
    this.#letGo = signal && onAbort(signal, () => this.#abort());
    this.#timer = this.#expireAfter(milliseconds);
    this.#silence = this.#expireAfter(silentMs);
  }

  #expireAfter(milliseconds: number | undefined): NodeJS.Timeout | undefined {
    if (milliseconds === undefined) return undefined;
    return setTimeout(
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

  /** Something came. */
  heard(): void {
    this.#silence?.refresh();
  }

  stopClock(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
  }

  clear(): void {
    this.stopClock();
    this.#letGo?.();
  }
}
