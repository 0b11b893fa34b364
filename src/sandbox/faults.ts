/** Failures that were asked for: the next `count` calls of a name fail in one way. */
export class Faults<Fault extends string> {
  readonly #waiting = new Map<string, { fault: Fault; count: number }>();

  set(name: string, fault: Fault, count: number): void {
    if (count > 0) this.#waiting.set(name, { fault, count });
    else this.clear(name);
  }

  clear(name: string): void {
    this.#waiting.delete(name);
  }

  /** The fault of this call, used up by asking. */
  take(name: string): Fault | undefined {
    const waiting = this.#waiting.get(name);
    if (!waiting) return undefined;
    this.set(name, waiting.fault, waiting.count - 1);
    return waiting.fault;
  }
}
